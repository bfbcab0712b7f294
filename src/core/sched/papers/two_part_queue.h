#pragma once
/// The queue of libasync-mp and libasync-smp: CPU callbacks left, I/O callbacks right.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tartan/core/color.h>

#include "core/memory.h"
#include "core/sched/papers/linked_list.h"
#include "core/sched/papers/task.h"

namespace tartan::detail {

/// A doubly linked list with two places for insertion: the end of its left part, and its end.
///
/// Source: libasync-mp, chapter 4 (a callback that is ready to compute goes before those that are to read from the network, which bring
/// new work). Not guarded: its owner has a lock. Cost: constant, but for walks.
template <class Memory, class Task>
class two_part_queue_of {
 public:
  [[nodiscard]] bool empty() const noexcept { return list_.front() == nullptr; }
  [[nodiscard]] Task* front() const noexcept { return list_.front(); }
  [[nodiscard]] Task* back() const noexcept { return list_.back(); }

  /// At the end of its part.
  void append(Task& t) noexcept { insert(t, t.right ? nullptr : static_cast<Task*>(right_)); }
  /// At the left end of its part: before those of its color that came meanwhile.
  void prepend(Task& t) noexcept { insert(t, t.right ? static_cast<Task*>(right_) : list_.front()); }

  void remove(Task& t) noexcept {
    if (right_ == &t) right_ = static_cast<Task*>(t.next);
    list_.remove(t);
  }

 private:
  /// Before `at`; null: at the end.
  void insert(Task& t, Task* at) noexcept {
    list_.insert(t, at);
    if (t.right && right_ == at) right_ = &t;
  }

  linked_list_of<Memory, Task> list_;
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
