#include "simulation/poller.h"

#include <algorithm>

#include "core/clock.h"

namespace simulation {

using namespace tartan::detail;

std::uint64_t virtual_poller::now_ns() noexcept { return real_now_ns(); }

slept virtual_poller::sleep(unsigned /*worker*/, wake_token& token, sleep_limit limit) noexcept {
  sequencer& all = *running;
  all.take_turn();
  all.spend(all.on().sleep);
  const std::uint64_t now = real_now_ns();
  const std::uint64_t patience = limit.at_most_ns < never_ns - now ? now + limit.at_most_ns : never_ns;
  const std::uint64_t end = std::min(limit.until_ns, patience);
  all.take_turn();
  // relaxed: there is one thread
  if (token.load(std::memory_order_relaxed) != token_asleep) return slept::alone;
  const picoseconds left = end <= now ? 0 : (end - now) * 1000;
  all.sleep(end == never_ns ? sequencer::never : all.current().clock + left);
  return slept::alone;
}

/// The sleeper begins to run some time after the call has begun, even if that is before the caller is back from it.
void virtual_poller::wake(unsigned worker, wake_token& /*token*/) noexcept {
  sequencer& all = *running;
  all.take_turn();
  all.wake(worker, all.current().clock + all.on().wake_to_run);
  all.spend(all.on().wake);
}

}  // namespace simulation
