#pragma once
/// Posting what an operation completes with, for who has to save a call.

#include <tartan/core/color.h>
#include <tartan/core/event.h>

#include "core/runtime_state.h"
#include "core/sched/policy.h"

namespace tartan::detail {

/// submit_completion, where the caller usually is a worker of that runtime, which does not stop.
inline void submit_from_worker(runtime_state& rt, color c, event& e) noexcept {
  worker* const from = rt.worker_here();
  if (from == nullptr || rt.stopping()) [[unlikely]] return static_cast<void>(submit_completion(rt, c, e));
  rt.policy().submit(c, e, from);
}

}  // namespace tartan::detail
