#pragma once
/// Where the lines of a head begin. Part of header_lines; programs need not name it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tartan::http {

/// The positions of a head's first lines, and the lengths of their names. A parser notes them, so that a later search
/// for a name need not scan the lines again.
///
/// Threads: one at a time.
/// Limits: 32 lines (browsers send about twenty), within the first 4 GiB; the search scans the lines behind them.
class line_places {
 public:
  static constexpr std::size_t most = 32;

  struct place {
    std::uint32_t at;
    std::uint32_t name;  ///< its length
  };

  line_places() noexcept = default;
  line_places(const line_places& other) noexcept { *this = other; }
  /// Copies the places that are in use: a parser becomes a new one for each request.
  line_places& operator=(const line_places& other) noexcept {
    std::copy(other.begin(), other.end(), places_.begin());
    size_ = other.size_;
    behind_ = other.behind_;
    return *this;
  }

  /// Adds the next line, if there is room. `at`: where it begins, and the line before it ends. `behind`: where the next
  /// line begins.
  void add(std::size_t at, std::size_t name, std::size_t behind) noexcept {
    if (size_ == most || at != behind_ || behind > std::numeric_limits<std::uint32_t>::max()) return;
    places_[size_++] = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(name)};
    behind_ = behind;
  }

  [[nodiscard]] const place* begin() const noexcept { return places_.data(); }
  [[nodiscard]] const place* end() const noexcept { return places_.data() + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Where the first line begins that is not noted.
  [[nodiscard]] std::size_t behind() const noexcept { return behind_; }

 private:
  std::array<place, most> places_;  // only the first size_ are initialized
  std::size_t size_ = 0;
  std::size_t behind_ = 0;
};

}  // namespace tartan::http
