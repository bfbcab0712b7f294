// How shared_queue sleeps, and whom it wakes.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <thread>
#include <utility>

#include "core/sleep/futex_poller.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class shared_queue : public test::leaves_nothing {
 protected:
  static options with(std::string scheduler, unsigned workers) {
    options made;
    made.scheduler = std::move(scheduler);
    made.workers = workers;
    made.stall_after = 0ns;
    return made;
  }
};

TEST_F(shared_queue, has_a_pipe_for_each_worker_to_sleep_at) {
  const auto descriptors_of = [](const char* scheduler) {
    const runtime rt{with(scheduler, 3)};
    return test::open_descriptors();
  };
  EXPECT_EQ(descriptors_of("shared_queue"), descriptors_of("per_worker") + 2 * 3);
}

/// Real sleep; calls the test in the first look of worker 1.
class looked_through final : public detail::poller {
 public:
  void attach(unsigned workers) override { real_.attach(workers); }
  void approach(unsigned worker, detail::bed where) noexcept override { real_.approach(worker, where); }
  std::uint64_t now_ns() noexcept override { return real_.now_ns(); }
  detail::slept sleep(unsigned worker, detail::wake_token& token, detail::sleep_limit limit) noexcept override {
    if (worker == 0) first_sleeps = true;
    const detail::slept how = real_.sleep(worker, token, limit);
    if (worker == 0) first_sleeps = false;
    return how;
  }
  void wake(unsigned worker, detail::wake_token& token) noexcept override { real_.wake(worker, token); }
  bool harvest(unsigned worker) noexcept override {
    if (worker == 1 && !has_looked.exchange(true)) in_look();
    return false;
  }

  std::function<void()> in_look;
  std::atomic<bool> has_looked{false};
  std::atomic<bool> first_sleeps{false};

 private:
  detail::futex_poller real_{detail::futex_poller::seat_kind::pipe};
};

/// The look is an event of color 0, and runs on any worker: what only worker 0 may run has to wait for its end, and nobody else has it in mind.
TEST_F(shared_queue, calls_worker_0_when_a_look_has_kept_a_pinned_event_off_it) {
  looked_through outside;
  options settings = with("shared_queue", 2);
  settings.pin_default_color = true;
  settings.poller = &outside;
  runtime rt{settings};
  const std::thread::id first = std::this_thread::get_id();
  bool ran = false;
  outside.in_look = [&] {
    rt.post([&] { ran = std::this_thread::get_id() == first; });
    test::spin_until([&] { return rt.state().life().sleepers().is_asleep(0) && outside.first_sleeps; });
  };
  // Keeps worker 0 awake until worker 1 looks. Worker 0 may have looked before; then worker 1 blocks, and looks when that ends.
  detail::lifecycle& life = rt.state().life();
  std::function<void()> keep = [&] {
    if (std::this_thread::get_id() == first) {
      test::spin_until([&] {
        if (life.sleepers().is_asleep(1)) life.wake(1, nullptr);
        return outside.has_looked.load();
      });
    } else {
      rt.post(color{1}, keep);
    }
  };
  rt.post(color{1}, keep);
  rt.run_until_idle();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace tartan
