#pragma once
/// What a programmer has told of an event (hints.h), as the default scheduler keeps it with a runnable color: one byte.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <tartan/core/event.h>

#include "core/memory.h"

namespace tartan::detail {

/// Whether anything in this process was ever annotated; never false again. Schedulers that look for annotations look here first.
inline constinit real_memory::atomic<bool> hints_in_use{false};

/// Level, and the time that the event makes worth stealing. Zero for all that nobody has annotated.
class annotation {
 public:
  static constexpr unsigned levels = 4;

  constexpr annotation() noexcept = default;
  constexpr explicit annotation(handler_hints told) noexcept
      : bits_{static_cast<std::uint8_t>(std::min<unsigned>(told.priority, levels - 1) | magnitude_of(told.cost_ns / told.penalty) << level_bits)} {}

  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  /// 0, where all are that nobody has raised, to levels - 1.
  [[nodiscard]] constexpr unsigned level() const noexcept { return bits_ & (levels - 1); }
  /// Cost by penalty (Mely, III.C), rounded down to a power of two; 0: not told.
  [[nodiscard]] constexpr std::uint64_t worth_ns() const noexcept {
    const unsigned magnitude = bits_ >> level_bits;
    return magnitude == 0 ? 0 : std::uint64_t{1} << (magnitude - 1);
  }

 private:
  static constexpr unsigned level_bits = 2;
  static constexpr unsigned magnitude_of(std::uint32_t ns) noexcept { return static_cast<unsigned>(std::bit_width(ns)); }

  std::uint8_t bits_ = 0;  ///< magnitude (6) | level (2)
};

/// What was told of an event that is hinted.
///
/// Threads: who may look at the event. Who has made it may tell something else at the same time (io_slot::tell).
[[nodiscard]] inline handler_hints told_of_hinted(const event& e) noexcept {
  return read_whole(hints_in(const_cast<event&>(e)));
}

/// What was told of an event of any type.
[[nodiscard]] inline handler_hints hints_of(const event& e) noexcept { return e.ops->hinted ? told_of_hinted(e) : handler_hints{}; }
[[nodiscard]] inline annotation annotation_of(const event& e) noexcept { return e.ops->hinted ? annotation{told_of_hinted(e)} : annotation{}; }

}  // namespace tartan::detail
