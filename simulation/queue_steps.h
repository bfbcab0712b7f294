#pragma once
// A fixed number of steps with the queues of Mely's scheduler, on one thread. Measured, they take so many ns; simulated, they make so many
// accesses to memory: the quotient is what an access costs that finds its line in the first cache, with the instructions around it.

#include "core/line_pool.h"
#include "core/sched/papers/class_queue.h"

namespace simulation {

class queue_steps {
 public:
  static constexpr unsigned colors = 16;

  queue_steps() {
    for (tartan::detail::class_queue& q : queues_) q.time_ns = 100;
  }

  /// An event is appended to each color, and each color served once.
  [[gnu::noinline]] void once() {
    using namespace tartan::detail;
    for (class_queue& q : queues_) {
      auto* const t = static_cast<task*>(lines_.allocate(cache_));
      t->color_value = 1;
      t->cost_ns = 5'000;
      q.append(*t);
      core_.push_back(q);
      worthy_.update(q, 2'000);
    }
    while (class_queue* const q = core_.front()) {
      worthy_.remove(*q);
      task* const t = q->take();
      core_.remove(*q);
      lines_.release(cache_, t);
    }
  }

 private:
  tartan::detail::line_pool lines_{nullptr};
  tartan::detail::line_cache cache_;
  tartan::detail::class_queue queues_[colors];
  tartan::detail::core_list core_;
  tartan::detail::stealing_queue worthy_;
};

}  // namespace simulation
