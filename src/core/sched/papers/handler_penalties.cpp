#include "core/sched/papers/handler_penalties.h"

#include <algorithm>

#include "core/sched/annotation.h"

namespace tartan::detail {

namespace {

/// Longer times count as this one, so that products fit in 64 bits.
constexpr std::uint64_t longest_ns = 0xffff'ffff;

/// Each event at home takes one part in so many off the difference between the two times.
constexpr std::uint64_t forgets_one_in = 64;

/// A place is chosen by the distance of the event_ops from here: that is the same in each run of a program, an address is not. It lies in the
/// section that they lie in, as it holds pointers too: so the distance does not depend on the lengths of file names either.
constinit const event_ops anchor{.run = [](event&) {}, .drop = [](event&) noexcept {}};

/// The average of the last eight or so. No time counts for more than twice the average: an event that lost its CPU says nothing of memory.
std::uint64_t averaged(std::uint64_t old_ns, std::uint64_t took_ns) noexcept {
  const std::uint64_t took = std::clamp<std::uint64_t>(took_ns, 1, longest_ns);
  if (old_ns == 0) return took;
  return std::max<std::uint64_t>(1, (7 * old_ns + std::min(took, 2 * old_ns)) / 8);
}

}  // namespace

/// penalty-comes-down: a penalized handler is no longer stolen, and so no longer measured. With each event at home its time after a steal comes
/// nearer to the time at home, until a thief tries it again.
void handler_times::learn(std::uint64_t took_ns, bool brought) noexcept {
  if (brought) return brought_ns_.store(averaged(brought_ns(), took_ns), std::memory_order_relaxed);
  const std::uint64_t home = averaged(home_ns(), took_ns);
  home_ns_.store(home, std::memory_order_relaxed);
  const std::uint64_t after_steal = brought_ns();
  if (after_steal > home) brought_ns_.store(after_steal - (after_steal - home) / forgets_one_in, std::memory_order_relaxed);
}

std::uint32_t handler_times::worth_of(std::uint32_t cost_ns) const noexcept {
  const std::uint64_t home = home_ns();
  const std::uint64_t after_steal = brought_ns();
  if (home == 0 || after_steal <= home) return cost_ns;
  return static_cast<std::uint32_t>(cost_ns * home / after_steal);
}

handler_times& handler_penalties::of(const event& e) noexcept { return of(*e.ops, hints_of(e).cost_ns); }

handler_times& handler_penalties::of(const event_ops& type, std::uint32_t told_cost_ns) noexcept {
  const std::uint64_t distance = reinterpret_cast<std::uintptr_t>(&type) - reinterpret_cast<std::uintptr_t>(&anchor);
  const std::uint64_t mixed = (distance ^ std::uint64_t{told_cost_ns} << 32) * 0x9e3779b97f4a7c15u;
  return all_[(mixed >> 32) % places];
}

}  // namespace tartan::detail
