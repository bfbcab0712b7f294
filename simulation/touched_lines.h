#pragma once
// Which lines a handler touches, and of which it reads what was there before.

#include <array>
#include <cstddef>
#include <cstdint>

#include "simulation/caches.h"

namespace simulation {

/// Counts nothing until begin() is called.
///
/// Limits: room for 8192 lines; what comes after 6144 is not counted.
class touched_lines {
 public:
  void begin() noexcept {
    ++handler_;
    seen_ = read_ = 0;
  }
  void touch(std::size_t line, touch_kind how) noexcept {
    if (handler_ == 0) return;
    std::size_t at = line % room;
    while (slots_[at].handler == handler_) {
      if (slots_[at].line == line) return;
      at = (at + 1) % room;
    }
    if (seen_ == room / 4 * 3) return;
    slots_[at] = {handler_, line};
    ++seen_;
    if (how != touch_kind::store) ++read_;
  }
  /// Lines whose first access was a load.
  [[nodiscard]] unsigned read() const noexcept { return read_; }

 private:
  static constexpr std::size_t room = 8192;

  struct slot {
    std::uint64_t handler = 0;
    std::size_t line = 0;
  };
  std::array<slot, room> slots_{};
  std::uint64_t handler_ = 0;
  unsigned seen_ = 0;
  unsigned read_ = 0;
};

}  // namespace simulation
