#include <tartan/core/event.h>

#include <mutex>

#include "core/fatal.h"
#include "core/lifecycle.h"
#include "core/line_pool.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/worker.h"

namespace tartan::detail {

constinit thread_local thread_context* here = nullptr;

thread_context* here_now() noexcept { return here; }

event* new_event(runtime_state& rt) {
  worker* const w = rt.worker_here();
  return static_cast<event*>(w != nullptr ? rt.events().allocate(w->event_lines) : rt.events().allocate_shared());
}

void free_event(runtime_state& rt, event& e) noexcept {
  if (worker* const w = rt.worker_here()) {
    rt.events().release(w->event_lines, &e);
  } else {
    rt.events().release_shared(&e);
  }
}

namespace {

void drop_event(runtime_state& rt, event& e) noexcept {
  const bool pooled = e.ops->pooled;
  e.ops->drop(e);
  if (pooled) free_event(rt, e);
}

/// From a foreign thread, and after stop from anywhere: within a gate, so that whoever ends the runtime knows when it is done.
template <class Submit>
[[gnu::noinline]] bool submit_at_gate(runtime_state& rt, event& e, bool goes_on, Submit&& hand_over) noexcept {
  {
    const std::lock_guard in_gate{rt.gates().mine()};
    if (!rt.stopping() || (goes_on && !rt.life().over())) {
      hand_over();
      return true;
    }
  }
  drop_event(rt, e);  // outside: its destructor may post
  return false;
}

}  // namespace

bool submit(runtime_state& rt, color c, event& e) noexcept {
  if (worker* const from = rt.worker_here(); from != nullptr && !rt.stopping()) [[likely]] {
    rt.policy().submit(c, e, from);
    return true;
  }
  worker* const from = rt.worker_here();
  return submit_at_gate(rt, e, from != nullptr, [&] { rt.policy().submit(c, e, from); });
}

bool submit(strand_state& s, event& e) noexcept {
  runtime_state& rt = runtime_of(s);
  if (worker* const from = rt.worker_here(); from != nullptr && !rt.stopping()) [[likely]] {
    rt.policy().submit(s, e, from);
    return true;
  }
  worker* const from = rt.worker_here();
  return submit_at_gate(rt, e, from != nullptr, [&] { rt.policy().submit(s, e, from); });
}

bool submit_completion(runtime_state& rt, color c, event& e) noexcept {
  worker* const from = rt.worker_here();
  if (from != nullptr && !rt.stopping()) [[likely]] {
    rt.policy().submit(c, e, from);
    return true;
  }
  return submit_at_gate(rt, e, true, [&] { rt.policy().submit(c, e, from); });
}

runtime_state* current_runtime() noexcept {
  const thread_context* const context = here_now();
  return context != nullptr ? context->owner : nullptr;
}

runtime_state& required_runtime(const char* function, std::source_location site) noexcept {
  if (runtime_state* const rt = current_runtime()) return *rt;
  fatal({function, " was called outside of any event, at ", place(site),
         "; from other threads use the runtime's own member of that name"});
}

}  // namespace tartan::detail
