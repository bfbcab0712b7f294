#pragma once
/// How long a value is on the wire, and whether it can be encoded at all. Library code; programs use codec.h.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tartan/xdr/error.h>
#include <tartan/xdr/quadruple.h>
#include <tartan/xdr/shape.h>
#include <tuple>
#include <type_traits>

namespace tartan::xdr::detail {

/// Visits a value. Finds each error that encoding could meet, so that nothing is written before all of it is known good.
class sizer {
 public:
  static constexpr bool reads = false;

  template <class T>
  bool operator()(const char* /*name*/, const T& value) {
    return add(value);
  }

  template <class T>
  bool add(const T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, float>) {
      return grow(4);
    } else if constexpr (std::is_same_v<T, double>) {
      return grow(8);
    } else if constexpr (std::is_same_v<T, quadruple>) {
      return grow(16);
    } else if constexpr (number<T>) {
      return grow(sizeof(T));
    } else if constexpr (std::is_enum_v<T>) {
      static_assert(enumeration<T>, "an enum needs xdr_name(value)");
      return xdr_name(value) != nullptr ? grow(4) : fail(errc::bad_enumerator);
    } else if constexpr (is_text<T> || is_bytes<T> || is_data<T>) {
      return value.size() <= T::max ? grow(4 + padded(value.size())) : fail(errc::too_long);
    } else if constexpr (is_opaque_array<T>) {
      return grow(padded(value.size()));
    } else {
      return add_composed(value);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::error_code error() const noexcept { return error_; }

 private:
  template <class T>
  bool add_composed(const T& value) {
    if (depth_ == default_depth) return fail(errc::too_deep);
    ++depth_;
    bool good = true;
    if constexpr (is_list<T>) {
      if (value.size() > T::max) return fail(errc::too_long);
      grow(4);
      for (const auto& each : value) good = good && add(each);
    } else if constexpr (is_linked_list<T>) {
      grow(4 + 4 * value.size());
      for (const auto& each : value) good = good && add(each);
    } else if constexpr (is_optional<T>) {
      grow(4);
      good = !value.has_value() || add(*value);
    } else if constexpr (is_array<T>) {
      for (const auto& each : value) good = good && add(each);
    } else if constexpr (is_tuple<T>) {
      good = std::apply([this](const auto&... each) { return (this->add(each) && ...); }, value);
    } else {
      good = xdr_traverse(*this, value);
    }
    --depth_;
    return good;
  }

  bool grow(std::size_t bytes) noexcept {
    size_ += bytes;
    return true;
  }
  bool fail(errc why) noexcept {
    if (!error_) error_ = why;
    return false;
  }

  std::size_t size_ = 0;
  std::size_t depth_ = 0;
  std::error_code error_;
};

}  // namespace tartan::xdr::detail
