#include <tartan/time/with_timeout.h>

#include <new>

namespace tartan::detail {

struct timed_branch::events {
  static timed_branch& of(event& e) noexcept { return **std::launder(reinterpret_cast<timed_branch**>(e.storage)); }
  static void fired(event& e) {
    timed_branch& t = of(e);
    if (!t.node_.canceled_by_stop && !t.ended_) {
      t.time_is_up_ = true;
      t.cancel_all();
    }
    t.let_go();  // of the timer
  }
  static void drop(event&) noexcept {}  // the frame is the registry's to destroy
  static constexpr event_ops ops{.run = &fired, .drop = &drop, .from = origin::timer, .pooled = false, .counted = false};
};

void timed_branch::open(chain& parent) noexcept {
  branches::open(parent, &branch_, 1);
  hold();  // for the timer, until it is disarmed or its event has run
  ::new (static_cast<void*>(node_.fired.storage)) timed_branch*(this);
  node_.fired.ops = &events::ops;
  node_.fired.site = parent.site();
  node_.where = parent.where();
  if (from_now_) {
    arm_after(parent.runtime(), node_, ns_);
  } else {
    arm(parent.runtime(), node_, ns_);
  }
}

void timed_branch::branch_ended(std::size_t /*index*/) noexcept {
  ended_ = true;
  if (disarm(parent().runtime(), node_)) let_go();
}

}  // namespace tartan::detail
