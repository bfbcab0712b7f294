#pragma once
/// Timers that were taken out of the wheels, in the order in which they are to be posted.

#include <cstddef>
#include <tartan/time/timer_node.h>

namespace tartan::detail {

/// A first-in-first-out list of nodes, linked by links.next; owns nothing.
class due_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void push_back(timer_node& node) noexcept {
    node.links.next = nullptr;
    (tail_ == nullptr ? head_ : tail_->links.next) = &node;
    tail_ = &node;
    ++size_;
  }

  /// The list must not be empty.
  timer_node& pop_front() noexcept {
    timer_node& node = *head_;
    head_ = node.links.next;
    if (head_ == nullptr) tail_ = nullptr;
    --size_;
    return node;
  }

  /// By deadline, then by sequence.
  ///
  /// Cost: needs no memory; one comparison per node where runs are long, as they are when a wheel is emptied slot by slot.
  void sort() noexcept;

 private:
  timer_node* head_ = nullptr;
  timer_node* tail_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tartan::detail
