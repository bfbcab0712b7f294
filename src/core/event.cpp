#include <tartan/core/event.h>
#include <tartan/core/post.h>

#include "core/fatal.h"
#include "core/guest.h"
#include "core/lifecycle.h"
#include "core/line_pool.h"
#include "core/runtime_state.h"
#include "core/sched/default_poster.h"
#include "core/sched/policy.h"
#include "core/worker.h"

namespace tartan::detail {

constinit thread_local thread_context* here = nullptr;

thread_context* here_now() noexcept { return here; }

event* new_event(runtime_state& rt) {
  if (worker* const w = rt.worker_here()) return static_cast<event*>(rt.events().allocate(w->event_lines));
  guest* const g = rt.guests().mine();
  return static_cast<event*>(g != nullptr ? rt.events().allocate(g->event_lines) : rt.events().allocate_shared());
}

void free_event(runtime_state& rt, event& e) noexcept {
  if (worker* const w = rt.worker_here()) return rt.events().release(w->event_lines, &e);
  if (guest* const g = rt.guests().mine()) return rt.events().release(g->event_lines, &e);
  rt.events().release_shared(&e);
}

namespace {

/// runtime_of, inline: every post asks for it.
[[gnu::always_inline]] inline runtime_state& owner_of(const strand_state& s) noexcept {
  return *static_cast<runtime_state*>(line_pool::owner_of(&s));
}

}  // namespace

// A slot in the running color needs no lock, for this thread is its runner. All that is rare is left to new_event() and submit():
// a worker without free lines, a foreign thread, and events in the inbox, which were posted first.

event_slot claim_slot(strand_state& s) {
  runtime_state& rt = owner_of(s);
  worker* const w = rt.worker_here();
  if (w == nullptr || !line_pool::is_reserved(w->event_lines)) [[unlikely]] return {new_event(rt), false};
  auto* const e = static_cast<event*>(rt.events().allocate(w->event_lines));
  auto& q = reinterpret_cast<color_queue&>(s);
  return {e, &q == w->running_queue && q.append_unless_others_came(*e)};
}

event_slot claim_slot(runtime_state& rt, color c) {
  worker* const w = rt.worker_here();
  if (w == nullptr || !line_pool::is_reserved(w->event_lines)) [[unlikely]] return {new_event(rt), false};
  auto* const e = static_cast<event*>(rt.events().allocate(w->event_lines));
  auto* const q = static_cast<color_queue*>(w->running_queue);
  const bool runs = q != nullptr && c == w->running && c != color::unordered;
  return {e, runs && q->append_unless_others_came(*e)};
}

namespace {

/// `goes_on`: after stop too, until the runtime is over.
template <class Submit>
[[gnu::always_inline]] inline bool submit_from_here(runtime_state& rt, event& e, bool goes_on, Submit&& hand_over) noexcept {
  if (worker* const from = rt.worker_here()) [[likely]] {
    // Needs no gate: while somebody ends the runtime, no worker but that one runs.
    if (!rt.stopping() || !rt.life().over()) [[likely]] {
      hand_over(from);
      return true;
    }
  } else {
    const guests::posting in_gate{rt.guests()};  // seen-or-refused: what refuses posts is looked at inside
    if (!rt.stopping() || (goes_on && !rt.life().over())) {
      hand_over(nullptr);
      return true;
    }
  }
  discard_event(rt, e);  // outside: its destructor may post
  return false;
}

[[gnu::noinline]] bool submit_from_anywhere(runtime_state& rt, color c, event& e) noexcept {
  return submit_from_here(rt, e, false, [&](worker* from) { rt.policy().submit(c, e, from); });
}

[[gnu::noinline]] bool submit_from_anywhere(strand_state& s, event& e) noexcept {
  runtime_state& rt = owner_of(s);
  return submit_from_here(rt, e, false, [&](worker* from) { rt.policy().submit(s, e, from); });
}

}  // namespace

// Most posts come from within an event of the default scheduler, whose runtime is not over: these need neither a look at that nor a
// virtual call.

bool submit(runtime_state& rt, color c, event& e) noexcept {
  if (worker* const w = rt.worker_here(); w != nullptr && w->running_queue != nullptr) [[likely]] {
    w->poster->submit(c, e, w);
    return true;
  }
  return submit_from_anywhere(rt, c, e);
}

bool submit(strand_state& s, event& e) noexcept {
  if (worker* const w = static_cast<worker*>(here); w != nullptr && w->running_queue != nullptr) [[likely]] {
    if (w->poster->submit_at_home(s, e, *w)) [[likely]] return true;
  }
  return submit_from_anywhere(s, e);
}

bool submit_completion(runtime_state& rt, color c, event& e) noexcept {
  return submit_from_here(rt, e, true, [&](worker* from) { rt.policy().submit(c, e, from); });
}

runtime_state* current_runtime() noexcept {
  const thread_context* const context = here_now();
  return context != nullptr ? context->owner : nullptr;
}

runtime_state& runtime_of_callback(std::source_location bound_at) noexcept {
  if (runtime_state* const rt = current_runtime()) return *rt;
  fatal({"a callback of tartan::bind was called outside of any event; it was bound at ", place(bound_at),
         "; for callers on other threads bind it to the runtime: bind(rt, color, f)"});
}

runtime_state& required_runtime(const char* function, std::source_location site) noexcept {
  if (runtime_state* const rt = current_runtime()) return *rt;
  fatal({function, " was called outside of any event, at ", place(site),
         "; from other threads use the runtime's own member of that name"});
}

}  // namespace tartan::detail
