#pragma once
/// XDR's opaque bytes, by reference.

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/chain.h>
#include <tartan/buf/slice.h>
#include <tartan/xdr/text.h>
#include <utility>

namespace tartan::xdr {

namespace detail {

/// Whether two sequences of slices hold the same bytes.
[[nodiscard]] bool same_bytes(std::span<const buf::slice> a, std::span<const buf::slice> b) noexcept;
/// Appends the slices, without a copy.
void share(buf::chain& into, std::span<const buf::slice> from);

}  // namespace detail

/// `opaque o<Max>` that refers to its bytes: encoding appends the slices to the message, decoding takes slices of the
/// message. Nothing is copied in either direction, so a value that is kept keeps the whole message in memory.
///
/// Threads: one at a time; copies share the bytes and may be used in other threads.
template <std::size_t Max = unbounded>
class data {
 public:
  static constexpr std::size_t max = Max;

  data() noexcept = default;
  data(buf::chain&& from) noexcept : bytes_{std::move(from)} {}
  data(buf::slice from) { bytes_.append(std::move(from)); }
  data(std::string from) : data{buf::slice{std::move(from)}} {}
  data(std::string_view from) : data{buf::slice::copy_of(from)} {}
  data(const char* from) : data{std::string_view{from}} {}
  data(const data& other) { detail::share(bytes_, other.slices()); }
  data(data&&) noexcept = default;
  data& operator=(data other) noexcept {
    bytes_ = std::move(other.bytes_);
    return *this;
  }
  ~data() = default;

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  [[nodiscard]] std::span<const buf::slice> slices() const noexcept { return bytes_.slices(); }
  [[nodiscard]] std::string to_string() const { return bytes_.to_string(); }
  [[nodiscard]] buf::chain& chain() noexcept { return bytes_; }

  friend bool operator==(const data& a, const data& b) noexcept { return detail::same_bytes(a.slices(), b.slices()); }
  template <std::convertible_to<std::string_view> Text>
  friend bool operator==(const data& a, const Text& b) noexcept {
    const buf::slice text = buf::slice::of_static(b);
    return detail::same_bytes(a.slices(), std::span{&text, 1});
  }

 private:
  buf::chain bytes_;
};

}  // namespace tartan::xdr
