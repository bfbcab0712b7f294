#pragma once
/// Mely's color queue, and the two lists that a core keeps of them.

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/line_pool.h"
#include "core/sched/papers/task.h"

namespace tartan::detail {

/// The pending tasks of one class of colors. Guarded by the lock of the core whose the class is.
struct class_queue {
  /// Which of a core's lists of those that are worth a steal it is in.
  static constexpr std::uint8_t unworthy = 0xff;

  task* head = nullptr;
  task* tail = nullptr;
  class_queue* previous = nullptr;         ///< in the core queue
  class_queue* next = nullptr;
  class_queue* previous_worthy = nullptr;  ///< in the stealing queue
  class_queue* next_worthy = nullptr;
  std::uint64_t time_ns = 0;               ///< cumulative: of all its tasks
  std::uint32_t count = 0;
  std::uint16_t number = 0;                ///< the class
  std::uint8_t interval = unworthy;
  bool on_its_way = false;                 ///< from one core to another, and linked in neither

  void append(task& t) noexcept {
    t.next = nullptr;
    (tail != nullptr ? tail->next : head) = &t;
    tail = &t;
    ++count;
  }
  [[nodiscard]] task* take() noexcept {
    task* const t = head;
    if (t == nullptr) return nullptr;
    head = t->next;
    if (head == nullptr) tail = nullptr;
    --count;
    return t;
  }
};
static_assert(sizeof(class_queue) == line_pool::line_bytes);

/// Doubly linked, so that one in the middle can be stolen: Mely's core queue.
class core_list {
 public:
  [[nodiscard]] class_queue* front() const noexcept { return head_; }
  void push_back(class_queue& q) noexcept {
    q.next = nullptr;
    q.previous = tail_;
    (tail_ != nullptr ? tail_->next : head_) = &q;
    tail_ = &q;
  }
  void remove(class_queue& q) noexcept {
    (q.previous != nullptr ? q.previous->next : head_) = q.next;
    (q.next != nullptr ? q.next->previous : tail_) = q.previous;
  }

 private:
  class_queue* head_ = nullptr;
  class_queue* tail_ = nullptr;
};

/// Mely's stealing queue: those that are worth a steal, in three unordered lists by their cumulative time.
///
/// Source: Mely, IV.B. The paper gives no bounds; here: up to 4 prices of a steal, up to 16, and more.
class stealing_queue {
 public:
  static constexpr std::size_t intervals = 3;

  /// Its cumulative time has changed. Cost: two comparisons where the list stays the same.
  void update(class_queue& q, std::uint64_t price_ns) noexcept {
    const std::uint8_t wanted = interval_of(q.time_ns, price_ns);
    if (wanted == q.interval) return;
    remove(q);
    if (wanted == class_queue::unworthy) return;
    q.interval = wanted;
    ++size_;
    class_queue*& head = heads_[wanted];
    q.previous_worthy = nullptr;
    q.next_worthy = head;
    if (head != nullptr) head->previous_worthy = &q;
    head = &q;
  }
  void remove(class_queue& q) noexcept {
    if (q.interval == class_queue::unworthy) return;
    (q.previous_worthy != nullptr ? q.previous_worthy->next_worthy : heads_[q.interval]) = q.next_worthy;
    if (q.next_worthy != nullptr) q.next_worthy->previous_worthy = q.previous_worthy;
    q.interval = class_queue::unworthy;
    --size_;
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The first of the highest list that the predicate likes; null: none.
  template <class Likes>
  [[nodiscard]] class_queue* find(Likes likes) const noexcept {
    for (std::size_t n = intervals; n-- != 0;) {
      for (class_queue* q = heads_[n]; q != nullptr; q = q->next_worthy) {
        if (likes(*q)) return q;
      }
    }
    return nullptr;
  }

 private:
  [[nodiscard]] static std::uint8_t interval_of(std::uint64_t time_ns, std::uint64_t price_ns) noexcept {
    if (time_ns <= price_ns) return class_queue::unworthy;
    return time_ns <= 4 * price_ns ? 0 : time_ns <= 16 * price_ns ? 1 : 2;
  }

  std::array<class_queue*, intervals> heads_{};
  std::uint32_t size_ = 0;
};

}  // namespace tartan::detail
