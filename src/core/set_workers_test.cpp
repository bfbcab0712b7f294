// Workers that come and go while events run: none is lost, and those of a color keep their order.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <vector>

#include "core/cpu_follower.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "tests/seed.h"
#include "tests/workers.h"

namespace tartan {
namespace {

options up_to(unsigned most, unsigned first) {
  options with;
  with.workers = first;
  with.max_workers = most;
  with.scheduler = "default";
  return with;
}

/// Events of one color, each with its number: they come in order, and one at a time.
class numbered {
 public:
  void took(int number) {
    if (inside_.exchange(true)) ++faults;
    if (number != next_) ++faults;
    next_ = number + 1;
    inside_.store(false);
  }
  [[nodiscard]] int taken() const { return next_; }
  int faults = 0;

 private:
  std::atomic<bool> inside_{false};
  int next_ = 0;  // of the color's events alone
};

class changing_workers : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(most, changing_workers, testing::Values(2u, 4u, 8u));

// Half of the colors by value, half by strand; posted from outside, and each event of a fourth of them posts the next one itself.
TEST_P(changing_workers, lose_no_event_and_keep_the_order_of_each_color) {
  constexpr int colors = 32;
  constexpr int events = 3000;
  runtime rt{up_to(GetParam(), 1)};
  std::array<numbered, colors> all;
  std::vector<strand> strands;
  for (int n = 0; n < colors / 2; ++n) strands.emplace_back(rt);
  std::atomic<int> left{colors * events};
  const auto ran = [&] {
    if (left.fetch_sub(1) == 1) rt.stop();
  };
  std::function<void(std::size_t, int)> chain = [&](std::size_t at, int number) {
    all[at].took(number);
    if (number + 1 < events) strands[at].post([&, at, number] { chain(at, number + 1); });
    ran();
  };
  std::jthread poster{[&] {
    for (std::size_t n = 0; n < colors / 4; ++n) strands[n].post([&, n] { chain(n, 0); });
    for (int number = 0; number < events; ++number) {
      for (std::size_t n = colors / 4; n < colors; ++n) {
        const auto run = [&, n, number] { all[n].took(number), ran(); };
        if (n < colors / 2) {
          strands[n].post(run);
        } else {
          rt.post(color{n}, run);
        }
      }
    }
  }};
  std::jthread changer{[&](const std::stop_token& asked) {
    std::mt19937 dice{static_cast<unsigned>(test::seed())};
    while (!asked.stop_requested()) rt.set_workers(1 + static_cast<unsigned>(dice() % GetParam()));
  }};
  EXPECT_EQ(rt.run(), 0);
  changer.request_stop();
  changer.join();
  for (const numbered& each : all) {
    EXPECT_EQ(each.taken(), events);
    EXPECT_EQ(each.faults, 0);
  }
}

TEST_P(changing_workers, run_together_as_soon_as_they_are_there) {
  const unsigned most = GetParam();
  runtime rt{up_to(most, 1)};
  std::atomic<unsigned> begun{0};
  rt.post(color{1}, [&] {
    rt.set_workers(most);
    EXPECT_EQ(rt.workers(), most);
    for (unsigned n = 1; n < most; ++n) {
      post(color{100 + n}, [&] {
        begun.fetch_add(1);
        test::spin_until([&] { return begun.load() == most; });  // for ever, if they were not all there
      });
    }
    begun.fetch_add(1);
    test::spin_until([&] { return begun.load() == most; });
  });
  rt.run_until_idle();
  EXPECT_EQ(begun.load(), most);
}

TEST_P(changing_workers, leave_what_they_had_to_others) {
  const unsigned most = GetParam();
  runtime rt{up_to(most, most)};
  std::atomic<unsigned> begun{0};
  std::atomic<int> after{0};
  for (unsigned n = 0; n < most; ++n) {
    rt.post(color{100 + n}, [&, n] {
      begun.fetch_add(1);
      test::spin_until([&] { return begun.load() == most; });  // each on a worker of its own
      for (unsigned k = 0; k < 10; ++k) post(color{1000 + 10 * n + k}, [&] { after.fetch_add(1); });
      if (n == 0) rt.set_workers(1);
    });
  }
  rt.run_until_idle();
  EXPECT_EQ(after.load(), static_cast<int>(10 * most));
  // The colors of those that have left are idle there.
  for (unsigned n = 0; n < most; ++n) rt.post(color{100 + n}, [&] { after.fetch_add(1); });
  rt.run_until_idle();
  EXPECT_EQ(after.load(), static_cast<int>(11 * most));
}

TEST_P(changing_workers, come_and_go_between_two_runs_and_call_the_hooks) {
  const unsigned most = GetParam();
  std::mutex lock;
  std::multiset<unsigned> started;
  std::multiset<unsigned> stopped;
  options with = up_to(most, 1);
  with.on_worker_start = [&](unsigned n) {
    const std::lock_guard hold{lock};
    started.insert(n);
  };
  with.on_worker_stop = [&](unsigned n) {
    const std::lock_guard hold{lock};
    stopped.insert(n);
  };
  {
    runtime rt{with};
    rt.set_workers(most);
    rt.run_until_idle();
    rt.set_workers(1);
    EXPECT_EQ(rt.workers(), 1u);
    rt.run_until_idle();
    rt.set_workers(most);
    rt.run_until_idle();
  }
  const std::lock_guard hold{lock};
  EXPECT_EQ(started, stopped);
  EXPECT_EQ(started.count(0), 1u);
  for (unsigned n = 1; n < most; ++n) EXPECT_GE(started.count(n), 1u) << n;
}

/// Colors that were given to workers which are not there when the run begins; worker 0 has something to do all the time, and searches for nothing.
class workers_that_never_came : public testing::Test {
 protected:
  void expect_all_to_run(runtime& rt, unsigned wanted_before) {
    if (wanted_before != 0) rt.set_workers(wanted_before);
    for (std::uint64_t n = 0; n < colors; ++n) rt.post(color{100 + n}, [this] { ++ran_; });
    rt.set_workers(1);
    rt.post(color{1}, [&] { go_on(rt); });
    EXPECT_EQ(rt.run(), 0);
    EXPECT_EQ(ran_, colors + more);
  }

 private:
  static constexpr unsigned colors = 32;
  static constexpr unsigned more = 32;

  void go_on(runtime& rt) {
    if (ran_ == colors && !asked_) {
      asked_ = true;
      for (std::uint64_t n = 0; n < more; ++n) rt.post(color{100 + n}, [this] { ++ran_; });
    }
    if (ran_ == colors + more) return rt.stop();
    post(color{1}, [&] { go_on(rt); });
  }

  unsigned ran_ = 0;
  bool asked_ = false;
};

TEST_F(workers_that_never_came, leave_what_was_theirs_from_the_beginning) {
  runtime rt{up_to(4, 4)};
  expect_all_to_run(rt, 0);
}

TEST_F(workers_that_never_came, leave_what_was_theirs_while_they_were_wanted) {
  runtime rt{up_to(4, 1)};
  expect_all_to_run(rt, 4);
}

TEST(set_workers, refuses_what_cannot_be) {
  runtime rt{up_to(4, 2)};
  EXPECT_EQ(rt.workers(), 2u);
  EXPECT_THROW(rt.set_workers(0), std::invalid_argument);
  EXPECT_THROW(rt.set_workers(5), std::invalid_argument);
  rt.set_workers(4);
  EXPECT_EQ(rt.workers(), 4u);
  const auto refused = [](options with) {
    try {
      runtime changed{with};
      changed.set_workers(1);
    } catch (const std::invalid_argument& why) {
      return std::string{why.what()};
    }
    return std::string{};
  };
  options with = up_to(0, 2);
  with.stealing = false;
  EXPECT_NE(refused(with).find("keeps its number of workers"), std::string::npos) << refused(with);
  with = up_to(0, 2);
  with.scheduler = "per_worker";
  EXPECT_NE(refused(with).find("keeps its number of workers"), std::string::npos) << refused(with);
  with.max_workers = 4;
  EXPECT_NE(refused(with).find("only the default scheduler"), std::string::npos) << refused(with);
  EXPECT_NE(refused(up_to(1, 2)).find("max_workers: 1, but workers is 2"), std::string::npos) << refused(up_to(1, 2));
  EXPECT_NE(refused(up_to(1025, 2)).find("1024"), std::string::npos) << refused(up_to(1025, 2));
}

TEST(a_cpu_follower, sets_the_workers_when_the_cpus_change_and_only_then) {
  std::vector<unsigned> asked;
  detail::cpu_follower::state last{4};
  const auto note = [&](unsigned wanted) { asked.push_back(wanted); };
  detail::cpu_follower::look(4, 8, last, note);
  EXPECT_TRUE(asked.empty());
  detail::cpu_follower::look(2, 8, last, note);
  detail::cpu_follower::look(2, 8, last, note);
  detail::cpu_follower::look(0, 8, last, note);
  detail::cpu_follower::look(64, 8, last, note);
  EXPECT_EQ(asked, (std::vector<unsigned>{2, 1, 8}));
}

TEST(a_cpu_follower, asks_again_if_there_was_no_thread) {
  detail::cpu_follower::state last{1};
  int asked = 0;
  const auto fail = [&](unsigned) {
    ++asked;
    throw std::system_error{EAGAIN, std::system_category()};
  };
  detail::cpu_follower::look(2, 2, last, fail);
  detail::cpu_follower::look(2, 2, last, fail);
  EXPECT_EQ(asked, 2);
  detail::cpu_follower::look(1, 2, last, [&](unsigned) { ++asked; });  // some may have come
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace tartan
