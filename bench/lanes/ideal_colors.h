#pragma once
// The floor with colors: what is left of an event if a scheduler only keeps the order of its color.
//
// One thread runs and posts everything. There are no locks, no counters, no looks at the clock or outside, and no check
// of the memory that is left. An event of W1 takes 50 instructions, one of W3 80: a line from a stack, the callable of
// 40 bytes and the post site copied into it, the append to its color's list, a place in a ring if the color was idle,
// and the way back. A color has up to 16 events in a turn.
//
// A third of the time of W1 is not in the instructions: the callable is copied by wide loads just after single words of
// it were written, and such a load waits until the store is done. Tartan's events are copied in the same way.

#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <source_location>
#include <type_traits>
#include <vector>

#include "bench/harness/request.h"

namespace bench {

/// Lanes of one thread. Limits: as many pending events as there are lanes, beside the one that runs.
template <class Event>
class ideal_colors {
 public:
  static constexpr bool by_value = false;

  explicit ideal_colors(const lanes_setup& setup)
      : colors_(setup.lanes),
        runnable_(std::bit_ceil(setup.lanes)),
        memory_{new line[setup.lanes + 1]},
        free_(setup.lanes + 1) {
    for (std::size_t n = 0; n < free_.size(); ++n) free_[n] = &memory_[n];
    top_ = free_.data() + free_.size();
  }

  void post(std::size_t lane, const Event& e, std::source_location site = std::source_location::current()) {
    line* const made = *--top_;
    ::new (static_cast<void*>(made->storage)) Event(e);
    made->run = [](line& its) { (*std::launder(reinterpret_cast<Event*>(its.storage)))(); };
    made->site = site;
    made->next = nullptr;
    color& to = colors_[lane];
    (to.head == nullptr ? to.head : to.tail->next) = made;
    to.tail = made;
    if (to.is_runnable) return;
    to.is_runnable = true;
    append(to);
  }

  template <class F>
  void run(F start) {
    start();
    while (first_ != end_) serve(*runnable_[first_++ & (runnable_.size() - 1)]);
  }

 private:
  static constexpr unsigned turn = 16;

  /// An event as large as Tartan's.
  struct alignas(64) line {
    line* next;
    void (*run)(line&);
    std::source_location site;
    std::byte storage[40];
  };
  static_assert(sizeof(line) == 64 && sizeof(Event) <= 40 && std::is_trivially_copyable_v<Event>);

  struct alignas(64) color {
    line* head = nullptr;
    line* tail = nullptr;
    bool is_runnable = false;
  };

  void append(color& runnable) { runnable_[end_++ & (runnable_.size() - 1)] = &runnable; }

  void serve(color& of) {
    for (unsigned left = turn; left != 0 && of.head != nullptr; --left) {
      line* const first = of.head;
      of.head = first->next;
      first->run(*first);
      *top_++ = first;
    }
    if (of.head != nullptr) {
      append(of);
    } else {
      of.is_runnable = false;
    }
  }

  std::vector<color> colors_;
  std::vector<color*> runnable_;  ///< a ring, in the order of turns
  std::size_t first_ = 0;
  std::size_t end_ = 0;
  std::unique_ptr<line[]> memory_;
  std::vector<line*> free_;
  line** top_;
};

}  // namespace bench
