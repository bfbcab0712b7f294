#pragma once
/// The header lines of a request, for who asks for one by its name.

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "web/line_places.h"
#include "web/text.h"

namespace web {

/// Lines that a request_parser has found to be good, each with its CRLF.
///
/// Lifetime: the bytes', and the places'. Of places that were forgotten meanwhile (of a parser that was reset) nothing is needed: all lines are read then.
class header_lines {
 public:
  header_lines() noexcept = default;
  explicit header_lines(std::string_view bytes, const line_places* places = nullptr) noexcept : bytes_{bytes}, places_{places} {}

  [[nodiscard]] std::string_view text() const noexcept { return bytes_; }
  /// Of how many lines the places are known.
  [[nodiscard]] std::size_t noted() const noexcept { return places_ != nullptr ? places_->size() : 0; }

  /// Calls `take(value)` for each line of this name, in their order, until it gives false.
  ///
  /// Cost: looks at every line; at one whose place is known, at the length of its name first.
  template <class F>
  void each(std::string_view name, F take) const {
    if (places_ != nullptr) {
      for (const auto [at, size] : *places_) {
        if (size == name.size() && same_letters(bytes_.substr(at, size), name) && !take(value_at(at + size + 1))) return;
      }
    }
    for (std::string_view rest = bytes_.substr(places_ != nullptr ? places_->behind() : 0); !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\r'));
      rest.remove_prefix(std::min(line.size() + 2, rest.size()));
      const bool is_named = line.size() > name.size() && line[name.size()] == ':' && same_letters(line.substr(0, name.size()), name);
      if (is_named && !take(trimmed(line.substr(name.size() + 1)))) return;
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
  [[nodiscard]] std::string_view value_at(std::size_t at) const noexcept {
    const std::string_view rest = bytes_.substr(at);
    return trimmed(rest.substr(0, rest.find('\r')));
  }

  std::string_view bytes_;
  const line_places* places_ = nullptr;
};

}  // namespace web
