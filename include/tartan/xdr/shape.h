#pragma once
/// What kind of XDR type a C++ type stands for. Library code.

#include <array>
#include <concepts>
#include <cstddef>
#include <tartan/xdr/data.h>
#include <tartan/xdr/linked_list.h>
#include <tartan/xdr/list.h>
#include <tartan/xdr/optional.h>
#include <tartan/xdr/text.h>
#include <tuple>
#include <type_traits>

namespace tartan::xdr::detail {

template <class T>
inline constexpr bool is_text = false;
template <std::size_t Max>
inline constexpr bool is_text<text<Max>> = true;

template <class T>
inline constexpr bool is_bytes = false;
template <std::size_t Max>
inline constexpr bool is_bytes<bytes<Max>> = true;

template <class T>
inline constexpr bool is_data = false;
template <std::size_t Max>
inline constexpr bool is_data<data<Max>> = true;

template <class T>
inline constexpr bool is_list = false;
template <class T, std::size_t Max>
inline constexpr bool is_list<list<T, Max>> = true;

template <class T>
inline constexpr bool is_linked_list = false;
template <class T>
inline constexpr bool is_linked_list<linked_list<T>> = true;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<optional<T>> = true;

template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;
template <class T>
inline constexpr bool is_opaque_array = false;
template <std::size_t N>
inline constexpr bool is_opaque_array<std::array<std::byte, N>> = true;

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

/// An integer of one word or two.
template <class T>
concept number = std::integral<T> && !std::same_as<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);

/// An enum whose values have names.
template <class T>
concept enumeration = std::is_enum_v<T> && requires(T value) {
  { xdr_name(value) } -> std::same_as<const char*>;
};

/// Zeros behind so many bytes, up to the end of the word.
[[nodiscard]] constexpr std::size_t padding_of(std::size_t bytes) noexcept {
  return (4 - bytes % 4) % 4;
}
[[nodiscard]] constexpr std::size_t padded(std::size_t bytes) noexcept {
  return bytes + padding_of(bytes);
}

/// The default of limits::depth.
inline constexpr std::size_t default_depth = 64;

}  // namespace tartan::xdr::detail
