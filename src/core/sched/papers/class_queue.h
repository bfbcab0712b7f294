#pragma once
/// Mely's color queue, and the two lists that a core keeps of them.

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/line_pool.h"
#include "core/memory.h"
#include "core/sched/papers/linked_list.h"
#include "core/sched/papers/task.h"

namespace tartan::detail {

/// Which of a core's lists of those that are worth a steal a color queue is in, if it is in none.
inline constexpr std::uint8_t unworthy = 0xff;

/// The pending tasks of one class of colors. Guarded by the lock of the core whose the class is.
template <class Memory, class Task>
struct class_queue_of {
  template <class T>
  using plain = typename Memory::template plain<T>;

  plain<Task*> head;
  plain<Task*> tail;
  plain<class_queue_of*> previous;         ///< in the core queue
  plain<class_queue_of*> next;
  plain<class_queue_of*> previous_worthy;  ///< in the stealing queue
  plain<class_queue_of*> next_worthy;
  plain<std::uint64_t> time_ns;            ///< cumulative: of all its tasks
  plain<std::uint32_t> count;
  plain<std::uint16_t> number;             ///< the class
  plain<std::uint8_t> interval{unworthy};
  plain<bool> on_its_way;                  ///< from one core to another, and linked in neither

  void append(Task& t) noexcept {
    t.next = nullptr;
    if (Task* const last = tail; last != nullptr) {
      last->next = &t;
    } else {
      head = &t;
    }
    tail = &t;
    count = count + 1;
    time_ns = time_ns + t.cost_ns;
  }
  /// The oldest, or null.
  [[nodiscard]] Task* take() noexcept {
    Task* const t = head;
    if (t == nullptr) return nullptr;
    head = static_cast<Task*>(t->next);
    if (head == nullptr) tail = nullptr;
    count = count - 1;
    time_ns = time_ns - t->cost_ns;
    return t;
  }
};
using class_queue = class_queue_of<real_memory, task>;
static_assert(sizeof(class_queue) == line_pool::line_bytes);

/// Mely's core queue.
template <class Memory, class Queue>
using core_list_of = linked_list_of<Memory, Queue>;
using core_list = core_list_of<real_memory, class_queue>;

/// Mely's stealing queue: those that are worth a steal, in three unordered lists by their cumulative time.
///
/// Source: Mely, IV.B. The paper gives no bounds; here: up to 4 prices of a steal, up to 16, and more.
template <class Memory, class Queue>
class stealing_queue_of {
 public:
  static constexpr std::size_t intervals = 3;

  /// Its cumulative time has changed. Cost: two comparisons where the list stays the same.
  void update(Queue& q, std::uint64_t price_ns) noexcept {
    const std::uint8_t wanted = interval_of(q.time_ns, price_ns);
    if (wanted == q.interval) return;
    remove(q);
    if (wanted == unworthy) return;
    Queue* const first = heads_[wanted];
    q.interval = wanted;
    q.previous_worthy = nullptr;
    q.next_worthy = first;
    if (first != nullptr) first->previous_worthy = &q;
    heads_[wanted] = &q;
  }
  void remove(Queue& q) noexcept {
    const std::uint8_t interval = q.interval;
    if (interval == unworthy) return;
    Queue* const next = q.next_worthy;
    Queue* const previous = q.previous_worthy;
    if (previous != nullptr) {
      previous->next_worthy = next;
    } else {
      heads_[interval] = next;
    }
    if (next != nullptr) next->previous_worthy = previous;
    q.interval = unworthy;
  }
  /// The first of the highest list; null: none.
  [[nodiscard]] Queue* front() const noexcept {
    for (std::size_t n = intervals; n-- != 0;) {
      if (heads_[n] != nullptr) return heads_[n];
    }
    return nullptr;
  }

 private:
  [[nodiscard]] static std::uint8_t interval_of(std::uint64_t time_ns, std::uint64_t price_ns) noexcept {
    if (time_ns <= price_ns) return unworthy;
    return time_ns <= 4 * price_ns ? 0 : time_ns <= 16 * price_ns ? 1 : 2;
  }

  std::array<typename Memory::template plain<Queue*>, intervals> heads_;
};
using stealing_queue = stealing_queue_of<real_memory, class_queue>;

}  // namespace tartan::detail
