/// A runtime within another event loop: what its descriptor shows.

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/lifecycle.h"
#include "core/outside_descriptor.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"

namespace tartan::detail {

void lifecycle::source_changed() noexcept {
  real_memory::full_barrier();  // against descriptor(): one of both sees the other's
  show_source_outside();
  seat_sleepers();
}

/// While nobody runs, the descriptor shows what there is to do.
void lifecycle::show_outside() noexcept {
  outside_descriptor* const outside = outside_open_.load(std::memory_order_acquire);
  if (outside == nullptr) return;
  outside->clear();
  real_memory::heavy_barrier();  // against a post that signalled before the clear, and a post or a timer that saw the runtime run
  const bool ends_by_time = rt_.closing() && !rt_.stopping();
  outside->arm_timer(ends_by_time ? std::min(next_timer(), shut_by_ns_.load(std::memory_order_relaxed)) : next_timer());
  if (rt_.policy().any_left() || rt_.clock().has_aside() || is_to_shut_down()) outside->signal();
}

/// An embedding program's loop waits for what the runtime's descriptors wait for.
void lifecycle::show_source_outside() noexcept {
  outside_descriptor* const outside = outside_open_.load(std::memory_order_acquire);
  if (const int source = rt_.clock().descriptor(); outside != nullptr && source >= 0) outside->watch(source);
}

/// The runtime is over: nobody will ever take what becomes ready.
void lifecycle::hide_source_outside() noexcept {
  outside_descriptor* const outside = outside_open_.load(std::memory_order_acquire);
  if (const int source = rt_.clock().descriptor(); outside != nullptr && source >= 0) outside->forget(source);
}

int lifecycle::descriptor() {
  if (rt_.choice().select) throw std::system_error{ENOTSUP, std::system_category(), "select() has no descriptor that another loop could wait for"};
  if (outside_ == nullptr) {
    outside_ = std::make_unique<outside_descriptor>();
    (void)outside_->get();
    outside_open_.store(outside_.get(), std::memory_order_release);
    real_memory::full_barrier();  // against source_changed()
    if (!over()) show_source_outside();
    show_outside();
  }
  return outside_->get();
}

}  // namespace tartan::detail
