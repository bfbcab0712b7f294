#pragma once
/// XDR values as text, for logs and tests.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/slice.h>
#include <tartan/xdr/quadruple.h>
#include <tartan/xdr/shape.h>
#include <tuple>
#include <type_traits>

namespace tartan::xdr {

namespace detail {

/// Visits a value and writes its text.
class printer {
 public:
  static constexpr bool reads = false;

  explicit printer(std::string& into) noexcept : into_{&into} {}

  template <class T>
  bool operator()(const char* name, const T& value) {
    if (!is_first_) into_->append(", ");
    is_first_ = false;
    into_->append(name).append(": ");
    print(value);
    return true;
  }

  template <class T>
  void print(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      into_->append(value ? "true" : "false");
    } else if constexpr (std::is_same_v<T, quadruple>) {
      print_number(static_cast<double>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      print_number(value);
    } else if constexpr (std::is_enum_v<T>) {
      const char* const name = xdr_name(value);
      name != nullptr ? void(into_->append(name)) : print_number(static_cast<std::int32_t>(value));
    } else if constexpr (is_text<T>) {
      print_text(value);
    } else if constexpr (is_bytes<T> || is_opaque_array<T>) {
      print_bytes(std::span<const std::byte>{value.data(), value.size()}, value.size());
    } else if constexpr (is_data<T>) {
      print_bytes(value.empty() ? std::span<const std::byte>{} : value.slices().front().bytes(), value.size());
    } else if constexpr (is_list<T> || is_linked_list<T> || is_array<T>) {
      print_all(value);
    } else if constexpr (is_optional<T>) {
      value.has_value() ? print(*value) : void(into_->append("null"));
    } else if constexpr (is_tuple<T>) {
      std::apply([this](const auto&... each) { this->print_each(each...); }, value);
    } else {
      into_->push_back('{');
      is_first_ = true;
      xdr_traverse(*this, value);
      is_first_ = false;
      into_->push_back('}');
    }
  }

 private:
  template <class T>
  void print_all(const T& all) {
    into_->push_back('[');
    const char* between = "";
    for (const auto& each : all) {
      into_->append(between);
      print(each);
      between = ", ";
    }
    into_->push_back(']');
  }
  template <class... T>
  void print_each(const T&... each) {
    into_->push_back('(');
    const char* between = "";
    ((into_->append(between), print(each), between = ", "), ...);
    into_->push_back(')');
  }
  template <class N>
  void print_number(N value) {
    char text[64];
    const auto end = std::to_chars(std::begin(text), std::end(text), value);
    into_->append(std::begin(text), end.ptr);
  }
  void print_text(std::string_view value);
  /// Of `size` bytes the first ones.
  void print_bytes(std::span<const std::byte> first, std::size_t size);

  std::string* into_;
  bool is_first_ = true;
};

}  // namespace detail

/// The value on one line, as `{who: "bob", row: 3, tag: 0x00ff, marks: [1, 2], next: null}`. Of long opaque data the first
/// bytes and the size: `0x3031... (4096 bytes)`.
template <class T>
[[nodiscard]] std::string print(const T& value) {
  std::string text;
  detail::printer{text}.print(value);
  return text;
}

}  // namespace tartan::xdr
