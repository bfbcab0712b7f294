// A coroutine in a line may be let go by an event of any color, and be canceled in its own at the same time. The lock cannot
// decide between them: it lies in the channel, which may be destroyed as soon as nobody waits in it, so one who is late must not
// even look at it. Hence a flag in the waiter. Who sets it ends the wait; the other one touches nothing.

#include <tartan/core/waiting_line.h>

#include <mutex>
#include <new>

#include "core/fatal.h"
#include "core/memory.h"
#include "core/root_registry.h"
#include "core/runtime_state.h"
#include "core/spin_lock.h"

namespace tartan::detail {

namespace {

using claim_flag = real_memory::atomic<bool>;

spin_lock& lock_in(std::byte* bytes) noexcept { return *std::launder(reinterpret_cast<spin_lock*>(bytes)); }

}  // namespace

brief_lock::brief_lock() noexcept {
  static_assert(sizeof(spin_lock) == sizeof(held_));
  ::new (static_cast<void*>(held_)) spin_lock;
}
void brief_lock::lock() noexcept { lock_in(held_).lock(); }
void brief_lock::unlock() noexcept { lock_in(held_).unlock(); }

waiter::waiter() noexcept {
  static_assert(sizeof(claim_flag) == sizeof(claimed_));
  ::new (static_cast<void*>(claimed_)) claim_flag;
}
waiter::waiter(waiter&& /*before it waits: nothing to move*/) noexcept : waiter{} {}

/// Still in a line: its frame is destroyed by a runtime that is over, on one thread.
waiter::~waiter() {
  if (line_ != nullptr) line_->unlink(*this);
}

bool waiter::claim() noexcept {
  auto& flag = *std::launder(reinterpret_cast<claim_flag*>(claimed_));
  // acquire: its place in the line, pairs with the chain's wait; the line's lock does the rest
  return !flag.exchange(true, std::memory_order_acq_rel);
}

bool waiter::cancel() noexcept {
  if (!claim()) return false;
  waiting_line& line = *line_;  // there is somebody in it, so it exists
  const holding hold{*line.lock_};
  line.unlink(*this);
  return true;
}

waiting_line::~waiting_line() {
  if (first_ != nullptr && !first_->who_->runtime().roots().dropping()) {
    fatal({what_, " was destroyed while a coroutine waits in it, which was spawned at ", place(first_->who_->site())});
  }
  while (first_ != nullptr) unlink(*first_);
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
  for (waiter* one = first_; one != nullptr; one = one->next_) {
    if (!one->claim()) continue;  // canceled; about to leave
    unlink(*one);
    return one;
  }
  return nullptr;
}

void waiting_line::unlink(waiter& one) noexcept {
  (one.previous_ != nullptr ? one.previous_->next_ : first_) = one.next_;
  (one.next_ != nullptr ? one.next_->previous_ : last_) = one.previous_;
  one.line_ = nullptr;
}

}  // namespace tartan::detail
