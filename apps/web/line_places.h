#pragma once
/// Where header lines are.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

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
  /// Copies as much as there is: a parser becomes a new one for each request.
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

}  // namespace web
