// The explorer itself: what it counts, where it stops, and that a failure can be played again.

#include "explorer.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "model_memory.h"
#include "program.h"
#include "waiting.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

// `threads` threads of `steps` increments each, of one word or of one word each.
result count_up(options bounds, unsigned threads, int steps, bool same_word) {
  return explore(bounds, [=](program& p) {
    auto* words = p.make<std::array<model_atomic<int>, 3>>();
    for (unsigned thread = 0; thread < threads; ++thread) {
      p.thread("T" + std::to_string(thread + 1), [=] {
        for (int step = 0; step < steps; ++step) {
          (*words)[same_word ? 0 : thread].fetch_add(1, relaxed);
        }
      });
    }
    p.finally([=] {
      int sum = 0;
      for (const auto& word : *words) {
        sum += word.load(relaxed);
      }
      check(sum == steps * static_cast<int>(threads), "no increment is lost");
    });
  });
}

TEST(explorer, without_merging_runs_every_interleaving_once) {
  const result found = count_up({.name = "interleavings", .merge_states = false}, 2, 4, true);
  EXPECT_TRUE(found.proved());
  EXPECT_EQ(found.executions, 70u);  // 8 over 4
}

TEST(explorer, merges_states_that_independent_steps_reach_in_any_order) {
  const result found = count_up({.name = "independent"}, 3, 4, false);
  EXPECT_TRUE(found.proved());
  EXPECT_EQ(found.states, 5u * 5 * 5 - 1);  // the last of them, where all have ended, offers no choice
}

TEST(explorer, says_when_it_stopped_at_the_maximum_of_executions) {
  const result found = count_up({.name = "stopped", .max_executions = 10}, 3, 4, true);
  EXPECT_TRUE(found.passed);
  EXPECT_FALSE(found.complete);
  EXPECT_FALSE(found.proved());
  EXPECT_EQ(found.executions, 10u);
}

TEST(explorer, says_when_the_preemption_bound_left_something_out) {
  const result none = count_up({.name = "no_preemption", .preemption_bound = 0, .merge_states = false}, 3, 4, true);
  EXPECT_EQ(none.executions, 6u);  // orders of three threads
  EXPECT_TRUE(none.preemption_bound_hit);
  const result enough = count_up({.name = "enough_preemptions", .preemption_bound = 8}, 2, 4, true);
  EXPECT_TRUE(enough.proved());
  EXPECT_FALSE(enough.preemption_bound_hit);
}

TEST(explorer, finds_with_one_preemption_what_none_hides) {
  const auto lost_update = [](int bound) {
    return explore({.name = "lost_update", .preemption_bound = bound, .reorder_stores = false}, [](program& p) {
      auto* word = p.make<model_atomic<int>>(0, "word");
      for (const char* thread : {"first", "second"}) {
        p.thread(thread, [=] { word->store(word->load(seq_cst) + 1, seq_cst); });
      }
      p.finally([=] { check(word->load(relaxed) == 2, "no update is lost"); });
    });
  };
  EXPECT_TRUE(lost_update(0).passed);
  EXPECT_FALSE(lost_update(1).passed);
}

TEST(explorer, forgets_no_shared_variable_of_the_test) {
  const auto see = [](unsigned wanted) {
    return explore({.name = "ghosts"}, [=](program& p) {
      auto* log = p.make<ghost<unsigned>>(0U, "log");
      for (unsigned thread = 1; thread <= 3; ++thread) {
        p.thread("T" + std::to_string(thread), [=] {
          yield_point();
          *log = *log * 10 + thread;
        });
      }
      p.finally([=] { check(*log != wanted, "not this order"); });
    });
  };
  for (const unsigned order : {123U, 132U, 213U, 231U, 312U, 321U}) {
    EXPECT_FALSE(see(order).passed) << order;
  }
  EXPECT_TRUE(see(111).proved());
}

// Threads that take turns at a word, with a past that does not matter to what they do next.
TEST(explorer, merges_the_turns_of_a_loop_that_forgets_its_past) {
  const auto take_turns = [](const char* name, bool forgetful) {
    return explore({.name = name}, [=](program& p) {
      auto* word = p.make<model_atomic<unsigned>>(0U, "word");
      for (unsigned thread = 1; thread <= 3; ++thread) {
        p.thread("T" + std::to_string(thread), [=] {
          for (unsigned turn = 0; turn < 3; ++turn) {
            word->exchange(thread, relaxed);
            if (forgetful) forget(turn);
          }
        });
      }
    });
  };
  const result all = take_turns("remembering", false);
  const result merged = take_turns("forgetting", true);
  EXPECT_TRUE(all.proved());
  EXPECT_TRUE(merged.proved());
  EXPECT_LT(merged.states * 2, all.states);
}

TEST(explorer, forgetting_hides_no_fault) {
  const result found = explore({.name = "forgetting_loop"}, [](program& p) {
    auto* word = p.make<model_atomic<int>>(0, "word");
    for (const char* thread : {"first", "second"}) {
      p.thread(thread, [=] {
        for (unsigned turn = 0; turn < 2; ++turn) {
          forget(turn);
          word->store(word->load(relaxed) + 1, relaxed);
        }
      });
    }
    p.finally([=] { check(word->load(relaxed) == 4, "no increment is lost"); });
  });
  EXPECT_EQ(found.failure, "broken: no increment is lost");
}

TEST(explorer, tries_every_value_of_a_choice) {
  for (unsigned value = 0; value < 3; ++value) {
    const result found = explore({.name = "choice"}, [=](program& p) {
      p.thread("chooser", [=] { check(choose(3) != value, "not this value"); });
    });
    EXPECT_FALSE(found.passed) << value;
  }
}

TEST(explorer, reports_an_exception_that_leaves_a_thread) {
  const result found = explore(
      {.name = "thrown"}, [](program& p) { p.thread("thrower", [] { throw std::runtime_error("out of luck"); }); });
  EXPECT_EQ(found.failure, "an exception left the thread: out of luck");
}

TEST(explorer, notices_a_program_that_depends_on_something_else) {
  int runs = 0;
  const result found = explore({.name = "not_deterministic", .merge_states = false}, [&](program& p) {
    auto* word = p.make<model_atomic<int>>(0, "word");
    ++runs;
    p.thread("one", [=] { word->fetch_add(1, relaxed); });
    p.thread("two", [=] {
      if (runs % 2 == 0) word->store(5, relaxed);
      word->fetch_add(1, relaxed);
    });
    p.thread("three", [=] { word->fetch_add(1, relaxed); });
  });
  EXPECT_FALSE(found.passed);
}

void message_passing(program& p) {
  auto* data = p.make<model_atomic<int>>(0, "data");
  auto* flag = p.make<model_atomic<int>>(0, "flag");
  p.thread("writer", [=] {
    data->store(1, relaxed);
    flag->store(1, relaxed);
  });
  p.thread("reader", [=] {
    if (flag->load(acquire) == 1) {
      check(data->load(relaxed) == 1, "data arrives with the flag");
    }
  });
}

TEST(report, tells_every_step_with_thread_operation_and_value) {
  const result found = explore({.name = "mp"}, message_passing);
  EXPECT_EQ(found.report,
            "broken: data arrives with the flag\n"
            "   2 writer: store data relaxed := 1\n"
            "   3 writer: store flag relaxed := 1\n"
            "   3 writer: ends\n"
            "   3 reader: load flag acquire = 1 (by writer)\n"
            "   4 reader: load data relaxed = 0 (by main, stale)\n"
            "   4 reader: FAILED: broken: data arrives with the flag\n"
            "replay: TARTAN_MODEL_REPLAY='mp:0,0,0,1'\n");
}

TEST(report, can_be_played_again) {
  const result found = explore({.name = "mp"}, message_passing);
  const std::string start = "TARTAN_MODEL_REPLAY='";
  const std::size_t at = found.report.find(start) + start.size();
  const std::string value = found.report.substr(at, found.report.find('\'', at) - at);
  ASSERT_EQ(::setenv("TARTAN_MODEL_REPLAY", value.c_str(), 1), 0);
  const result again = explore({.name = "mp"}, message_passing);
  const result other = explore({.name = "other"}, message_passing);
  ASSERT_EQ(::unsetenv("TARTAN_MODEL_REPLAY"), 0);
  EXPECT_EQ(again.report, found.report);
  EXPECT_EQ(again.executions, 0u);
  EXPECT_GT(other.executions, 1u);
}

}  // namespace
}  // namespace tartan::model
