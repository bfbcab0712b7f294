#pragma once
/// The queue of libasync-mp and libasync-smp: CPU callbacks left, I/O callbacks right.

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/sched/papers/task.h"

namespace tartan::detail {

/// A doubly linked list with two places for insertion: the end of its left part, and its end.
///
/// Source: libasync-mp, chapter 4 (a callback that is ready to compute goes before those that are to read from the network, which bring
/// new work). Not guarded: its owner has a lock. Cost: constant, but for walks.
class two_part_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] task* front() const noexcept { return head_; }

  /// At the end of its part.
  void append(task& t) noexcept { insert(t, t.right ? nullptr : right_); }
  /// At the left end of its part: before those of its color that came meanwhile.
  void prepend(task& t) noexcept { insert(t, t.right ? right_ : head_); }

  void remove(task& t) noexcept {
    if (right_ == &t) right_ = t.next;
    (t.previous != nullptr ? t.previous->next : head_) = t.next;
    (t.next != nullptr ? t.next->previous : tail_) = t.previous;
  }

 private:
  /// Before `at`; null: at the end.
  void insert(task& t, task* at) noexcept {
    t.next = at;
    t.previous = at != nullptr ? at->previous : tail_;
    (t.previous != nullptr ? t.previous->next : head_) = &t;
    (at != nullptr ? at->previous : tail_) = &t;
    if (t.right && right_ == at) right_ = &t;
  }

  task* head_ = nullptr;
  task* tail_ = nullptr;
  task* right_ = nullptr;  ///< the first of the right part
};

/// Chooses among the first tasks of a queue, by the thesis' weight: priority, and 1 more for the worker's last color; ties to the left.
///
/// Of each color only the first task counts, so that no weight reorders a color (contract 8); a later one counts as looked at.
class weighed_pick {
 public:
  static constexpr std::size_t most = 64;

  weighed_pick(unsigned first, std::uint64_t last_color) noexcept : left_{first}, last_color_{last_color} {}

  /// Shows the next task that may run, from the left. Gives whether there is need for more.
  bool show(task& t) noexcept {
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
  [[nodiscard]] task* best() const noexcept { return best_; }
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
  task* best_ = nullptr;
  std::array<std::uint64_t, most> known_;
  std::size_t count_ = 0;
};

}  // namespace tartan::detail
