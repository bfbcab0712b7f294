#pragma once
/// A doubly linked list through its nodes, so that one in the middle can be taken out: what the papers keep their queues in.

namespace tartan::detail {

/// Of nodes with `next` and `previous`. Guarded by who keeps it.
template <class Memory, class Node>
class linked_list_of {
 public:
  [[nodiscard]] Node* front() const noexcept { return head_; }
  [[nodiscard]] Node* back() const noexcept { return tail_; }

  /// Before `at`; null: at the end.
  void insert(Node& n, Node* at) noexcept {
    Node* const previous = at != nullptr ? at->previous : tail_;
    n.next = at;
    n.previous = previous;
    if (previous != nullptr) {
      previous->next = &n;
    } else {
      head_ = &n;
    }
    if (at != nullptr) {
      at->previous = &n;
    } else {
      tail_ = &n;
    }
  }
  void push_back(Node& n) noexcept { insert(n, nullptr); }

  void remove(Node& n) noexcept {
    Node* const next = n.next;
    Node* const previous = n.previous;
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
  typename Memory::template plain<Node*> head_;
  typename Memory::template plain<Node*> tail_;
};

}  // namespace tartan::detail
