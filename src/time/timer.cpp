// An event that was posted cannot be taken back from its color's queue, but cancel() has to be exact. So a timer does
// not embed its wait: it points to it, leaves it behind with the event where cancel comes after the post, and takes a
// new one.
#include <cstdint>
#include <new>
#include <tartan/core/post.h>
#include <tartan/time/post_after.h>
#include <tartan/time/timer.h>

#include "core/fatal.h"
#include "core/frame_pool.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/strand_color.h"
#include "time/timing.h"

namespace tartan {

namespace detail {

namespace {

void refuse_color(runtime_state& rt, color c, std::string_view what, std::source_location site) noexcept {
  if (c == color::unordered) {
    fatal({what, " cannot be in color::unordered: its callbacks and its cancellation would race; at ", place(site)});
  }
  if (strand_color::is_foreign(c, rt)) [[unlikely]] refuse_foreign(rt, c, std::string{what} + " was set", site);
}

/// Ends the program unless the timer's color runs here, or nothing does in its runtime: its wait is the color's,
/// without a lock. `what` and `at` say which use, and a place that tells which timer.
void check_use(runtime_state& rt, color c, std::string_view what, std::source_location at) noexcept {
  const thread_context* const context = here_now();
  const bool inside = context != nullptr && context->in_event;
  const bool here_inside = inside && context->owner == &rt;
  if (here_inside && context->running == c) return;
  if (here_inside) {
    fatal({"a timer of ", color_text(c, rt.name_of(c)), what, place(at), ", but ",
           color_text(context->running, rt.name_of(context->running)), " runs, posted at ", place(context->site)});
  }
  if (!rt.life().running()) return;
  const std::string elsewhere =
      inside ? ", in an event of another runtime, posted at " + place(context->site) : ", on a thread that runs no event of it";
  fatal({"a timer of ", color_text(c, rt.name_of(c)), what, place(at), ", while its runtime runs", elsewhere});
}

}  // namespace

// operator new for a cache line's alignment took 119 ns where the plain one took 9 (glibc 2.36 bypasses the thread's
// cache for it).
timer_wait* new_timer_wait(runtime_state& rt, color where, bool owned) {
  auto* const wait = ::new (rt.frames().allocate(sizeof(timer_wait))) timer_wait;
  wait->node.where = where;
  wait->node.memory = &rt.frames();
  wait->set(timer_wait::owned, owned);
  return wait;
}

void free_timer_wait(timer_wait& wait) noexcept {
  frame_pool& memory = *wait.node.memory;
  wait.~timer_wait();
  memory.release(&wait, sizeof(timer_wait));
}

void abandon(timer_wait& wait) noexcept {
  wait.set(timer_wait::owned, false);
  wait.set(timer_wait::abandoned, true);
  event& e = wait.node.fired;
  static_cast<const timer_wait_ops*>(e.ops)->destroy(e);
}

timer_wait* new_bare_wait(runtime_state& rt, color c, std::source_location site) {
  refuse_color(rt, c, "a timer", site);
  if (rt.stopping() && current_runtime() != &rt) return nullptr;
  (void)timing::of(rt);  // here it may throw
  return new_timer_wait(rt, c, false);
}

}  // namespace detail

timer::timer(detail::runtime_state& rt, color c, std::source_location site) : rt_{&rt}, color_{c} {
  detail::refuse_color(rt, c, "a timer", site);
}

timer& timer::operator=(timer&& other) noexcept {
  if (this != &other) {
    let_go();
    rt_ = other.rt_;
    color_ = other.color_;
    wait_ = std::exchange(other.wait_, nullptr);
  }
  return *this;
}

timer::~timer() {
  let_go();
}

bool timer::cancel(std::source_location site) noexcept {
  detail::check_use(*rt_, color_, " is set or canceled at ", site);
  if (!pending()) return false;
  if (detail::disarm(*rt_, wait_->node)) {
    detail::event& e = wait_->node.fired;
    e.ops->drop(e);  // last: may destroy this timer
  } else {
    rt_->objects_changed(-1);
    detail::abandon(*std::exchange(wait_, nullptr));  // last: may destroy this timer
  }
  return true;
}

void timer::renew(std::source_location site) {
  cancel(site);
  if (wait_ != nullptr) return;
  (void)detail::timing::of(*rt_);  // here it may throw
  wait_ = detail::new_timer_wait(*rt_, color_, true);
  rt_->objects_changed(1);
}

void timer::let_go() noexcept {
  if (wait_ == nullptr) return;
  if (pending()) detail::check_use(*rt_, color_, " is destroyed, which was set at ", wait_->node.fired.site);
  detail::timer_wait& wait = *std::exchange(wait_, nullptr);
  rt_->objects_changed(-1);
  if (!wait.is(detail::timer_wait::waiting)) {
    detail::free_timer_wait(wait);
  } else if (detail::disarm(*rt_, wait.node)) {
    wait.set(detail::timer_wait::owned, false);
    wait.node.fired.ops->drop(wait.node.fired);
  } else {
    detail::abandon(wait);
  }
}

}  // namespace tartan
