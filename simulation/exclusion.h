#pragma once
// Whether no two events of one color have run at the same virtual time.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "simulation/machine.h"

namespace simulation {

class exclusion {
 public:
  exclusion() : colors_{std::make_unique<entry[]>(room)} {}

  /// Errors: ends the program if another one of this color runs, or has ended later than this one begins.
  void begin(std::uint64_t color, picoseconds now) noexcept;
  void end(std::uint64_t color, picoseconds now) noexcept;
  [[nodiscard]] std::uint64_t checked() const noexcept { return checked_; }

 private:
  static constexpr std::size_t room = std::size_t{1} << 20;

  struct entry {
    std::uint64_t color = 0;
    picoseconds ended = 0;
    bool runs = false;
  };
  [[nodiscard]] entry& of(std::uint64_t color) noexcept;

  std::unique_ptr<entry[]> colors_;
  std::uint64_t checked_ = 0;
};

}  // namespace simulation
