#pragma once
// Where an idle strand's next event shall run: a hint that users do not have.

#include <source_location>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>

#include "core/runtime_state.h"
#include "core/sched/policy.h"

namespace tartan::detail {

/// Strands let this one at their state.
struct strand_access {
  static strand_state& state(const strand& s) noexcept { return s.state(std::source_location::current()); }
};

}  // namespace tartan::detail

namespace bench {

/// The strand must be idle.
inline void place_strand(tartan::runtime& rt, const tartan::strand& s, unsigned worker) noexcept {
  rt.state().policy().place(tartan::detail::strand_access::state(s), worker);
}

}  // namespace bench
