// A coroutine in a line: who takes it out, who cancels it, its destructor and the line's; docs/design/posting-gates.md, the doors.

#include "core/waiter_state.h"

#include <gtest/gtest.h>

#include "model_memory.h"
#include "program.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

// What a line's lock gives: exclusion, and that what was done inside happens before the next entry.
class line_lock {
 public:
  void lock() {
    while (held_.exchange(1, std::memory_order_acquire) != 0) model_memory::pause();  // pairs with unlock
  }
  void unlock() { held_.store(0, std::memory_order_release); }  // pairs with lock

 private:
  model_atomic<int> held_{0, "line lock"};
};

template <class Memory>
struct small_line;

// As waiter.
template <class Memory>
struct small_waiter {
  using state = detail::waiter_state<Memory>;

  state word;
  model_plain<small_line<Memory>*> line{nullptr, "line of waiter"};
  ghost<int> served{0, "times served"};
  ghost<int> left{0, "times left"};

  /// As waiter::leave: by a cancellation in its color, or by its destructor.
  bool leave() {
    if (!word.claim(state::ended)) return false;
    small_line<Memory>& in = *line.get();  // there is somebody in it, so it exists
    in.lock.lock();
    in.unlink(*this);
    in.lock.unlock();
    left = left + 1;
    return true;
  }
  /// As ~waiter, and the end of the frame that it lies in.
  void die() {
    if (!word.has_ended() && !leave()) {
      while (!word.has_ended()) Memory::pause();
    }
    poison(*this);
  }
};

// As waiting_line, with room for one.
template <class Memory>
struct small_line {
  using waiter = small_waiter<Memory>;
  using state = typename waiter::state;

  line_lock lock;
  model_plain<waiter*> first{nullptr, "first of line"};
  model_atomic<int> unlinked{0, "unlinked"};  ///< not the real one's: orders nothing, and lets the checker wait

  void join(waiter& one) {
    one.line = this;
    first = &one;
  }
  void unlink(waiter& one) {
    check(first == &one, "who has claimed a waiter finds it in the line");
    first = nullptr;
    unlinked.store(1, std::memory_order_relaxed);
  }
  /// As take_first, for a runtime that goes on: then complete.
  void serve() {
    lock.lock();
    waiter* const one = first;
    const bool mine = one != nullptr && one->word.claim(state::ended);
    if (mine) unlink(*one);
    lock.unlock();
    if (mine) one->served = one->served + 1;  // complete() is its last touch; then the coroutine goes on
  }
  /// As let_go, under the lock.
  void let_go(waiter& one) {
    if (!one.word.claim(state::going)) return;
    unlink(one);
    one.word.end();
  }
  /// As take_first, for a runtime that is over.
  void pass_over() {
    lock.lock();
    if (waiter* const one = first) let_go(*one);
    lock.unlock();
  }
  /// As ~waiting_line, and the end of the channel that it lies in.
  void die() {
    for (bool empty = false; !empty;) {
      lock.lock();
      if (waiter* const one = first) let_go(*one);
      empty = first == nullptr;
      lock.unlock();
      while (!empty && unlinked.load(std::memory_order_relaxed) == 0) Memory::pause();  // as many turns as it takes
    }
    poison(*this);
  }
};

template <class Memory>
struct place {
  explicit place(program& p) : line{p.make<small_line<Memory>>()}, one{p.make<small_waiter<Memory>>()} { line->join(*one); }
  small_line<Memory>* line;
  small_waiter<Memory>* one;
};

// The runtime goes on: who serves the line meets a cancellation. One of both ends the wait.
template <class Memory>
result served_and_canceled(const options& bounds) {
  return explore(bounds, [](program& p) {
    const place<Memory> t{p};
    p.thread("server", [l = t.line] { l->serve(); });
    p.thread("color", [w = t.one] { (void)w->leave(); });
    p.finally([w = t.one, l = t.line] {
      check(w->served + w->left == 1, "a wait is ended once");
      check(l->first == nullptr, "who was ended is not in the line any more");
    });
  });
}

TEST(waiter_state, is_ended_once_by_who_serves_or_by_who_cancels) {
  const result found = served_and_canceled<model_memory>({.name = "waiter_served_and_canceled"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// The runtime is over: it destroys the frame while somebody who serves the line passes the waiter over.
template <class Memory>
result destroyed_and_passed_over(const options& bounds) {
  return explore(bounds, [](program& p) {
    const place<Memory> t{p};
    p.thread("server", [l = t.line] { l->pass_over(); });
    p.thread("end of the runtime", [w = t.one] { w->die(); });
    p.finally([l = t.line] { check(l->first == nullptr, "nothing dangles in the line"); });
  });
}

TEST(waiter_state, lets_a_frame_go_after_the_last_touch_of_who_let_its_waiter_go) {
  const result found = destroyed_and_passed_over<model_memory>({.name = "waiter_destroyed_and_passed_over"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// The same, and the channel is destroyed by one who has nothing to do with the runtime.
template <class Memory>
result both_destroyed(const options& bounds) {
  return explore(bounds, [](program& p) {
    const place<Memory> t{p};
    p.thread("owner of the channel", [l = t.line] { l->die(); });
    p.thread("end of the runtime", [w = t.one] { w->die(); });
  });
}

TEST(waiter_state, may_be_destroyed_together_with_the_line) {
  const result found = both_destroyed<model_memory>({.name = "waiter_and_line_destroyed"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// All three: who passes it over, the end of its runtime, and then the end of the channel by the first.
template <class Memory>
result passed_over_then_destroyed(const options& bounds) {
  return explore(bounds, [](program& p) {
    const place<Memory> t{p};
    p.thread("owner of the channel", [l = t.line] {
      l->pass_over();
      l->die();
    });
    p.thread("end of the runtime", [w = t.one] { w->die(); });
  });
}

TEST(waiter_state, needs_no_line_once_it_was_let_go) {
  const result found = passed_over_then_destroyed<model_memory>({.name = "waiter_passed_over_then_line_destroyed"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(waiter_state, needs_its_orders) {
  EXPECT_FALSE(destroyed_and_passed_over<without_order>({.name = "waiter_destroyed_relaxed"}).passed);
  EXPECT_FALSE(both_destroyed<without_order>({.name = "waiter_both_destroyed_relaxed"}).passed);
}

}  // namespace
}  // namespace tartan::model
