#pragma once
// Who has which line of memory, and what it costs to get it: one cache for each core, one that each group of neighbors shares, memory.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulation/machine.h"

namespace simulation {

enum class touch_kind : std::uint8_t { load, store, rmw };

/// What an access costs besides the instruction.
struct delay {
  picoseconds core = 0;  ///< how long the core waits
  picoseconds line = 0;  ///< how long nobody else gets the line; 0: nothing moved
};

/// Caches that hold the lines used last. Lines are numbers, from 0 on.
///
/// A line counts as dropped when so many others have come after its last use as the cache has room for: that is exact for what is used
/// once, and too early by as much as is used again and again meanwhile.
class caches {
 public:
  caches(const machine& on, std::size_t lines);
  caches(const caches&) = delete;
  caches& operator=(const caches&) = delete;

  /// Whether the core may do it without anybody's help. Then it is done.
  [[nodiscard]] bool hits(unsigned core, std::size_t line, touch_kind how) noexcept {
    record& r = at(line);
    if ((r.holders[core / 64] >> core % 64 & 1) == 0 || own_fills_[core] - r.stamps[core] >= on_.own_lines) return false;
    if (how != touch_kind::load) {
      if (!r.exclusive) return false;
      r.written = true;
    }
    r.stamps[core] = own_fills_[core];
    return true;
  }

  /// Fetches the line, for who has asked `hits` before.
  delay fetch(unsigned core, std::size_t line, touch_kind how) noexcept;

  /// From when on the line can move again.
  [[nodiscard]] picoseconds& busy_until(std::size_t line) noexcept { return at(line).busy_until; }

 private:
  static constexpr unsigned streams = 8;

  struct record {
    std::uint64_t holders[2];
    std::uint64_t groups;
    picoseconds busy_until;
    std::uint16_t writer;
    bool exclusive;
    bool written;
    std::uint32_t stamps[1];  // of cores, then of groups
  };
  struct recent {
    std::size_t line[streams] = {};
    unsigned next = 0;
  };

  [[nodiscard]] record& at(std::size_t line) noexcept { return *reinterpret_cast<record*>(records_ + line * stride_); }
  [[nodiscard]] bool in_core(const record& r, unsigned core) const noexcept {
    return (r.holders[core / 64] >> core % 64 & 1) != 0 && own_fills_[core] - r.stamps[core] < on_.own_lines;
  }
  [[nodiscard]] bool in_group(const record& r, unsigned group) const noexcept {
    return (r.groups >> group & 1) != 0 && group_fills_[group] - r.stamps[on_.cores + group] < on_.group_lines;
  }
  [[nodiscard]] bool streams_to(unsigned core, std::size_t line) noexcept;
  [[nodiscard]] delay load_delay(unsigned core, const record& r, bool streamed) const noexcept;
  [[nodiscard]] bool held_elsewhere(unsigned core, const record& r, bool& far) const noexcept;
  void enter(unsigned core, record& r, bool alone) noexcept;

  const machine on_;
  std::size_t stride_;
  std::byte* records_;
  std::vector<std::uint32_t> own_fills_;
  std::vector<std::uint32_t> group_fills_;
  std::vector<recent> recent_;
};

}  // namespace simulation
