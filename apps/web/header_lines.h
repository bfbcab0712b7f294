#pragma once
/// The header lines of a request, for what is looked at in few requests only.

#include <cstddef>
#include <string_view>

#include "field.h"

namespace web {

/// Lines that a request_parser has found to be good, each with its CRLF.
///
/// Lifetime: the bytes'.
class header_lines {
 public:
  header_lines() noexcept = default;
  explicit header_lines(std::string_view bytes) noexcept : bytes_{bytes} {}

  /// Calls `take(value)` for each line of this name, in their order, until it gives false.
  ///
  /// Cost: looks at every line.
  template <class F>
  void each(std::string_view name, F take) const {
    for (std::string_view rest = bytes_; !rest.empty();) {
      const std::size_t end = rest.find('\r');
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
      const std::size_t colon = line.find(':');
      if (!same_letters(line.substr(0, colon), name)) continue;
      if (!take(trimmed(line.substr(colon + 1)))) return;
    }
  }

  [[nodiscard]] bool has(std::string_view name) const {
    bool found = false;
    each(name, [&](std::string_view) { return !(found = true); });
    return found;
  }

  /// The value of the only line of this name; of none or several, nothing.
  [[nodiscard]] std::string_view only(std::string_view name) const {
    std::string_view value;
    bool again = false;
    bool seen = false;
    each(name, [&](std::string_view one) {
      again = seen;
      seen = true;
      value = one;
      return !again;
    });
    return again ? std::string_view{} : value;
  }

 private:
  std::string_view bytes_;
};

}  // namespace web
