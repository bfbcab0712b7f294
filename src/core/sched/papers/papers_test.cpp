// What each of the papers' schedulers does otherwise than the default, in the order in which a few events run.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <tartan/core/hints.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <thread>
#include <vector>

#include "core/sched/papers/input_fixture.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class papers : public test::leaves_nothing {
 protected:
  static options with(std::string scheduler, unsigned workers = 1) {
    options made;
    made.scheduler = std::move(scheduler);
    made.workers = workers;
    made.stall_after = 0ns;
    return made;
  }

  /// Notes that it has run.
  auto note(char name) {
    return [this, name] { seen += name; };
  }

  std::string seen;
};

TEST_F(papers, serial_runs_all_colors_in_the_order_of_posts) {
  runtime rt{with("serial")};
  for (const char name : {'a', 'b', 'c'}) rt.post(color{static_cast<unsigned>(name % 2)}, note(name));
  rt.post(color::unordered, note('d'));
  rt.run_until_idle();
  EXPECT_EQ(seen, "abcd");
}

TEST_F(papers, serial_runs_what_another_thread_posted_before_what_is_posted_after_that) {
  runtime rt{with("serial")};
  rt.post(color{1}, [&] {
    std::thread{[&] { rt.post(color{1}, note('a')); }}.join();
    rt.post(color{1}, note('b'));
  });
  rt.run_until_idle();
  EXPECT_EQ(seen, "ab");
}

TEST_F(papers, shared_queue_and_per_worker_prefer_the_last_color_among_the_first_few) {
  for (const char* const name : {"shared_queue", "per_worker"}) {
    seen.clear();
    runtime rt{with(name)};
    for (const char each : {'a', 'b', 'c', 'A', 'B', 'C'}) rt.post(color{static_cast<unsigned>(each | 0x20)}, note(each));
    rt.run_until_idle();
    EXPECT_EQ(seen, "aAbBcC") << name;
  }
}

TEST_F(papers, shared_queue_and_per_worker_look_at_as_many_as_they_are_told) {
  for (const char* const name : {"shared_queue:first=1", "per_worker:first=1"}) {
    seen.clear();
    runtime rt{with(name)};
    for (const char each : {'a', 'b', 'A', 'B'}) rt.post(color{static_cast<unsigned>(each | 0x20)}, note(each));
    rt.run_until_idle();
    EXPECT_EQ(seen, "abAB") << name;
  }
}

TEST_F(papers, shared_queue_and_per_worker_run_computation_before_input_but_not_within_a_color) {
  for (const char* const name : {"shared_queue:first=1", "per_worker:first=1"}) {
    seen.clear();
    runtime rt{with(name)};
    test::post_input(rt, color{1}, note('1'));
    rt.post(color{2}, note('2'));
    test::post_input(rt, color{3}, note('3'));
    rt.post(color{1}, note('4'));  // may not overtake the first
    rt.post(color{5}, note('5'));
    rt.run_until_idle();
    EXPECT_EQ(seen, "25134") << name;
  }
}

TEST_F(papers, shared_queue_and_per_worker_go_by_priority_between_colors_only) {
  for (const char* const name : {"shared_queue", "per_worker"}) {
    seen.clear();
    runtime rt{with(name)};
    rt.post(color{1}, note('a'));
    rt.post(color{1}, with_hints({.priority = 9}, note('b')));
    rt.post(color{2}, with_hints({.priority = 1}, note('c')));
    rt.run_until_idle();
    EXPECT_EQ(seen, "cab") << name;
  }
}

TEST_F(papers, shared_queue_takes_the_most_frequent_color_first_if_it_is_asked_to) {
  runtime rt{with("shared_queue:most-frequent")};
  for (const char each : {'a', 'b', 'c', 'B', 'C', 'C'}) rt.post(color{static_cast<unsigned>(each | 0x20)}, note(each));
  rt.post(color{1}, with_hints({.priority = 1}, note('1')));
  rt.run_until_idle();
  EXPECT_EQ(seen, "1cbCaBC");  // after the first 'c' two colors have two tasks, and b has had them for longer
}

TEST_F(papers, color_queues_runs_ten_events_of_a_color_and_goes_on_to_the_next) {
  runtime rt{with("color_queues")};
  for (int n = 0; n < 12; ++n) rt.post(color{1}, note('a'));
  rt.post(color{2}, note('b'));
  rt.run_until_idle();
  EXPECT_EQ(seen, "aaaaaaaaaabaa");
}

/// Events that note who they are, and one on worker 0 that waits until one of them has run: somebody has stolen it then.
class thieves : public papers {
 protected:
  static options with(std::string scheduler, unsigned workers) {
    options made = papers::with(std::move(scheduler), workers);
    made.pin_default_color = true;
    return made;
  }
  /// Where no thief can have it from.
  void keep_first_worker(runtime& rt) {
    rt.post(color{}, [&] { test::spin_until([&] { return ran.load() != 0; }); });
  }
  auto first(unsigned name) {
    return [this, name] {
      unsigned none = 0;
      ran.compare_exchange_strong(none, name);
    };
  }
  std::atomic<unsigned> ran{0};
};

/// With two workers even colors are at home on worker 0; the one that keeps it is there too.
TEST_F(thieves, of_per_worker_take_the_first_color_that_has_less_than_half) {
  runtime rt{with("per_worker", 2)};
  keep_first_worker(rt);
  for (int n = 0; n < 4; ++n) rt.post(color{4}, first(4));
  for (const unsigned c : {6u, 8u, 10u}) rt.post(color{c}, first(c));
  rt.run_until_idle();
  EXPECT_EQ(ran.load(), 6u);
  EXPECT_GE(rt.counters().steals, 1u);
}

TEST_F(thieves, of_per_worker_take_all_colors_of_a_class) {
  runtime rt{with("per_worker", 2)};
  std::atomic<unsigned> of_class{0};
  unsigned inside = 0;  // one class runs on one worker: not guarded
  const auto visit = [&] {
    EXPECT_EQ(++inside, 1u);
    of_class.fetch_add(1);
    --inside;
  };
  rt.post(color{}, [&] { test::spin_until([&] { return of_class.load() == 4; }); });
  for (const unsigned c : {4u, 4u + 1024, 4u, 4u + 2048}) rt.post(color{c}, visit);
  for (const unsigned c : {6u, 6u, 8u, 8u, 10u, 10u}) rt.post(color{c}, [] {});
  rt.run_until_idle();
  EXPECT_EQ(of_class.load(), 4u);
}

TEST_F(thieves, of_color_queues_without_heuristics_take_the_first_that_has_less_than_half) {
  runtime rt{with("color_queues:base", 2)};
  keep_first_worker(rt);
  rt.post(color{4}, first(4));
  for (int n = 0; n < 5; ++n) rt.post(color{6}, with_hints({.cost = 1ms}, first(6)));
  rt.run_until_idle();
  EXPECT_EQ(ran.load(), 4u);
}

TEST_F(thieves, of_color_queues_take_what_is_worth_it_by_its_time) {
  runtime rt{with("color_queues:time-left", 2)};
  keep_first_worker(rt);
  rt.post(color{4}, first(4));
  for (int n = 0; n < 5; ++n) rt.post(color{6}, with_hints({.cost = 1ms}, first(6)));
  rt.post(color{8}, with_hints({.cost = 4us}, first(8)));
  rt.run_until_idle();
  EXPECT_EQ(ran.load(), 6u);
}

TEST_F(thieves, of_color_queues_leave_what_is_penalized) {
  for (const bool penalty : {false, true}) {
    ran = 0;
    runtime rt{with(penalty ? "color_queues:penalty" : "color_queues:time-left", 2)};
    keep_first_worker(rt);
    rt.post(color{4}, with_hints({.cost = 1ms, .penalty = 1000}, first(4)));
    rt.post(color{6}, with_hints({.cost = 20us}, first(6)));
    rt.run_until_idle();
    EXPECT_EQ(ran.load(), penalty ? 6u : 4u);
  }
}

TEST_F(thieves, do_not_come_where_they_are_not_wanted) {
  for (const char* const name : {"per_worker:no-stealing", "color_queues:no-stealing"}) {
    runtime rt{with(name, 2)};
    for (unsigned n = 0; n < 2000; ++n) rt.post(color{2 * (n % 50)}, [] {});
    rt.run_until_idle();
    EXPECT_EQ(rt.counters().steals, 0u) << name;
  }
}

class all_papers : public papers, public testing::WithParamInterface<const char*> {};

TEST_P(all_papers, run_what_was_posted_while_nobody_ran) {
  runtime rt{with(GetParam(), 3)};
  for (unsigned round = 0; round < 50; ++round) {
    std::atomic<unsigned> ran{0};
    for (unsigned c = 0; c < 7; ++c) rt.post(color{c}, [&] { ran.fetch_add(1); });
    rt.run_until_idle();
    EXPECT_EQ(ran.load(), 7u);
  }
}

TEST_P(all_papers, count_what_is_dropped) {
  runtime rt{with(GetParam(), 2)};
  for (unsigned c = 0; c < 9; ++c) rt.post(color{c % 4}, [] {});
  rt.post(color::unordered, [] {});
  EXPECT_EQ(rt.drain(0ns).destroyed, 10u);
}

/// Colors that all have one home, posted to by each other and from outside while thieves come for them.
class moving_colors : public papers, public testing::WithParamInterface<const char*> {
 protected:
  static constexpr unsigned colors = 9;
  static constexpr unsigned each = 400;

  struct alignas(64) guarded {
    std::vector<unsigned> next = std::vector<unsigned>(colors + 2);  ///< of each poster, what comes next
    bool inside = false;
  };

  /// The n-th event that this poster sends there.
  auto visit(unsigned to, unsigned poster, unsigned n) {
    return with_hints({.cost = 100us}, [this, to, poster, n] {
      guarded& g = all[to];
      if (g.inside || g.next[poster] != n) wrong = true;
      g.inside = true;
      ++g.next[poster];
      std::this_thread::yield();
      g.inside = false;
    });
  }
  static color home(unsigned which, unsigned workers) { return color{(which + 1) * workers}; }

  std::array<guarded, colors> all;
  std::atomic<bool> wrong{false};
};

TEST_P(moving_colors, keep_their_order_and_run_one_event_at_a_time) {
  constexpr unsigned workers = 3;
  runtime rt{with(GetParam(), workers)};
  std::vector<std::thread> outside;
  for (unsigned t = 0; t < 2; ++t) {
    outside.emplace_back([&, t] {
      for (unsigned n = 0; n < each; ++n) {
        for (unsigned to = 0; to < colors; ++to) rt.post(home(to, workers), visit(to, colors + t, n));
      }
    });
  }
  for (unsigned from = 0; from < colors; ++from) {
    rt.spawn_in(home(from, workers), [this, from]() -> task<> {
      for (unsigned n = 0; n < each; ++n) {
        const unsigned to = (from + n) % colors;
        post(home(to, workers), visit(to, from, n / colors));
        co_await yield();
      }
    });
  }
  rt.run_for(2ms);
  for (std::thread& t : outside) t.join();
  rt.run_until_idle();
  EXPECT_FALSE(wrong);
  const bool has_thieves = !std::string_view{GetParam()}.starts_with("shared_queue");
  EXPECT_EQ(rt.counters().steals != 0, has_thieves);
}

INSTANTIATE_TEST_SUITE_P(with, moving_colors, testing::Values("shared_queue", "shared_queue:most-frequent", "per_worker", "color_queues:base",
                                         "color_queues:time-left", "color_queues:measured-penalty", "color_queues"),
                         [](const testing::TestParamInfo<const char*>& each) {
                           std::string name{each.param};
                           std::replace_if(name.begin(), name.end(), [](char c) { return c == ':' || c == '-'; }, '_');
                           return name;
                         });

INSTANTIATE_TEST_SUITE_P(schedulers, all_papers, testing::Values("serial", "shared_queue", "per_worker", "color_queues"),
                         [](const testing::TestParamInfo<const char*>& each) { return std::string{each.param}; });

}  // namespace
}  // namespace tartan
