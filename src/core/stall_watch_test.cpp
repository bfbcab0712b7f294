#include "core/stall_watch.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <tartan/core/event_batch.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>

#include "core/sleep/futex_poller.h"
#include "core/lifecycle_probe.h"
#include "core/runtime_state.h"

namespace tartan::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t ms = 1'000'000;

/// Workers as a test wants them to be seen.
class fake_workers final : public stall_probe {
 public:
  struct fake_worker {
    std::uint64_t events = 0;
    std::optional<stalled_handler> runs;
  };

  explicit fake_workers(unsigned count) : all(count) {}

  [[nodiscard]] unsigned workers() const noexcept override { return static_cast<unsigned>(all.size()); }
  [[nodiscard]] std::uint64_t events(unsigned worker) const noexcept override { return all[worker].events; }
  [[nodiscard]] bool snapshot(unsigned worker, stalled_handler& into) const noexcept override {
    if (all[worker].runs) into = *all[worker].runs;
    return all[worker].runs.has_value();
  }
  [[nodiscard]] std::string name_of(color c) const override { return c == color{7} ? "page cache" : ""; }
  [[nodiscard]] bool anybody_awake() const noexcept override { return awake; }

  void begins(unsigned worker, color c, std::source_location site = std::source_location::current()) {
    all[worker].runs.emplace();
    all[worker].runs->in = c;
    all[worker].runs->post_site = site;
    ++all[worker].events;
  }
  void ends(unsigned worker) {
    all[worker].runs.reset();
    ++all[worker].events;
  }

  std::vector<fake_worker> all;
  bool awake = true;
};

class a_stall_watch : public ::testing::Test {
 protected:
  stall_setup setup() {
    stall_setup with;
    with.stall_after = milliseconds{100};
    with.on_stall = [this](const stalled_handler& what) { reports_.push_back(what); };
    return with;
  }

  fake_workers workers_{3};
  std::vector<stalled_handler> reports_;
  stall_watch watch_{workers_, setup()};
};

TEST_F(a_stall_watch, looks_four_times_per_limit_but_not_more_often_than_every_10_ms) {
  EXPECT_EQ(watch_.period(), milliseconds{25});
  stall_setup with;
  with.stall_after = milliseconds{1};
  EXPECT_EQ((stall_watch{workers_, with}.period()), milliseconds{10});
}

TEST_F(a_stall_watch, reports_a_handler_that_runs_too_long_once) {
  const auto site = std::source_location::current();
  workers_.begins(1, color{7}, site);
  workers_.all[1].runs->colors_waiting = 12;
  for (std::uint64_t now = 1000; now < 1100; now += 25) {
    watch_.look(now * ms);
    EXPECT_TRUE(reports_.empty()) << now;
  }
  watch_.look(1100 * ms);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].worker, 1u);
  EXPECT_EQ(reports_[0].in, color{7});
  EXPECT_EQ(reports_[0].name, "page cache");
  EXPECT_EQ(reports_[0].post_site.line(), site.line());
  EXPECT_EQ(reports_[0].running_for, milliseconds{100});
  EXPECT_EQ(reports_[0].colors_waiting, 12u);
  for (std::uint64_t now = 1125; now < 2000; now += 25) watch_.look(now * ms);
  EXPECT_EQ(reports_.size(), 1u);
}

TEST_F(a_stall_watch, reports_the_next_handler_as_well_and_each_worker_for_itself) {
  workers_.begins(0, color{1});
  workers_.begins(2, color{2});
  watch_.look(0);
  watch_.look(100 * ms);
  ASSERT_EQ(reports_.size(), 2u);
  workers_.ends(0);
  workers_.begins(0, color{3});
  watch_.look(125 * ms);
  watch_.look(225 * ms);
  ASSERT_EQ(reports_.size(), 3u);
  EXPECT_EQ(reports_[2].in, color{3});
}

TEST_F(a_stall_watch, says_nothing_of_a_worker_that_goes_on) {
  const auto site = std::source_location::current();
  for (std::uint64_t now = 0; now < 1000; now += 25) {
    workers_.begins(0, color{1}, site);
    watch_.look(now * ms);
  }
  EXPECT_TRUE(reports_.empty());
}

TEST_F(a_stall_watch, says_nothing_of_a_worker_between_events) {
  workers_.ends(0);
  for (std::uint64_t now = 0; now < 1000; now += 25) watch_.look(now * ms);
  EXPECT_TRUE(reports_.empty());
  workers_.all[0].runs.emplace();  // begins without a change of the count: counted from when it was seen
  watch_.look(1000 * ms);
  watch_.look(1075 * ms);
  EXPECT_TRUE(reports_.empty());
  watch_.look(1100 * ms);
  EXPECT_EQ(reports_.size(), 1u);
}

TEST_F(a_stall_watch, may_rest_when_nobody_has_been_awake_for_a_whole_limit) {
  EXPECT_TRUE(watch_.look(0));
  workers_.awake = false;
  EXPECT_TRUE(watch_.look(25 * ms));
  EXPECT_TRUE(watch_.look(50 * ms));
  EXPECT_TRUE(watch_.look(75 * ms));
  EXPECT_FALSE(watch_.look(100 * ms));
  EXPECT_FALSE(watch_.look(125 * ms));
  ++workers_.all[2].events;  // somebody was awake in between
  EXPECT_TRUE(watch_.look(150 * ms));
}

TEST_F(a_stall_watch, is_not_rested_by_a_sleeper_while_another_worker_is_stuck) {
  workers_.begins(0, color{1});
  for (std::uint64_t now = 0; now < 1000; now += 25) EXPECT_TRUE(watch_.look(now * ms));
}

TEST(a_stall_report, names_color_place_time_and_who_waits) {
  stalled_handler what;
  what.worker = 1;
  what.in = color{7};
  what.name = "page cache";
  what.running_for = std::chrono::microseconds{312'700};
  what.colors_waiting = 12;
  EXPECT_EQ(stall_text(what),
            "a handler on worker 1 has been running for 312 ms: color 7 \"page cache\", posted at an unknown place; 12 "
            "colors wait");
  what.colors_waiting = 1;
  EXPECT_NE(stall_text(what).find("; 1 color waits"), std::string::npos);
}

TEST(a_stall_report, goes_to_stderr_if_nobody_asked_for_it) {
  fake_workers workers{1};
  stall_setup with;
  with.stall_after = milliseconds{40};
  stall_watch watch{workers, with};
  workers.begins(0, color{7});
  ::testing::internal::CaptureStderr();
  watch.look(0);
  watch.look(40 * ms);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("tartan: a handler on worker 0 has been running for 40 ms: color 7 \"page cache\", posted at "),
            0u)
      << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

// The thread around look(): what it does at its times is tested above, here it only begins and ends in each of its states.

/// Workers that are all asleep until told otherwise, and that tell when they are looked at.
class sleeping_workers final : public stall_probe {
 public:
  [[nodiscard]] unsigned workers() const noexcept override { return 1; }
  [[nodiscard]] std::uint64_t events(unsigned) const noexcept override { return 0; }
  [[nodiscard]] bool snapshot(unsigned, stalled_handler&) const noexcept override { return false; }
  [[nodiscard]] std::string name_of(color) const override { return {}; }
  [[nodiscard]] bool anybody_awake() const noexcept override {
    const std::lock_guard held{lock_};
    ++looks_;
    looked_.notify_all();
    return awake_;
  }
  /// Gives the number of looks so far.
  unsigned set_awake(bool awake) {
    const std::lock_guard held{lock_};
    awake_ = awake;
    return looks_;
  }
  void wait_for_look(unsigned number) const {
    std::unique_lock held{lock_};
    looked_.wait(held, [&] { return looks_ >= number; });
  }

 private:
  mutable std::mutex lock_;
  mutable std::condition_variable looked_;
  mutable unsigned looks_ = 0;
  bool awake_ = false;
};

stall_setup shortest() {
  stall_setup with;
  with.stall_after = milliseconds{1};
  return with;
}

TEST(the_thread_of_a_stall_watch, looks_parks_wakes_and_ends) {
  sleeping_workers workers;
  stall_watch watch{workers, shortest()};
  watch.start();
  watch.start();             // twice is once
  workers.wait_for_look(5);  // four quiet ones, and one before it parks
  for (int round = 0; round < 3; ++round) {
    const unsigned before = workers.set_awake(true);
    watch.notice_awake();
    workers.wait_for_look(before + 1);
    workers.wait_for_look(workers.set_awake(false) + 5);
  }
  watch.stop();
  watch.stop();
  const unsigned before = workers.set_awake(false);
  watch.start();
  workers.wait_for_look(before + 1);
}

/// A clock that keeps its worker on its way to sleep, and counted as asleep, until the watch has parked; then its time is up.
class slow_to_rest final : public poller {
 public:
  /// `reading`: at which the watch parks. The first one asks whether the run is over, the second one whether there is time left to sleep.
  slow_to_rest(sleeping_workers& seen_by_watch, unsigned reading) : seen_by_watch_{seen_by_watch}, reading_{reading} {}
  void attach(unsigned workers) override { real_.attach(workers); }
  void approach(unsigned /*worker*/, bed /*where*/) noexcept override { rests_ = true; }
  std::uint64_t now_ns() noexcept override {
    if (rests_ && looks == 0 && --reading_ == 0) {
      looks = seen_by_watch_.set_awake(false) + 5;
      seen_by_watch_.wait_for_look(looks);
    }
    return looks == 0 ? 1 : 1'000 * ms;
  }
  slept sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept override { return real_.sleep(worker, token, limit); }
  void wake(unsigned worker, wake_token& token) noexcept override { real_.wake(worker, token); }
  bool harvest(unsigned /*worker*/) noexcept override { return false; }

  unsigned looks = 0;  ///< of the watch, when it had parked

 private:
  sleeping_workers& seen_by_watch_;
  futex_poller real_;
  unsigned reading_;
  bool rests_ = false;
};

class the_thread_of_a_watch_that_has_parked : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(at_reading, the_thread_of_a_watch_that_has_parked, ::testing::Values(1u, 2u));

TEST_P(the_thread_of_a_watch_that_has_parked, is_woken_by_a_worker_that_does_not_sleep_after_all) {
  sleeping_workers workers;
  workers.set_awake(true);
  slow_to_rest clock{workers, GetParam()};
  options with;
  with.workers = 1;
  with.poller = &clock;
  runtime rt{with};
  lifecycle_probe::use(rt.state().life(), std::make_unique<stall_watch>(workers, shortest()));
  rt.run_for(milliseconds{1});
  ASSERT_NE(clock.looks, 0u) << "it was not about to sleep";
  workers.wait_for_look(clock.looks + 1);
}

TEST(the_thread_of_a_stall_watch, does_not_exist_if_stalls_are_not_to_be_reported) {
  sleeping_workers workers;
  stall_setup with;
  with.create_thread = [](pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) {
    ADD_FAILURE();
    return EAGAIN;
  };
  stall_watch watch{workers, with};
  watch.start();
}

TEST(the_thread_of_a_stall_watch, that_cannot_be_started_is_an_error) {
  sleeping_workers workers;
  stall_setup with = shortest();
  with.create_thread = [](pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) { return EAGAIN; };
  stall_watch watch{workers, with};
  try {
    watch.start();
    ADD_FAILURE();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::resource_unavailable_try_again);
  }
}

TEST(the_thread_of_a_stall_watch, ends_the_program_if_the_report_handler_throws) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto full_log = [] {
    fake_workers workers{1};
    workers.begins(0, color{1});
    stall_setup with = shortest();
    with.on_stall = [](const stalled_handler&) { throw std::runtime_error{"full"}; };
    stall_watch watch{workers, with};
    watch.start();
    sleeping_workers{}.wait_for_look(1);  // for ever: nobody looks at these
  };
  EXPECT_DEATH(full_log(), "tartan: on_stall threw: full");
}

/// A watch of its own for a runtime whose one never looks: the events themselves look, at times of theirs.
class a_watch_of_a_runtime : public ::testing::Test {
 protected:
  static constexpr std::chrono::hours limit{1};

  options settings() {
    options with;
    with.workers = 1;
    with.stall_after = limit;
    with.on_stall = [this](const stalled_handler& what) { reports_.push_back(what); };
    return with;
  }
  void look_after(std::chrono::minutes passed) {
    now_ns_ += static_cast<std::uint64_t>(std::chrono::nanoseconds{passed}.count());
    watch_.look(now_ns_);
  }
  void be_stuck() {
    look_after(limit);
    look_after(limit);
  }

  std::vector<stalled_handler> reports_;
  std::uint64_t now_ns_ = 0;
  runtime rt_{settings()};
  stall_watch watch_{rt_.state()};
};

TEST_F(a_watch_of_a_runtime, takes_no_row_of_handlers_from_one_place_for_a_long_one) {
  for (int n = 0; n < 40; ++n) {
    rt_.post(color{1}, [this] {
      look_after(std::chrono::minutes{25});
      look_after(std::chrono::minutes{25});
    });
  }
  rt_.run_until_idle();
  EXPECT_TRUE(reports_.empty());
}

TEST_F(a_watch_of_a_runtime, reports_the_long_one_in_a_row_of_short_ones_and_each_once) {
  for (int n = 0; n < 40; ++n) {
    rt_.post(color{1}, [this, n] {
      look_after(std::chrono::minutes{25});
      if (n % 10 == 5) be_stuck();
    });
  }
  rt_.run_until_idle();
  EXPECT_EQ(reports_.size(), 4u);
}

TEST_F(a_watch_of_a_runtime, counts_the_colors_that_wait_wherever_they_were_posted) {
  strand s{rt_};
  const auto post = [&](int first) {
    for (int n = 0; n < 5; ++n) rt_.post(color{first + n}, [] {});
    rt_.post(color{first}, [] {});
  };
  rt_.post(color{99}, [&] {
    std::thread{[&] { post(1); }}.join();
    be_stuck();
  });
  rt_.post(color{99}, [&] {
    post(11);
    std::thread{[&] {
      event_batch batch{rt_};
      for (int n = 0; n < 7; ++n) batch.add(color{21 + n}, [] {});
      batch.add(s, [] {});
      rt_.post(std::move(batch));
    }}.join();
    be_stuck();
  });
  rt_.run_until_idle();
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_EQ(reports_[0].colors_waiting, 5u);
  EXPECT_EQ(reports_[1].colors_waiting, 5u + 5u + 8u);
}

TEST(a_watch_of_a_runtime_with_a_pinned_color, counts_that_color_too) {
  options with;
  with.workers = 1;
  with.pin_default_color = true;
  with.stall_after = std::chrono::hours{1};
  std::size_t waiting = 0;
  with.on_stall = [&](const stalled_handler& what) { waiting = what.colors_waiting; };
  runtime rt{with};
  stall_watch watch{rt.state()};
  rt.post(color{1}, [&] {
    rt.post([] {});
    watch.look(0);
    watch.look(3'600'000 * ms);
  });
  rt.run_until_idle();
  EXPECT_EQ(waiting, 1u);
}

class a_runtime_that_watches : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, a_runtime_that_watches, ::testing::Values(1u, 2u, 4u));

// The handler lasts until it has been reported, however long that takes.
TEST_P(a_runtime_that_watches, reports_a_handler_that_blocks) {
  std::mutex lock;
  std::condition_variable reported;
  std::vector<stalled_handler> reports;
  options o;
  o.workers = GetParam();
  o.stall_after = milliseconds{1};
  o.on_stall = [&](const stalled_handler& what) {
    const std::lock_guard held{lock};
    reports.push_back(what);
    reported.notify_all();
  };
  runtime rt{o};
  rt.name(color{7}, "page cache");
  for (std::size_t round = 1; round <= 2; ++round) {  // the watch may have parked in between
    unsigned line = 0;
    rt.post(color{7}, [&] {
      std::unique_lock held{lock};
      const std::size_t before = reports.size();
      reported.wait(held, [&] { return reports.size() > before; });
    });
    line = std::source_location::current().line() - 5;
    rt.run_until_idle();
    const std::lock_guard held{lock};
    ASSERT_GE(reports.size(), round);
    EXPECT_EQ(reports.back().in, color{7});
    EXPECT_EQ(reports.back().name, "page cache");
    EXPECT_EQ(reports.back().post_site.line(), line);
    EXPECT_LT(reports.back().worker, GetParam());
    EXPECT_GE(reports.back().running_for, milliseconds{1});
  }
}

}  // namespace
}  // namespace tartan::detail
