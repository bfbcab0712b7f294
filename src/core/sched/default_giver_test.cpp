// How many colors a worker with a hot one gives away, and to whom. Times are told; no worker runs.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <source_location>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/default_policy.h"
#include "core/sched/default_policy_probe.h"
#include "core/sched/scheduled.h"

namespace tartan::detail {
namespace {

constexpr std::uint64_t now_ns = 1'000'000'000;

/// Worker 0 has a hot color, which had its last turn 400 us ago; workers 1 and 2 have been watched since.
class a_worker_with_a_hot_color : public testing::Test {
 protected:
  explicit a_worker_with_a_hot_color(unsigned workers = 3) : rt{of_workers(workers)} {
    auto made = std::make_unique<scheduled<default_policy>>(rt.state());
    policy = &made->inner();
    rt.state().use(std::move(made));
    hot_turn_ended(400'000);
  }

  void hot_turn_ended(std::uint64_t ago_ns) { notes().hot_turn_ns = now_ns - ago_ns; }
  /// Gives a worker colors that wait, with so many events each.
  void let_wait(worker& at, unsigned colors, unsigned events = 1) {
    for (unsigned n = 0; n < colors; ++n) {
      ++last_color;
      for (unsigned k = 0; k < events; ++k) {
        event& e = *make_event(rt.state(), [] {}, std::source_location::current());
        policy->submit(color{last_color}, e, &at);
      }
    }
  }
  /// It has made so many turns in the 100 us for which it was watched.
  void made_turns(worker& at, unsigned turns, std::uint64_t watched_ns = 100'000) {
    glance_at(at.index) = {.turns = at.turns.get(), .since_ns = now_ns - watched_ns};
    at.turns.add(turns);
  }
  void make_room() { default_policy_probe::make_room(*policy, hot, now_ns); }
  default_policy_probe::givers_notes& notes() { return default_policy_probe::givers_notes_of(*policy, hot); }
  glance& glance_at(unsigned other) { return default_policy_probe::glance_of(*policy, hot, other); }
  [[nodiscard]] std::size_t waiting(const worker& at) const { return policy->waiting(at.index); }

  static options of_workers(unsigned workers) {
    options with;
    with.workers = workers;
    return with;
  }

  runtime rt;
  default_policy* policy = nullptr;
  worker& hot = rt.state().life().at(0);
  worker& busy = rt.state().life().at(1);
  worker& busier = rt.state().life().at(2);
  unsigned last_color = 0;
};

TEST_F(a_worker_with_a_hot_color, gives_so_many_that_both_wait_as_long) {
  let_wait(hot, 50);
  let_wait(busy, 100);
  let_wait(busier, 200);
  made_turns(busy, 50);  // 2 us each: 200 us
  made_turns(busier, 50);
  make_room();
  EXPECT_EQ(waiting(hot), 0u);  // 200 us are 100 turns of 2 us, half of which are 50
  EXPECT_EQ(waiting(busy), 150u);
  EXPECT_EQ(waiting(busier), 200u);
}

TEST_F(a_worker_with_a_hot_color, keeps_what_would_not_wait_for_less_time_elsewhere) {
  let_wait(hot, 50);
  let_wait(busy, 196);
  let_wait(busier, 196);
  made_turns(busy, 50);  // 392 us
  made_turns(busier, 50);
  make_room();
  EXPECT_EQ(waiting(hot), 50u);
  hot_turn_ended(402'000);
  made_turns(busy, 50);
  make_room();
  EXPECT_EQ(waiting(hot), 48u);  // 10 us are 5 turns, half of which are 2
}

TEST_F(a_worker_with_a_hot_color, keeps_those_that_have_a_backlog_themselves) {
  let_wait(hot, 3);
  let_wait(hot, 1, 2);
  let_wait(hot, 2);
  made_turns(busy, 50);
  made_turns(busier, 50);
  make_room();
  EXPECT_EQ(waiting(hot), 4u);  // those behind the one with two events
  EXPECT_EQ(waiting(busy), 2u);
}

TEST_F(a_worker_with_a_hot_color, gives_nothing_to_one_that_is_stuck_or_was_not_watched) {
  let_wait(hot, 10);
  made_turns(busy, 0);
  made_turns(busier, 50, 19'999);
  make_room();
  EXPECT_EQ(waiting(hot), 10u);
}

TEST_F(a_worker_with_a_hot_color, gives_nothing_in_its_first_turn) {
  hot_turn_ended(4'000'001);
  let_wait(hot, 10);
  made_turns(busy, 50);
  made_turns(busier, 50);
  make_room();
  EXPECT_EQ(waiting(hot), 10u);
}

TEST_F(a_worker_with_a_hot_color, finds_what_it_gave_away_again_by_the_other_ones_chain) {
  let_wait(hot, 10);
  made_turns(busy, 50);
  made_turns(busier, 50);
  make_room();
  EXPECT_EQ(waiting(busy), 10u);
  EXPECT_EQ(policy->drop_all(), 10u);
}

/// Worker 0 has a long line, in which a turn takes 10 us, as in those of the others.
class a_worker_with_a_long_line : public a_worker_with_a_hot_color {
 protected:
  using a_worker_with_a_hot_color::a_worker_with_a_hot_color;
  void made_own_turns(unsigned turns, std::uint64_t watched_ns) {
    notes().own = {.turns = hot.turns.get(), .since_ns = now_ns - watched_ns};
    hot.turns.add(turns);
  }
  /// The count before said so, too.
  void even_out_again() {
    notes().shorter = busy.index;
    even_out();
  }
  void even_out() { default_policy_probe::even_out(*policy, hot, now_ns); }
};

TEST_F(a_worker_with_a_long_line, gives_half_of_what_another_line_is_shorter) {
  let_wait(hot, 183);  // three segments
  let_wait(busy, 133);
  let_wait(busier, 150);
  made_own_turns(50, 500'000);
  made_turns(busy, 10);
  made_turns(busier, 10);
  even_out();
  EXPECT_EQ(waiting(hot), 183u);  // once is no proof
  made_own_turns(50, 500'000);
  made_turns(busy, 10);
  made_turns(busier, 10);
  even_out();
  EXPECT_EQ(waiting(hot), 158u);
  EXPECT_EQ(waiting(busy), 158u);
  EXPECT_EQ(waiting(busier), 150u);
}

TEST_F(a_worker_with_a_long_line, compares_by_time_and_not_by_number) {
  let_wait(hot, 200);
  let_wait(busy, 150);
  made_own_turns(50, 500'000);
  made_turns(busy, 5);  // 20 us each: 3 ms
  made_turns(busier, 10, 19'999);
  even_out_again();
  EXPECT_EQ(waiting(hot), 200u);
}

TEST_F(a_worker_with_a_long_line, gives_nothing_for_an_eighth) {
  let_wait(hot, 200);
  let_wait(busy, 176);
  let_wait(busier, 176);
  made_own_turns(50, 500'000);
  made_turns(busy, 10);
  made_turns(busier, 10);
  even_out_again();
  EXPECT_EQ(waiting(hot), 200u);
}

TEST_F(a_worker_with_a_long_line, does_so_at_intervals_that_tell_something) {
  let_wait(hot, 200);
  for (const std::uint64_t watched_ns : {std::uint64_t{499'999}, std::uint64_t{20'000'001}}) {
    made_own_turns(50, watched_ns);
    made_turns(busy, 10);
    made_turns(busier, 10);
    even_out_again();
    EXPECT_EQ(waiting(hot), 200u) << watched_ns;
  }
  EXPECT_EQ(notes().own.since_ns, now_ns);  // from here on anew
}

TEST_F(a_worker_with_a_long_line, keeps_a_line_that_takes_less_than_a_millisecond) {
  let_wait(hot, 99);
  made_own_turns(50, 500'000);
  made_turns(busy, 10);
  made_turns(busier, 10);
  even_out_again();
  EXPECT_EQ(waiting(hot), 99u);
}

TEST_F(a_worker_with_a_long_line, leaves_it_to_one_that_sleeps_what_it_takes) {
  let_wait(hot, 183);
  let_wait(busier, 133);
  made_own_turns(50, 500'000);
  made_turns(busy, 0);
  made_turns(busier, 10);
  auto& sleepers = rt.state().life().sleepers();
  sleepers.search();
  sleepers.rest(busy.index);
  notes().shorter = busier.index;
  even_out();
  EXPECT_EQ(waiting(busy), 0u);
  EXPECT_EQ(waiting(hot), 158u);
  sleepers.cancel(busy.index);
  (void)sleepers.end_search();
}

TEST_F(a_worker_with_a_long_line, knows_nothing_of_one_that_was_not_looked_at_for_long) {
  let_wait(hot, 183);
  made_own_turns(50, 500'000);
  made_turns(busy, 10'000, 20'000'001);
  made_turns(busier, 0);
  even_out_again();
  EXPECT_EQ(waiting(hot), 183u);
  EXPECT_EQ(glance_at(busy.index).since_ns, now_ns);  // from here on anew
}

TEST_F(a_worker_with_a_long_line, knows_nothing_within_an_event_as_long_as_the_count) {
  let_wait(hot, 183);
  made_own_turns(0, 500'000);
  made_turns(busy, 10);
  even_out_again();
  EXPECT_EQ(waiting(hot), 183u);
}

TEST_F(a_worker_with_a_long_line, counts_anew_when_it_was_idle) {
  let_wait(hot, 183);
  made_own_turns(50, 500'000);
  (void)policy->search(hot);
  EXPECT_EQ(notes().own.since_ns, 0u);
}

/// There are eleven others, whose lines are as long.
class a_worker_with_a_long_line_among_many : public a_worker_with_a_long_line {
 protected:
  a_worker_with_a_long_line_among_many() : a_worker_with_a_long_line{12} {
    for (unsigned n = 0; n < 12; ++n) let_wait(rt.state().life().at(n), 183);
  }
  /// Whom the next comparison has looked at; each of those that are known has made ten turns in 100 us.
  std::vector<unsigned> compared(std::uint64_t known_since_ns = now_ns - 100'000) {
    made_own_turns(50, 500'000);
    for (unsigned n = 1; n < 12; ++n) {
      worker& other = rt.state().life().at(n);
      glance_at(n) = {.turns = other.turns.get(), .since_ns = known_since_ns};
      other.turns.add(n == quick ? 40 : 10);
    }
    even_out();
    std::vector<unsigned> all;
    for (unsigned n = 1; n < 12; ++n) {
      if (glance_at(n).since_ns == now_ns) all.push_back(n);
    }
    return all;
  }
  unsigned quick = 0;  ///< makes four turns where others make one, so that its line is shorter
  const std::vector<unsigned> first{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<unsigned> next{1, 2, 3, 4, 5, 9, 10, 11};
};

TEST_F(a_worker_with_a_long_line_among_many, looks_at_eight_of_them_and_then_at_the_next_ones) {
  EXPECT_EQ(compared(), first);
  EXPECT_EQ(compared(), next);
  EXPECT_EQ(compared(), (std::vector<unsigned>{1, 2, 6, 7, 8, 9, 10, 11}));
}

TEST_F(a_worker_with_a_long_line_among_many, looks_again_at_those_of_whom_one_has_a_shorter_line) {
  quick = 3;
  EXPECT_EQ(compared(), first);
  EXPECT_EQ(waiting(hot), 183u);
  EXPECT_EQ(compared(), first);
  EXPECT_GT(waiting(rt.state().life().at(3)), 183u);
  EXPECT_EQ(compared(), next) << "it has given it some";
}

TEST_F(a_worker_with_a_long_line_among_many, looks_again_at_those_of_whom_nothing_was_known) {
  EXPECT_EQ(compared(now_ns - 20'000'001), first);
  EXPECT_EQ(compared(), first);
  EXPECT_EQ(compared(), next);
}

/// Colors that post to themselves for ever, on two workers of which neither is ever idle: nobody steals.
class endless_colors {
 public:
  /// Lets those of the other worker end but for a few. Gives whether many of this one's come to it before a great many events have run.
  [[nodiscard]] bool become_even(bool stealing = true) {
    options with;
    with.stealing = stealing;
    with.workers = 2;
    with.batch = 1;  // else each would have many turns in a row
    runtime rt{with};
    for (unsigned n = 0; n < all; ++n) rt.post(color{n + 1}, [this, n] { step(n); });
    rt.run_until_idle();
    return arrived_ == enough;
  }

 private:
  static constexpr unsigned all = 2'000;
  static constexpr unsigned few = 20;
  static constexpr unsigned enough = 100;
  static constexpr unsigned most_events = 400'000;
  enum class fate : std::uint8_t { open, is_here, stays, arrived };

  void step(unsigned n) {
    for (const std::uint64_t end = real_now_ns() + 10'000; real_now_ns() < end;) real_memory::relax();  // a line of hundreds is a long one
    const unsigned done = events_.fetch_add(1);
    if (done > most_events || arrived_ == enough) return;
    if (done > 2 * all && !goes_on(fates_[n])) return;
    post(current_color(), [this, n] { step(n); });
  }

  /// Of the other worker's only a few do; and all that this one has given it.
  [[nodiscard]] bool goes_on(fate& its) {
    if (std::this_thread::get_id() == main_) {
      if (its == fate::open) its = fate::is_here;
    } else if (its == fate::open) {
      if (kept_ == few) return false;
      ++kept_;
      its = fate::stays;
    } else if (its == fate::is_here) {
      its = fate::arrived;
      ++arrived_;
    }
    return true;
  }

  const std::thread::id main_ = std::this_thread::get_id();
  std::atomic<unsigned> events_{0};
  std::vector<fate> fates_ = std::vector<fate>(all);  ///< each its color's
  unsigned kept_ = 0;                                 ///< the other worker's
  std::atomic<unsigned> arrived_{0};
};

TEST(long_lines, become_shorter_for_others_while_nobody_is_idle) { EXPECT_TRUE(endless_colors{}.become_even()); }

TEST(long_lines, stay_as_they_are_without_stealing) { EXPECT_FALSE(endless_colors{}.become_even(false)); }

}  // namespace
}  // namespace tartan::detail
