#pragma once
/// A pending event, as the papers' schedulers queue it.

#include <cstdint>
#include <new>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

#include "core/line_pool.h"

namespace tartan::detail {

struct waiting_color;

/// A color that no event has.
inline constexpr std::uint64_t no_color = ~std::uint64_t{1};

/// A class that no color has.
inline constexpr std::uint32_t no_class = ~std::uint32_t{0};

/// An event in a queue, or, without one, the event that polls (select_task.h). Guarded by the queue's lock.
struct task {
  task* next;
  task* previous;
  event* what;               ///< null: the select task
  std::uint64_t color_value;
  std::uint32_t color_class; ///< what the policy's tables go by
  std::uint32_t cost_ns;     ///< 0: not told. color_queues: what it adds to its queue's time
  std::uint16_t penalty;
  std::uint8_t priority;
  bool right;                ///< in the part for I/O events
  waiting_color* among = nullptr;  ///< shared_queue:most-frequent: the tasks of its color
};
static_assert(sizeof(task) <= line_pool::line_bytes);

/// Memory for tasks: free lists, or operator new, which is what libasync-smp's table 2 compares them with.
///
/// Threads: any; `cache` is the calling thread's, or null.
class task_memory {
 public:
  task_memory(void* owner, bool free_lists) : lines_{owner}, free_lists_{free_lists} {}

  /// Errors: std::bad_alloc.
  [[nodiscard]] task* make(line_cache* cache) {
    if (!free_lists_) return static_cast<task*>(::operator new(line_pool::line_bytes));
    return static_cast<task*>(cache != nullptr ? lines_.allocate(*cache) : lines_.allocate_shared());
  }
  void free(task* t, line_cache* cache) noexcept {
    if (!free_lists_) return ::operator delete(t);
    if (cache != nullptr) return lines_.release(*cache, t);
    lines_.release_shared(t);
  }

 private:
  line_pool lines_;
  bool free_lists_;
};

}  // namespace tartan::detail
