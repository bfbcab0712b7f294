// A pass may find a million timers, and may not fail: so no array, no allocation, but a merge sort of the list itself. A wheel
// gives its slots in order of time and each slot nearly in the order of setting; natural runs make use of that.
#include "time/due_list.h"

#include <array>

namespace tartan::detail {

namespace {

bool before(const timer_node& a, const timer_node& b) noexcept {
  return a.deadline_ns != b.deadline_ns ? a.deadline_ns < b.deadline_ns : a.links.sequence < b.links.sequence;
}

/// Cuts the longest ascending run off the front; gives its last node.
timer_node* cut_run(timer_node*& rest) noexcept {
  timer_node* last = rest;
  while (last->links.next != nullptr && !before(*last->links.next, *last)) last = last->links.next;
  rest = last->links.next;
  last->links.next = nullptr;
  return last;
}

/// Stable: `older` goes first where neither is before the other.
timer_node* merge(timer_node* older, timer_node* newer) noexcept {
  timer_node* first = nullptr;
  timer_node** end = &first;
  while (older != nullptr && newer != nullptr) {
    timer_node*& smaller = before(*newer, *older) ? newer : older;
    *end = smaller;
    end = &smaller->links.next;
    smaller = smaller->links.next;
  }
  *end = older != nullptr ? older : newer;
  return first;
}

}  // namespace

void due_list::sort() noexcept {
  // bins[i] holds 2^i runs, merged; 2^48 runs do not fit into memory
  std::array<timer_node*, 48> bins{};
  timer_node* rest = head_;
  tail_ = nullptr;
  while (rest != nullptr) {
    timer_node* run = rest;
    timer_node* const last = cut_run(rest);
    if (tail_ == nullptr || !before(*last, *tail_)) tail_ = last;
    std::size_t bin = 0;
    for (; bins[bin] != nullptr; ++bin) {
      run = merge(bins[bin], run);
      bins[bin] = nullptr;
    }
    bins[bin] = run;
  }
  head_ = nullptr;
  for (timer_node* const merged : bins) {
    if (merged != nullptr) head_ = merge(merged, head_);
  }
}

}  // namespace tartan::detail
