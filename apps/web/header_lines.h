#pragma once
/// The header lines of a request, for what is looked at in few requests only.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "field.h"

namespace web {

/// Where a head's first lines begin, and where their names end: who parses them knows it, and who looks for a name later need not read them all again.
class line_places {
 public:
  static constexpr std::size_t most = 32;  ///< browsers send some twenty; lines behind them are read again

  struct place {
    std::uint32_t at;
    std::uint32_t name;  ///< bytes of it
  };

  line_places() noexcept = default;
  line_places(const line_places& other) noexcept { *this = other; }
  /// Copies as much as there is: a parser is made anew for each request.
  line_places& operator=(const line_places& other) noexcept {
    std::copy(other.begin(), other.end(), places_.begin());
    size_ = other.size_;
    behind_ = other.behind_;
    return *this;
  }

  /// The next line, if there is room: `at` is where the one before ended, `behind` where this one does.
  void add(std::size_t at, std::size_t name, std::size_t behind) noexcept {
    if (size_ == most || at != behind_ || behind > std::numeric_limits<std::uint32_t>::max()) return;
    places_[size_++] = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(name)};
    behind_ = behind;
  }

  [[nodiscard]] const place* begin() const noexcept { return places_.data(); }
  [[nodiscard]] const place* end() const noexcept { return places_.data() + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Where the first line begins that is not among them.
  [[nodiscard]] std::size_t behind() const noexcept { return behind_; }

 private:
  std::array<place, most> places_;  // of which size_ are something
  std::size_t size_ = 0;
  std::size_t behind_ = 0;
};

/// Lines that a request_parser has found to be good, each with its CRLF.
///
/// Lifetime: the bytes', and the places'.
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
