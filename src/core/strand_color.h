#pragma once
/// How the value of a strand's color is made up. See docs/decisions/0002-strand-color-is-an-address.md.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <tartan/core/color.h>

namespace tartan::detail {

class runtime_state;

/// Bit 63; the scheduler's 18 bits; a bit that only colors of coroutines have; the runtime's mark; the strand's number.
struct strand_color {
  static constexpr unsigned number_bits = 30;
  static constexpr unsigned mark_bits = 13;
  static constexpr unsigned upper_shift = number_bits + mark_bits + 1;

  static constexpr std::uint64_t bit = std::uint64_t{1} << 63;
  static constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;
  static constexpr std::uint64_t mark_mask = ((std::uint64_t{1} << mark_bits) - 1) << number_bits;
  static constexpr std::uint64_t of_a_coroutine = std::uint64_t{1} << (upper_shift - 1);

  /// Of a strand, open or gone. color::unordered and the colors that coroutines have of their own are none.
  [[nodiscard]] static constexpr bool is(color c) noexcept { return (c.value() & (bit | of_a_coroutine)) == bit; }

  /// For a runtime that is being made, in its place in the value. The program's first one gets 0; from the 2^13th on they repeat.
  [[nodiscard]] static std::uint64_t next_mark() noexcept;
  [[nodiscard]] static bool is_foreign(color c, const runtime_state& rt) noexcept;
};

/// Ends the program if the color is that of another runtime's strand. `what` was done in it, at `site`.
void refuse_foreign(const runtime_state& rt, color c, std::string_view what, std::source_location site) noexcept;

}  // namespace tartan::detail
