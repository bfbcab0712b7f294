#pragma once
/// Work that is waiting, and not worth a steal.

#include <array>
#include <functional>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>

#include "core/runtime_state.h"
#include "core/sched/policy.h"

namespace tartan {

namespace detail {

struct strand_access {
  [[nodiscard]] static strand_state& state(strand& s) noexcept { return *s.state_; }
};

}  // namespace detail

namespace test {

/// Two colors call each other in short turns on worker 0, until the condition holds: so that others look, decline and watch. One that
/// finds worker 0 without a CPU takes a color for stuck, and steals it; then both are brought back.
template <class Condition>
void short_turns_until(runtime& rt, Condition condition) {
  std::array<strand, 2> colors{strand{rt}, strand{rt}};
  std::function<void(unsigned)> turn = [&](unsigned k) {
    if (rt.state().this_worker() != 0 || condition()) return;
    colors[1 - k].post([&turn, k] { turn(1 - k); });
  };
  while (!condition()) {
    for (strand& each : colors) rt.state().policy().place(detail::strand_access::state(each), 0);
    colors[0].post([&turn] { turn(0); });
    rt.run_until_idle();
  }
}

}  // namespace test
}  // namespace tartan
