#include <tartan/time/sleep.h>

#include <new>

#include "core/runtime_state.h"

namespace tartan::detail {

struct sleep_awaiter::events {
  static sleep_awaiter& of(event& e) noexcept { return **std::launder(reinterpret_cast<sleep_awaiter**>(e.storage)); }
  static void fired(event& e) {
    sleep_awaiter& a = of(e);
    a.canceled_ = a.node_.canceled_by_stop;
    a.sleeper_->complete_here();
  }
  static void drop(event&) noexcept {}  // the frame is the registry's to destroy
  static constexpr event_ops ops{.run = &fired, .drop = &drop, .from = origin::timer, .pooled = false, .counted = false};
};

bool sleep_awaiter::begin(std::coroutine_handle<> self, chain& sleeper) noexcept {
  if (sleeper.cancel_requested() || (ends_at_shutdown_ && sleeper.runtime().closing())) {
    canceled_ = true;
    return sleeper.at_once(self);
  }
  sleeper_ = &sleeper;
  ::new (static_cast<void*>(node_.fired.storage)) sleep_awaiter*(this);
  node_.fired.ops = &events::ops;
  node_.fired.site = sleeper.site();
  node_.where = sleeper.where();
  if (from_now_) {
    arm_after(sleeper.runtime(), node_, ns_);
  } else {
    arm(sleeper.runtime(), node_, ns_);
  }
  return sleeper.wait(self, *this);
}

void sleep_awaiter::shutdown_begins(chain& waiter) noexcept {
  if (!ends_at_shutdown_ || !disarm(waiter.runtime(), node_)) return;  // posted already: ends by its event
  canceled_ = true;
  waiter.complete();
}

bool sleep_awaiter::cancel() noexcept {
  // Posted already: it ends by its event, which lies in this frame, and that is about to run anyway.
  if (!disarm(sleeper_->runtime(), node_)) return false;
  canceled_ = true;
  return true;
}

}  // namespace tartan::detail
