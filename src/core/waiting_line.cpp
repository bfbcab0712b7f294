// A coroutine in a line may be let go by an event of any color, and be canceled in its own at the same time. The lock cannot
// decide between them: it lies in the channel, which may be destroyed as soon as nobody waits in it, so one who is late must not
// even look at it. Hence a flag in the waiter. Who sets it ends the wait; the other one touches nothing.

#include <tartan/core/waiting_line.h>

#include <new>

#include "core/fatal.h"
#include "core/guest.h"
#include "core/lifecycle.h"
#include "core/memory.h"
#include "core/runtime_state.h"
#include "core/spin_lock.h"
#include "core/waiter_state.h"

namespace tartan::detail {

namespace {

using wait_state = waiter_state<real_memory>;
constexpr std::uint8_t going = wait_state::going;
constexpr std::uint8_t ended = wait_state::ended;

/// How who has taken a waiter out entered its runtime.
enum : std::uint8_t { on_worker, by_own_gate, by_common_gate };

wait_state& state_in(std::byte* bytes) noexcept { return *std::launder(reinterpret_cast<wait_state*>(bytes)); }

spin_lock& lock_in(std::byte* bytes) noexcept { return *std::launder(reinterpret_cast<spin_lock*>(bytes)); }

void leave_gate(runtime_state& rt, std::uint8_t entered) noexcept {
  if (entered != on_worker) rt.guests().leave(entered == by_own_gate ? rt.guests().mine() : nullptr);
}

}  // namespace

brief_lock::brief_lock() noexcept {
  static_assert(sizeof(spin_lock) == sizeof(held_));
  ::new (static_cast<void*>(held_)) spin_lock;
}
void brief_lock::lock() noexcept { lock_in(held_).lock(); }
void brief_lock::unlock() noexcept { lock_in(held_).unlock(); }

waiter::waiter() noexcept {
  static_assert(sizeof(wait_state) == sizeof(state_));
  ::new (static_cast<void*>(state_)) wait_state;
}
waiter::waiter(waiter&& /*before it waits: nothing to move*/) noexcept : waiter{} {}

/// Still in a line: its frame is destroyed by a runtime that is over. Foreign threads may be in the line all the same.
waiter::~waiter() {
  if (who_ == nullptr) return;
  while (!state_in(state_).has_ended() && !leave()) real_memory::relax();
}

bool waiter::claim(std::uint8_t to) noexcept { return state_in(state_).claim(to); }

bool waiter::leave() noexcept {
  if (!claim(ended)) return false;
  waiting_line& line = *line_;  // there is somebody in it, so it exists
  const holding hold{*line.lock_};
  line.unlink(*this);
  return true;
}

/// Under the line's lock. Gives whether its runtime goes on; then the caller is in its gate, unless that is its worker. While it is in
/// the line, its runtime is there.
bool waiter::admit() noexcept {
  runtime_state& rt = who_->runtime();
  entered_ = on_worker;
  if (rt.worker_here() == nullptr) entered_ = rt.guests().enter() != nullptr ? by_own_gate : by_common_gate;
  if (!rt.stopping() || !rt.life().over()) return true;
  leave_gate(rt, entered_);
  return false;
}

waiting_line::~waiting_line() {
  for (;;) {
    {
      const holding hold{*lock_};  // also after the last one: it may still be about to unlock
      if (first_ == nullptr) return;
      if (!first_->who_->runtime().life().over()) {
        fatal({what_, " was destroyed while a coroutine waits in it, which was spawned at ", place(first_->who_->site())});
      }
      let_go(*first_);
    }
    real_memory::relax();
  }
}

void waiting_line::join(waiter& last, chain& who) noexcept {
  last.line_ = this;
  last.who_ = &who;
  last.previous_ = last_;
  last.next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = &last;
  last_ = &last;
}

waiter* waiting_line::take_first() noexcept {
  for (waiter* one = first_; one != nullptr;) {
    waiter* const next = one->next_;
    if (!one->admit()) {
      let_go(*one);
    } else if (one->claim(ended)) {
      unlink(*one);
      return one;
    } else {  // canceled; about to leave
      leave_gate(one->who_->runtime(), one->entered_);
    }
    one = next;
  }
  return nullptr;
}

/// Its runtime is over: it will be destroyed, by then perhaps without the line.
void waiting_line::let_go(waiter& one) noexcept {
  if (!one.claim(going)) return;  // about to leave by itself
  unlink(one);
  state_in(one.state_).end();  // last touch
}

void waiting_line::complete(waiter& taken) noexcept {
  chain& who = *taken.who_;
  runtime_state& rt = who.runtime();
  const std::uint8_t entered = taken.entered_;
  who.complete();
  leave_gate(rt, entered);  // the runtime is there as long as this thread is inside
}

void waiting_line::unlink(waiter& one) noexcept {
  (one.previous_ != nullptr ? one.previous_->next_ : first_) = one.next_;
  (one.next_ != nullptr ? one.next_->previous_ : last_) = one.previous_;
}

}  // namespace tartan::detail
