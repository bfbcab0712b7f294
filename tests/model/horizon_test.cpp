// Setting timers against the pass that expires them; docs/design/timers.md.

#include "time/horizon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>

#include "model_memory.h"
#include "program.h"

namespace tartan::model {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

/// Acquire and release, and nothing that is sequentially consistent: a store may wait while its thread loads.
struct without_total_order : model_memory {
  template <class T>
  class atomic {
    static constexpr std::memory_order weaker(std::memory_order order, std::memory_order otherwise) {
      return order == std::memory_order_seq_cst ? otherwise : order;
    }

   public:
    explicit atomic(T value, const char* name = nullptr) : inner_{value, name} {}
    [[nodiscard]] T load(std::memory_order order) const noexcept {
      return inner_.load(weaker(order, std::memory_order_acquire));
    }
    void store(T value, std::memory_order order) noexcept {
      inner_.store(value, weaker(order, std::memory_order_release));
    }
    T exchange(T value, std::memory_order order) noexcept {
      return inner_.exchange(value, weaker(order, std::memory_order_acq_rel));
    }
    [[nodiscard]] bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                                             std::memory_order failure) noexcept {
      return inner_.compare_exchange_weak(expected, desired, weaker(success, std::memory_order_acq_rel),
                                          weaker(failure, std::memory_order_acquire));
    }

   private:
    model_atomic<T> inner_;
  };
};

// Two wheels with room for one timer each, in ticks of one: what is set for 4 is due at the cut 5. Nothing was worked off yet.
template <class Memory>
struct two_wheels {
  struct home {
    detail::wheel_gate<Memory> gate;
    model_plain<std::uint64_t> deadline{never, "deadline"};
    ghost<bool> collected{false, "collected"};
    ghost<std::uint64_t> secured{never, "told to who sleeps"};
  };

  std::array<home, 2> homes;
  detail::horizon<Memory> horizon;
  ghost<std::uint64_t> missed{never, "missed"};

  void set(unsigned wheel, std::uint64_t deadline) {
    home& mine = homes[wheel];
    const std::lock_guard inside{mine.gate};
    const std::uint64_t counted = std::max(deadline, horizon.passed());
    mine.deadline = counted;
    if (mine.gate.lower(counted + 1)) horizon.lower(counted + 1);
    mine.secured = counted + 1;
  }

  void collect(home& each, std::uint64_t cut) {
    const std::lock_guard inside{each.gate};
    if (each.deadline < cut) {
      each.collected = true;
      each.deadline = never;
    }
    each.gate.settle(each.deadline == never ? never : each.deadline + 1);
  }

  void pass(std::uint64_t cut) {
    if (!horizon.open(cut)) return;
    for (home& each : homes) {
      if (!each.gate.quiet(cut)) collect(each, cut);
    }
    missed = horizon.settle(homes);
  }

  // nothing-overtaken: whatever the pass did not collect counts as later than all that it did.
  void check_not_overtaken(std::uint64_t cut) {
    for (home& each : homes) check(each.collected || each.deadline >= cut, "nothing-overtaken");
  }
  // nothing-forgotten: whoever looks at the earliest time comes in time for every timer.
  void check_not_forgotten() {
    for (home& each : homes)
      check(each.deadline == never || horizon.earliest() <= each.deadline + 1, "nothing-forgotten");
  }
};

template <class Memory>
result one_setter(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const w = p.make<two_wheels<Memory>>();
    p.thread("setter", [=] { w->set(0, 3); });
    p.thread("pass", [=] { w->pass(5); });
    p.finally([=] {
      w->check_not_overtaken(5);
      w->check_not_forgotten();
    });
  });
}

TEST(horizon, lets_no_pass_overtake_a_timer_that_is_being_set) {
  const result found = one_setter<model_memory>({.name = "overtaken"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(horizon, needs_its_order_against_overtaking) {
  EXPECT_FALSE(one_setter<without_total_order>({.name = "overtaken_acquire_release"}).passed);
}

// One due and one later, in two wheels: the later one must not be lost with the raise of the earliest time.
template <class Memory>
result two_setters(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const w = p.make<two_wheels<Memory>>();
    w->set(1, 1);
    p.thread("setter", [=] { w->set(0, 7); });
    p.thread("pass", [=] { w->pass(5); });
    p.finally([=] {
      check(w->homes[1].collected, "what was set before is collected");
      w->check_not_overtaken(5);
      w->check_not_forgotten();
    });
  });
}

TEST(horizon, forgets_no_timer_that_is_set_during_a_pass) {
  const result found = two_setters<model_memory>({.name = "forgotten"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(horizon, needs_its_order_against_forgetting) {
  EXPECT_FALSE(two_setters<without_total_order>({.name = "forgotten_acquire_release"}).passed);
}

// Setters of two wheels at once, the earlier after the later, while a pass goes by.
TEST(horizon, keeps_the_earliest_of_several_setters) {
  const result found = explore({.name = "several_setters", .preemption_bound = 3}, [](program& p) {
    auto* const w = p.make<two_wheels<model_memory>>();
    p.thread("setter", [=] { w->set(0, 9); });
    p.thread("second setter", [=] { w->set(1, 3), w->set(1, 6); });
    p.thread("pass", [=] { w->pass(2); });
    p.finally([=] { w->check_not_forgotten(); });
  });
  EXPECT_TRUE(found.proved()) << found.report;
}

// A worker that looks while the pass has not yet seen the setter may read a time that is too late: then the pass says so.
TEST(horizon, tells_of_a_time_that_was_too_late_for_a_while) {
  const result found = explore({.name = "told"}, [](program& p) {
    auto* const w = p.make<two_wheels<model_memory>>();
    auto* const seen = p.make<ghost<std::uint64_t>>(never, "read by who goes to sleep");
    auto* const looked_after_setting = p.make<ghost<bool>>(false, "looked after the setter");
    auto* const was_set = p.make<model_atomic<bool>>(false, "set");
    w->set(1, 1);
    p.thread("setter", [=] {
      w->set(0, 7);
      was_set->store(true, std::memory_order_release);
    });
    p.thread("sleeper", [=] {
      *looked_after_setting = was_set->load(std::memory_order_acquire);
      *seen = w->horizon.earliest();
    });
    p.thread("pass", [=] { w->pass(5); });
    // Who looks before the timer is set is told by the setter.
    p.finally([=] { check(!*looked_after_setting || *seen <= 8 || w->missed <= 8, "too late, and nobody says so"); });
  });
  EXPECT_TRUE(found.proved()) << found.report;
}

}  // namespace
}  // namespace tartan::model
