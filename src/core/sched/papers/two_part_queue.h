#pragma once
/// The queue of libasync-mp and libasync-smp: CPU callbacks left, I/O callbacks right.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tartan/core/color.h>

#include "core/memory.h"
#include "core/sched/papers/task.h"

namespace tartan::detail {

/// A doubly linked list with two places for insertion: the end of its left part, and its end.
///
/// Source: libasync-mp, chapter 4 (a callback that is ready to compute goes before those that are to read from the network, which bring
/// new work). Not guarded: its owner has a lock. Cost: constant, but for walks.
template <class Memory, class Task>
class two_part_queue_of {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] Task* front() const noexcept { return head_; }
  [[nodiscard]] Task* back() const noexcept { return tail_; }

  /// At the end of its part.
  void append(Task& t) noexcept { insert(t, t.right ? nullptr : static_cast<Task*>(right_)); }
  /// At the left end of its part: before those of its color that came meanwhile.
  void prepend(Task& t) noexcept { insert(t, t.right ? right_ : head_); }

  void remove(Task& t) noexcept {
    Task* const next = t.next;
    Task* const previous = t.previous;
    if (right_ == &t) right_ = next;
    if (previous != nullptr) {
      previous->next = next;
    } else {
      head_ = next;
    }
    if (next != nullptr) {
      next->previous = previous;
    } else {
      tail_ = previous;
    }
  }

 private:
  /// Before `at`; null: at the end.
  void insert(Task& t, Task* at) noexcept {
    Task* const previous = at != nullptr ? at->previous : tail_;
    t.next = at;
    t.previous = previous;
    if (previous != nullptr) {
      previous->next = &t;
    } else {
      head_ = &t;
    }
    if (at != nullptr) {
      at->previous = &t;
    } else {
      tail_ = &t;
    }
    if (t.right && right_ == at) right_ = &t;
  }

  typename Memory::template plain<Task*> head_;
  typename Memory::template plain<Task*> tail_;
  typename Memory::template plain<Task*> right_;  ///< the first of the right part
};
using two_part_queue = two_part_queue_of<real_memory, task>;

/// Chooses among the first tasks of a queue, by the thesis' weight: priority, and 1 more for the worker's last color; ties to the left.
///
/// Of each color only the first task counts, so that no weight reorders a color (contract 8); a later one counts as looked at.
template <class Task>
class weighed_pick_of {
 public:
  static constexpr std::size_t most = 64;

  weighed_pick_of(unsigned first, std::uint64_t last_color) noexcept : left_{first}, last_color_{last_color} {}

  /// Shows the next task that may run, from the left. Gives whether there is need for more.
  bool show(Task& t) noexcept {
    --left_;
    if (is_known(t.color_value)) return left_ != 0;
    known_[count_++] = t.color_value;
    const int weight = t.priority + (t.color_value == last_color_ ? 1 : 0);
    if (weight > weight_) {
      weight_ = weight;
      best_ = &t;
    }
    return left_ != 0;
  }
  [[nodiscard]] Task* best() const noexcept { return best_; }
  /// Of how many colors tasks were shown.
  [[nodiscard]] std::size_t colors() const noexcept { return count_; }

 private:
  [[nodiscard]] bool is_known(std::uint64_t color_value) const noexcept {
    if (color_value == color::unordered.value()) return false;
    for (std::size_t n = 0; n < count_; ++n) {
      if (known_[n] == color_value) return true;
    }
    return false;
  }

  unsigned left_;
  std::uint64_t last_color_;
  int weight_ = -1;
  Task* best_ = nullptr;
  std::array<std::uint64_t, most> known_;
  std::size_t count_ = 0;
};
using weighed_pick = weighed_pick_of<task>;

}  // namespace tartan::detail
