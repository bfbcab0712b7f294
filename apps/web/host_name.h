#pragma once
/// Names of hosts.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace web {

/// A host's name as it is looked up: in small letters, and without a dot at its end ("A.example." is a.example).
class lower_name {
 public:
  explicit lower_name(std::string_view name) noexcept {
    if (name.ends_with('.')) name.remove_suffix(1);
    if (name.size() > letters_.size()) return;
    size_ = name.size();
    std::transform(name.begin(), name.end(), letters_.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  }

  /// Empty: it is too long to be one (RFC 1035), or was empty.
  [[nodiscard]] std::string_view text() const noexcept { return {letters_.data(), size_}; }

 private:
  std::array<char, 255> letters_;
  std::size_t size_ = 0;
};

}  // namespace web
