// A runtime that ends destroys the frames of its suspended coroutines. A frame whose handle another library holds may
// be resumed at any
// time, so it cannot be destroyed: the drain waits for it, as for a blocking job. Hence this list; it also says what a
// drain waits for.

#include "core/foreign_waits.h"

#include <optional>
#include <string>

#include "core/fatal.h"
#include "core/guest.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"

namespace tartan::detail {

namespace {

std::string coroutine_text(const chain& waiter) {
  const color where = waiter.where();
  return "a coroutine of " + color_text(where, waiter.runtime().name_of(where)) + ", spawned at " + place(waiter.site());
}

}  // namespace

bool foreign_wait::begin(std::coroutine_handle<> self, chain& waiter, std::coroutine_handle<> bridge) noexcept {
  waiter_ = &waiter;
  waiter.suspend(self);
  waiter.runtime().foreign().add(*this);
  bridge.resume();
  // Another thread may have resumed the bridge by now. The coroutine is still suspended: this event holds its color.
  if (!declined_) return true;
  waiter.runtime().foreign().withdraw(*this);
  return waiter.at_once(self);
}

void foreign_wait::resume() noexcept {
  if (!declined_) waiter_->runtime().foreign().resume(*this);
}

void foreign_wait::bridge_destroyed() const noexcept {
  fatal({"a handle that co_await has given to another library's awaitable was destroyed, not resumed: it is that of ",
         coroutine_text(*waiter_)});
}

void foreign_waits::add(foreign_wait& pending) noexcept {
  rt_.operation_started();
  const std::lock_guard hold{lock_};
  pending.pending_ = true;
  pending.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &pending;
  first_ = &pending;
}

void foreign_waits::withdraw(foreign_wait& declined) noexcept {
  remove(declined);
  rt_.operation_ended();
}

void foreign_waits::resume(foreign_wait& ended) noexcept {
  // ends-after-resume: a drain that finds the list empty waits for this gate before it destroys the frame, and the
  // runtime before it ends.
  // A worker needs none: the runtime does not end within one of its events.
  std::optional<guests::posting> in_gate;
  if (rt_.worker_here() == nullptr) in_gate.emplace(rt_.guests());
  chain& waiter = *ended.waiter_;
  remove(ended);
  waiter.resume();
  rt_.operation_ended();
}

void foreign_waits::remove(foreign_wait& one) noexcept {
  const std::lock_guard hold{lock_};
  one.pending_ = false;
  (one.previous_ != nullptr ? one.previous_->next_ : first_) = one.next_;
  if (one.next_ != nullptr) one.next_->previous_ = one.previous_;
  if (first_ == nullptr) none_left_.notify_all();
}

void foreign_waits::await_all(std::chrono::steady_clock::time_point deadline) noexcept {
  std::unique_lock hold{lock_};
  if (!none_left_.wait_until(hold, deadline, [this] { return first_ == nullptr; })) report();
}

/// Under the lock: what is named must not go on meanwhile.
void foreign_waits::report() noexcept {
  std::string text = "a runtime cannot be drained: another library's awaitable, which does not resume, may still use ";
  for (const foreign_wait* each = first_; each != nullptr; each = each->next_) {
    if (each != first_) text += "; ";
    text += coroutine_text(*each->waiter_);
  }
  fatal({text});
}

}  // namespace tartan::detail
