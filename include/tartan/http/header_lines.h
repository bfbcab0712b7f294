#pragma once
/// The header fields of a request or a response, looked up by name.

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tartan/http/line_places.h>
#include <tartan/http/text.h>

namespace tartan::http {

/// Valid header lines, each with its CRLF: what a request_parser or a response_parser found.
///
/// Nothing is copied: `req.fields.only("Host")` is a view into the bytes that were parsed.
/// Threads: one at a time, as a std::string_view; any while nobody changes the bytes or the parser.
/// Lifetime: that of the bytes and of the parser. After the parser's reset() lookups still work, by scanning.
/// Cost: a lookup compares the length of each line's name, and the name where the length fits; lines without a noted
/// place (line_places.h) are scanned.
class header_lines {
 public:
  header_lines() noexcept = default;
  /// `bytes`: what the parser checked. `places`: of the first lines; null: none is known.
  explicit header_lines(std::string_view bytes, const line_places* places = nullptr) noexcept
      : bytes_{bytes}, places_{places} {}

  /// All lines, as they came.
  [[nodiscard]] std::string_view text() const noexcept { return bytes_; }
  /// The number of lines whose places are known.
  [[nodiscard]] std::size_t noted() const noexcept { return places_ != nullptr ? places_->size() : 0; }

  /// Calls `take(value)` for each line of this name, in their order, until it returns false. The case of the name does
  /// not matter.
  template <class F>
  void each(std::string_view name, F take) const {
    if (places_ != nullptr) {
      for (const auto [at, size] : *places_) {
        if (size == name.size() && same_letters(bytes_.substr(at, size), name) && !take(value_at(at + size + 1))) {
          return;
        }
      }
    }
    for (std::string_view rest = bytes_.substr(places_ != nullptr ? places_->behind() : 0); !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\r'));
      rest.remove_prefix(std::min(line.size() + 2, rest.size()));
      const bool is_named =
          line.size() > name.size() && line[name.size()] == ':' && same_letters(line.substr(0, name.size()), name);
      if (is_named && !take(trimmed(line.substr(name.size() + 1)))) return;
    }
  }

  /// Calls `take(name, value)` for each line, in their order.
  template <class F>
  void each(F take) const {
    for (std::string_view rest = bytes_; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\r'));
      rest.remove_prefix(std::min(line.size() + 2, rest.size()));
      const std::size_t colon = std::min(line.find(':'), line.size());
      take(line.substr(0, colon), trimmed(line.substr(std::min(colon + 1, line.size()))));
    }
  }

  [[nodiscard]] bool has(std::string_view name) const {
    bool found = false;
    each(name, [&](std::string_view) { return !(found = true); });
    return found;
  }

  /// The value of the only line of this name; empty if there is none, or more than one.
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

}  // namespace tartan::http
