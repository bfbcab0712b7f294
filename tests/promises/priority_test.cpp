// Contract 8: priority is a hint between colors. The default scheduler's levels, on one worker, where the order shows.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tartan/core/event_batch.h>
#include <tartan/core/hints.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>

#include "tests/still_clock.h"

namespace tartan {
namespace {

options one_worker() {
  options with;
  with.workers = 1;
  with.scheduler = "default";
  return with;
}

/// Writes a letter.
struct note {
  std::string* into;
  char letter;
  void operator()() const { *into += letter; }
};

TEST(priority, goes_first_between_colors) {
  runtime rt{one_worker()};
  std::string ran;
  rt.post(color{1}, [&] {
    post(color{2}, note{&ran, 'n'});
    post(color{3}, with_hints({.priority = 1}, note{&ran, 'a'}));
    post(color{4}, with_hints({.priority = 3}, note{&ran, 'c'}));
    post(color{5}, with_hints({.priority = 2}, note{&ran, 'b'}));
    post(color{6}, with_hints({.priority = 200}, note{&ran, 'C'}));
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "cCban");
}

TEST(priority, never_reorders_one_color) {
  runtime rt{one_worker()};
  std::string ran;
  rt.post(color{1}, [&] {
    post(color{2}, note{&ran, '1'});
    post(color{2}, with_hints({.priority = 3}, note{&ran, '2'}));
    post(color{2}, note{&ran, '3'});
    post(color{3}, with_hints({.priority = 1}, note{&ran, 'x'}));
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "x123");
}

TEST(priority, is_that_of_the_next_event_once_the_color_has_had_its_turn) {
  options with = one_worker();
  with.batch = 1;
  runtime rt{with};
  std::string ran;
  rt.post(color{1}, [&] {
    post(color{2}, note{&ran, '1'});
    post(color{2}, with_hints({.priority = 3}, note{&ran, '2'}));
    post(color{2}, note{&ran, '3'});
    for (const char letter : {'x', 'y'}) post(color{static_cast<unsigned>(letter)}, note{&ran, letter});
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "12xy3");
}

TEST(priority, is_kept_by_posts_from_foreign_threads_by_strands_and_in_batches) {
  runtime rt{one_worker()};
  std::string ran;
  strand raised{rt, "raised"};
  std::thread{[&] {
    rt.post(color{2}, note{&ran, 'n'});
    raised.post(with_hints({.priority = 2}, note{&ran, 'b'}));
    rt.post(color{3}, with_hints({.priority = 3}, note{&ran, 'c'}));
    event_batch batch{rt};
    batch.add(color{4}, with_hints({.priority = 1}, note{&ran, 'a'}));
    EXPECT_TRUE(rt.post(std::move(batch)));
  }}.join();
  rt.run_until_idle();
  EXPECT_EQ(ran, "cban");
}

TEST(priority, of_a_coroutine_is_that_of_its_resumptions) {
  runtime rt{one_worker()};
  std::string ran;
  const auto says = [&ran](char letter) -> task<> {
    co_await hint({.priority = 2});
    co_await yield();
    ran += letter;
  };
  spawn_in(rt, color{2}, says, 'h');
  rt.post(color{1}, [&] {
    post(color{3}, [&] { post(color{4}, note{&ran, 'n'}); });
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "hn");
}

// Whoever always has something urgent to do still lets the others have one turn in 48.
TEST(priority, passes_by_nobody_for_ever) {
  runtime rt{one_worker()};
  bool other_ran = false;
  unsigned picks = 0;
  std::function<void(unsigned)> urgent = [&](unsigned self) {
    ++picks;
    if (other_ran || picks > 1000) return;
    post(color{2 + (self + 1) % 2}, with_hints({.priority = 3}, [&urgent, self] { urgent((self + 1) % 2); }));
  };
  rt.post(color{1}, [&] {
    post(color{2}, with_hints({.priority = 3}, [&] { urgent(0); }));
    post(color{9}, [&] { other_ran = true; });
  });
  rt.run_until_idle();
  EXPECT_TRUE(other_ran);
  EXPECT_LE(picks, 48u);
}

// Two colors of which one always waits, so that something more urgent than a look is there all the time.
unsigned events_between_looks(unsigned poll_priority) {
  test::still_poller clock;
  options with = one_worker();
  with.poller = &clock;
  with.poll_priority = poll_priority;
  runtime rt{with};
  unsigned served = 0;
  unsigned first = 0;
  unsigned second = 0;
  std::uint64_t looks = 0;
  std::function<void(unsigned)> urgent = [&](unsigned self) {
    ++served;
    if (clock.harvests() != looks) {
      looks = clock.harvests();
      first = std::exchange(second, served);
      if (first > 1) return;
    }
    post(color{2 + self}, with_hints({.priority = 2}, [&urgent, self] { urgent(self); }));
  };
  rt.post(color{1}, [&] {
    looks = clock.harvests();
    for (unsigned self = 0; self < 2; ++self) post(color{2 + self}, with_hints({.priority = 2}, [&urgent, self] { urgent(self); }));
  });
  rt.run_until_idle();
  return second - first;
}

TEST(priority, of_looking_outside_lets_it_wait_for_what_is_more_urgent_but_not_for_ever) {
  EXPECT_NEAR(events_between_looks(3), 64, 16);
  EXPECT_NEAR(events_between_looks(2), 64, 16);
  EXPECT_NEAR(events_between_looks(1), 64 * 16, 64);
  EXPECT_NEAR(events_between_looks(0), 64 * 16, 64);
}

}  // namespace
}  // namespace tartan
