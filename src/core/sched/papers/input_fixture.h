#pragma once
/// Events as a poller would post them, for tests of queues that tell them from computation.

#include <source_location>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <utility>

#include "core/runtime_state.h"
#include "core/sched/policy.h"

namespace tartan::test {

/// Posts an event as readiness would.
template <class F>
void post_input(runtime& rt, color c, F f) {
  static constexpr detail::event_ops input{&detail::callable_ops<F>::run, &detail::callable_ops<F>::drop, detail::origin::io, true, false};
  detail::event* const e = detail::make_event(rt.state(), std::move(f), std::source_location::current());
  e->ops = &input;
  rt.state().policy().submit(c, *e, nullptr);
}

}  // namespace tartan::test
