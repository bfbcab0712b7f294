#include <tartan/time/interval.h>

#include "core/fatal.h"
#include "core/runtime_state.h"

namespace tartan::detail {

std::uint64_t clock_of(runtime_state& rt) noexcept { return rt.now_ns(); }

void check_period(std::uint64_t period_ns, std::source_location site) noexcept {
  if (period_ns == 0) fatal({"an interval of no time at all, at ", place(site)});
}

std::uint64_t tick_state::pass() noexcept {
  const std::uint64_t now = rt->now_ns();
  const std::uint64_t ticks = now < next_ns ? 1 : (now - next_ns) / period_ns + 1;
  const std::uint64_t later = ticks <= latest_deadline_ns / period_ns ? ticks * period_ns : latest_deadline_ns;
  next_ns = saturated_deadline_ns(next_ns, later);
  return ticks;
}

}  // namespace tartan::detail
