// Faults that are no wrong values: races on plain data, use after free, pointers that come back (ABA).

#include <gtest/gtest.h>

#include "model_memory.h"
#include "program.h"
#include "waiting.h"

namespace tartan::model {
namespace {

using enum std::memory_order;
using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

AssertionResult fails_with(const result& found, const std::string& words) {
  if (found.passed) {
    return AssertionFailure() << "passed";
  }
  if (found.failure.find(words) == std::string::npos) {
    return AssertionFailure() << "failed otherwise: " << found.report;
  }
  return AssertionSuccess();
}

struct message {
  model_plain<int> data{0, "data"};
  model_atomic<int> flag{0, "flag"};
};

result pass_message(const char* name, std::memory_order store_order, std::memory_order load_order) {
  return explore({.name = name}, [&](program& p) {
    auto* m = p.make<message>();
    p.thread("writer", [=] {
      m->data = 7;
      m->flag.store(1, store_order);
    });
    p.thread("reader", [=] {
      if (m->flag.load(load_order) == 1) {
        check(m->data == 7, "data arrives with the flag");
      }
    });
  });
}

TEST(plain_data, may_be_passed_with_release_and_acquire) {
  EXPECT_TRUE(pass_message("pass_plain", release, acquire).proved());
}

TEST(plain_data, passed_without_release_or_acquire_is_a_race) {
  EXPECT_TRUE(fails_with(pass_message("pass_plain_no_release", relaxed, acquire), "data race"));
  EXPECT_TRUE(fails_with(pass_message("pass_plain_no_acquire", release, relaxed), "data race"));
}

TEST(plain_data, is_handed_back_by_the_last_reader_and_not_before) {
  const auto hand_back = [](const char* name, std::memory_order order) {
    return explore({.name = name}, [&](program& p) {
      auto* m = p.make<message>();
      p.thread("reader", [=] {
        static_cast<void>(m->data.get());
        m->flag.fetch_add(1, order);
      });
      p.thread("writer", [=] {
        wait_until(m->flag, acquire, [](int count) { return count == 1; });
        m->data = 1;
      });
    });
  };
  EXPECT_TRUE(hand_back("hand_back", release).proved());
  EXPECT_TRUE(fails_with(hand_back("hand_back_relaxed", relaxed), "after the read by thread 1"));
}

TEST(plain_data, under_a_lock_is_safe_and_the_lock_excludes) {
  struct guarded {
    model_atomic<int> lock{0, "lock"};
    model_plain<int> count{0, "count"};
  };
  const auto count_up = [](const char* name, std::memory_order unlock_order) {
    return explore({.name = name}, [&](program& p) {
      auto* g = p.make<guarded>();
      for (const char* thread : {"first", "second", "third"}) {
        p.thread(thread, [=] {
          while (g->lock.exchange(1, acquire) != 0) {
            model_memory::pause();
          }
          g->count = g->count + 1;
          g->lock.store(0, unlock_order);
        });
      }
      p.finally([=] { check(g->count == 3, "no increment is lost"); });
    });
  };
  EXPECT_TRUE(count_up("spin_lock", release).proved());
  EXPECT_TRUE(fails_with(count_up("spin_lock_relaxed", relaxed), "data race"));
}

TEST(construction, must_happen_before_use) {
  struct root {
    model_atomic<message*> pointer{nullptr, "pointer"};
  };
  const auto publish = [](const char* name, std::memory_order order) {
    return explore({.name = name}, [&](program& p) {
      auto* r = p.make<root>();
      p.thread("maker", [=] { r->pointer.store(make<message>(), order); });
      p.thread("user", [=] {
        if (message* found = r->pointer.load(acquire)) {
          static_cast<void>(found->flag.load(relaxed));
        }
      });
    });
  };
  EXPECT_TRUE(publish("publish_release", release).proved());
  EXPECT_TRUE(fails_with(publish("publish_relaxed", relaxed), "race with construction"));
}

// The last of two users destroys; what the other did must come before.
TEST(destruction, by_the_last_owner_needs_acquire_and_release) {
  const auto drop = [](const char* name, std::memory_order order) {
    return explore({.name = name}, [&](program& p) {
      auto* m = p.make<message>();
      auto* owners = p.make<model_atomic<int>>(2, "owners");
      for (const char* thread : {"first", "second"}) {
        p.thread(thread, [=] {
          m->flag.store(1, relaxed);
          if (owners->fetch_sub(1, order) == 1) {
            destroy(m);
          }
        });
      }
    });
  };
  EXPECT_TRUE(drop("drop", acq_rel).proved());
  EXPECT_TRUE(fails_with(drop("drop_release_only", release), "use after free"));
  EXPECT_TRUE(fails_with(drop("drop_acquire_only", acquire), "use after free"));
}

// Scheduler trap: after the step that gives an object away, its giver may not look at it again.
TEST(destruction, a_use_after_giving_away_is_seen) {
  const auto give = [](const char* name, bool look_again) {
    return explore({.name = name}, [&](program& p) {
      auto* m = p.make<message>();
      p.thread("giver", [=] {
        m->flag.store(1, release);
        if (look_again) {
          static_cast<void>(m->flag.load(relaxed));
        }
      });
      p.thread("taker", [=] {
        if (m->flag.load(acquire) == 1) {
          poison(*m);
        }
      });
    });
  };
  EXPECT_TRUE(give("give_away", false).proved());
  EXPECT_TRUE(fails_with(give("give_away_and_look", true), "use after free"));
}

// A stack of nodes whose head carries a tag that every push bumps, or does not.
struct tagged_stack {
  static constexpr unsigned nobody = 0;
  static constexpr unsigned low = 7;  // three bits of index, the tag above

  explicit tagged_stack(bool bump) : step{bump ? low + 1 : 0} {}

  void push(unsigned node) {
    unsigned head = top.load(relaxed);
    do {
      next[node].store(head & low, relaxed);
    } while (!top.compare_exchange_strong(head, ((head & ~low) + step) | node, release, relaxed));
  }
  unsigned pop() {
    unsigned head = top.load(acquire);
    while ((head & low) != nobody) {
      const unsigned after = next[head & low].load(relaxed);
      if (top.compare_exchange_strong(head, (head & ~low) | after, acquire, acquire)) {
        return head & low;
      }
    }
    return nobody;
  }

  unsigned step;
  model_atomic<unsigned> top{nobody, "top"};
  std::array<model_atomic<unsigned>, 3> next;
};

result pop_twice_and_push_back(const char* name, bool bump) {
  return explore({.name = name}, [&](program& p) {
    auto* stack = p.make<tagged_stack>(bump);
    auto* taken = p.make<std::array<ghost<bool>, 3>>();
    stack->push(2);
    stack->push(1);
    const auto take = [=] {
      const unsigned node = stack->pop();
      if (node != tagged_stack::nobody) {
        check(!(*taken)[node], "a node has one owner");
        (*taken)[node] = true;
      }
      return node;
    };
    p.thread("popper", [=] { take(), take(); });
    p.thread("recycler", [=] {
      const unsigned first = take();
      take();
      if (first != tagged_stack::nobody) {
        (*taken)[first] = false;
        stack->push(first);
      }
    });
  });
}

TEST(aba, in_a_naive_stack_gives_one_node_to_two_threads) {
  EXPECT_TRUE(fails_with(pop_twice_and_push_back("aba", false), "a node has one owner"));
}

TEST(aba, is_cured_by_a_tag) {
  EXPECT_TRUE(pop_twice_and_push_back("aba_tagged", true).proved());
}

}  // namespace
}  // namespace tartan::model
