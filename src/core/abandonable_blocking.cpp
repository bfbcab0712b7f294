// The job and the coroutine that waits for it end in either order, on different threads. One compare-and-swap decides which one leaves
// first; the other one destroys the job. The job's thread does not touch the job after it has left, nor the coroutine if it was
// abandoned: the frame may be gone.

#include <tartan/core/abandonable_blocking.h>

#include <new>

#include "core/memory.h"

namespace tartan::detail {

namespace {

using state_word = real_memory::atomic<std::uint8_t>;
enum : std::uint8_t { waited_for, ended, abandoned };

state_word& state_in(std::byte* bytes) noexcept { return *std::launder(reinterpret_cast<state_word*>(bytes)); }

/// Leaves, unless the other one was first.
bool leaves_first(state_word& state, std::uint8_t as) noexcept {
  std::uint8_t expected = waited_for;
  // release: what the job has left, or that nobody waits; acquire: what the other one has done. Pairs with itself
  return state.compare_exchange_strong(expected, as, std::memory_order_acq_rel, std::memory_order_acquire);
}

}  // namespace

abandonable_job::abandonable_job(std::source_location at) noexcept {
  static_assert(sizeof(state_word) == sizeof(state_));
  ::new (static_cast<void*>(state_)) state_word{waited_for};
  site = at;
  run = [](blocking_job& job) noexcept {
    auto& self = static_cast<abandonable_job&>(job);
    chain* const waiter = self.waiter_;
    // acquire: pairs with leaves_first
    if (state_in(self.state_).load(std::memory_order_acquire) == waited_for) self.call();
    if (self.end()) {
      waiter->complete();
    } else {
      delete &self;
    }
  };
  drop = [](blocking_job& job) noexcept {
    auto& self = static_cast<abandonable_job&>(job);
    if (!self.end()) delete &self;  // else the frame of its coroutine does, which is never resumed
  };
}

void abandonable_job::begin(chain& waiter) noexcept {
  waiter_ = &waiter;
  where = waiter.where();
}

bool abandonable_job::abandon() noexcept { return leaves_first(state_in(state_), abandoned); }

bool abandonable_job::end() noexcept { return leaves_first(state_in(state_), ended); }

}  // namespace tartan::detail
