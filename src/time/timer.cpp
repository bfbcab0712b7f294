// An event that was posted cannot be taken back from its color's queue, but cancel() has to be exact. So a timer does not embed
// its wait: it points to it, leaves it behind with the event where cancel comes after the post, and takes a new one.
#include <cstddef>
#include <cstdint>
#include <new>
#include <tartan/core/post.h>
#include <tartan/time/post_after.h>
#include <tartan/time/timer.h>

#include "core/fatal.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/strand_color.h"
#include "time/timing.h"

namespace tartan {

namespace detail {

namespace {

constexpr std::size_t shift_unit = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
constexpr std::size_t most_shift = alignof(timer_wait) / shift_unit - 1;
constexpr unsigned first_shift_bit = 8;
static_assert(most_shift * first_shift_bit <= 0xff);

void refuse_color(runtime_state& rt, color c, std::string_view what, std::source_location site) noexcept {
  if (c == color::unordered) {
    fatal({what, " cannot be in color::unordered: its callbacks and its cancellation would race; at ", place(site)});
  }
  if (strand_color::is_foreign(c, rt)) [[unlikely]] refuse_foreign(rt, c, std::string{what} + " was set", site);
}

/// Ends the program unless the timer's color runs here, or nothing does in its runtime: its wait is the color's, without a lock.
/// `what` and `at` say which use, and a place that tells which timer.
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

// operator new for a cache line's alignment took 119 ns where the plain one took 9 (glibc 2.36: it passes by the thread's cache).
// The plain one gives multiples of 16: what is left to the line is kept beside the flags.
timer_wait* new_timer_wait(color where, bool owned) {
  auto* const block = static_cast<std::byte*>(::operator new(sizeof(timer_wait) + most_shift * shift_unit));
  const std::uintptr_t past_line = reinterpret_cast<std::uintptr_t>(block) % alignof(timer_wait);
  const std::size_t shift = past_line == 0 ? 0 : alignof(timer_wait) - past_line;
  auto* const wait = ::new (static_cast<void*>(block + shift)) timer_wait;
  wait->node.where = where;
  wait->node.links.embedder =
      static_cast<std::uint8_t>(shift / shift_unit * first_shift_bit | (owned ? timer_wait::owned : 0));
  return wait;
}

void free_timer_wait(timer_wait& wait) noexcept {
  const std::size_t shift = wait.node.links.embedder / first_shift_bit * shift_unit;
  wait.~timer_wait();
  ::operator delete(reinterpret_cast<std::byte*>(&wait) - shift);
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
  return new_timer_wait(c, false);
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
  wait_ = detail::new_timer_wait(color_, true);
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
