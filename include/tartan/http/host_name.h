#pragma once
/// Names of hosts.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace tartan::http {

/// Whether the text is a host with or without a port, as a Host field or "http://" has it; a user name before an '@' is
/// refused.
///
/// Source: RFC 3986, 3.2.2; RFC 9110, 7.2.
[[nodiscard]] bool is_host(std::string_view text) noexcept;

/// A host's name in the form in which it is looked up: in small letters, without a dot at its end ("A.example." is
/// "a.example").
///
/// Limits: 255 bytes (RFC 1035); a longer name is empty here.
class lower_name {
 public:
  explicit lower_name(std::string_view name) noexcept {
    if (name.ends_with('.')) name.remove_suffix(1);
    if (name.size() > letters_.size()) return;
    size_ = name.size();
    std::transform(name.begin(), name.end(), letters_.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  }

  /// Lifetime: this object's.
  [[nodiscard]] std::string_view text() const noexcept { return {letters_.data(), size_}; }

 private:
  std::array<char, 255> letters_;
  std::size_t size_ = 0;
};

}  // namespace tartan::http
