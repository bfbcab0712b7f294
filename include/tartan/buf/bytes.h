#pragma once
/// Byte ranges: what a call reads into (mutable_bytes) or writes (const_bytes).

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

namespace tartan {

namespace detail {

template <class T>
concept byte_like = std::same_as<std::remove_cv_t<T>, char> || std::same_as<std::remove_cv_t<T>, unsigned char> ||
                    std::same_as<std::remove_cv_t<T>, std::byte>;

/// The element type of a range; const if the elements cannot be written.
template <class R>
using element_of = std::remove_reference_t<decltype(*std::data(std::declval<std::remove_reference_t<R>&>()))>;

/// A range of bytes with std::data and std::size: std::string, std::vector, std::array, std::span, arrays, buf::slice.
template <class R>
concept byte_range = byte_like<element_of<R>> && requires(std::remove_reference_t<R>& range) {
  { std::size(range) } -> std::convertible_to<std::size_t>;
};

/// A range whose elements live longer than the expression that names it.
template <class R>
concept outlives_its_expression =
    std::is_lvalue_reference_v<R> || std::ranges::enable_borrowed_range<std::remove_cvref_t<R>>;

template <class R>
concept text_pointer =
    std::same_as<std::remove_cvref_t<R>, const char*> || std::same_as<std::remove_cvref_t<R>, char*>;

/// A string literal, or another array of const char.
template <class R>
concept literal_like = std::is_array_v<std::remove_reference_t<R>> &&
                       std::same_as<std::remove_extent_t<std::remove_reference_t<R>>, const char>;

template <class R>
concept room_for_bytes = byte_range<R> && !std::is_const_v<element_of<R>> && outlives_its_expression<R>;

template <class R>
concept bytes_to_write = byte_range<R> || text_pointer<R>;

}  // namespace detail

/// Memory that a call reads into. Any contiguous range of char, unsigned char or std::byte converts to it.
///
/// The call fills at most size() bytes and never resizes the range: an empty std::string has no room.
/// Lifetime: refers to the range, which must live until the operation has ended. Two kinds of range do not compile: a
/// temporary container, because nothing could look at the bytes afterwards, and a range of const elements. A view such
/// as std::span may be a temporary.
class mutable_bytes : public std::span<std::byte> {
 public:
  constexpr mutable_bytes() noexcept = default;
  template <detail::room_for_bytes R>
    requires(!std::same_as<std::remove_cvref_t<R>, mutable_bytes>)
  mutable_bytes(R&& range) noexcept : mutable_bytes{std::data(range), std::size(range)} {}
  template <detail::byte_like T>
    requires(!std::is_const_v<T>)
  mutable_bytes(T* first, std::size_t bytes) noexcept : span{reinterpret_cast<std::byte*>(first), bytes} {}
};

/// Bytes that a call writes. Any contiguous range of char, unsigned char or std::byte converts to it, and so does text.
///
/// A string literal converts without its terminating NUL; so does any array of const char that ends with one. A `char*`
/// is text up to its NUL. An array of plain char does not compile: say std::string_view{array} for the text up to its
/// NUL, or std::span{array} for every element.
/// Lifetime: refers to the range, which must live until the operation has ended. `co_await s.write(make_text())` is
/// fine; with a callback, keep the range.
class const_bytes : public std::span<const std::byte> {
 public:
  constexpr const_bytes() noexcept = default;
  template <detail::bytes_to_write R>
    requires(!std::same_as<std::remove_cvref_t<R>, const_bytes>)
  const_bytes(R&& range) noexcept : const_bytes{first_of(range), size_of(range)} {}
  template <detail::byte_like T>
  const_bytes(T* first, std::size_t bytes) noexcept : span{reinterpret_cast<const std::byte*>(first), bytes} {}
  template <std::size_t N>
  const_bytes(char (&)[N]) = delete;  // say std::string_view{array} or std::span{array}

 private:
  template <class R>
  static auto first_of(R& range) noexcept {
    if constexpr (detail::text_pointer<R>) {
      return static_cast<const char*>(range);
    } else {
      return std::data(range);
    }
  }
  template <class R>
  static std::size_t size_of(R& range) noexcept {
    if constexpr (detail::text_pointer<R>) {
      return std::string_view{range}.size();
    } else if constexpr (detail::literal_like<R>) {
      return std::size(range) - (range[std::size(range) - 1] == '\0' ? 1 : 0);
    } else {
      return std::size(range);
    }
  }
};

}  // namespace tartan

template <>
inline constexpr bool std::ranges::enable_borrowed_range<tartan::mutable_bytes> = true;
template <>
inline constexpr bool std::ranges::enable_borrowed_range<tartan::const_bytes> = true;
