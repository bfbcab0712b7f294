#include <tartan/core/per_worker.h>

#include "core/fatal.h"
#include "core/runtime_state.h"

namespace tartan::detail {

namespace {

bool inside(const runtime_state& rt) noexcept {
  const thread_context* const context = here_now();
  return context != nullptr && context->in_event && context->owner == &rt;
}

}  // namespace

unsigned required_worker(runtime_state& rt, std::source_location site) noexcept {
  if (!inside(rt)) fatal({"per_worker::local was called outside of the events of its runtime, at ", place(site)});
  return rt.this_worker();
}

void require_outside(runtime_state& rt, std::source_location site) noexcept {
  if (inside(rt)) fatal({"a per_worker was folded inside an event, where other workers use it, at ", place(site)});
}

unsigned workers_of(const runtime_state& rt) noexcept { return rt.workers(); }

}  // namespace tartan::detail
