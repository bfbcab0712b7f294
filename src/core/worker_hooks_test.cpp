// What options.on_worker_start and on_worker_stop may do while others work: take their time. Nothing waits for them.

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <tartan/core/event_batch.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "tests/workers.h"

namespace tartan {
namespace {

/// Worker 0 is in a long event, worker 1 sleeps; then worker 2 comes, or goes, and its hook lasts until all is done that was posted meanwhile: for ever,
/// if that is left to worker 2.
class a_hook_that_lasts : public test::leaves_nothing {
 protected:
  static constexpr int colors = 16;

  [[nodiscard]] bool all_ran() const { return ran.load() == colors; }

  [[nodiscard]] std::function<void(unsigned)> lasting() {
    return [this](unsigned n) {
      if (n != 2 || !matters.load()) return;
      in_hook.store(true);
      test::spin_until([&] { return all_ran(); });
    };
  }

  void post_singly() {
    for (std::uint64_t c = 0; c < colors; ++c) post(color{1000 + c}, [&] { ran.fetch_add(1); });
  }
  void post_batch() {
    event_batch many{*runs.load()};
    for (std::uint64_t c = 0; c < colors; ++c) many.add(color{2000 + c}, [&] { ran.fetch_add(1); });
    runs.load()->post(std::move(many));
  }
  /// The posts come from the hook itself, and from nowhere else: one of the test's own would wake the worker that sleeps.
  [[nodiscard]] std::function<void(unsigned)> posting(std::function<void()> posts) {
    is_posted_outside = false;
    return [this, posts = std::move(posts)](unsigned n) {
      if (n != 2 || !matters.load()) return;
      posts();
      in_hook.store(true);
      test::spin_until([&] { return all_ran(); });
    };
  }

  void change_workers(options with, unsigned to) {
    with.max_workers = 3;
    with.scheduler = "default";
    runtime rt{with};
    runs.store(&rt);
    std::vector<strand> strands;
    for (int n = 0; n < colors; ++n) strands.emplace_back(rt);
    std::thread outside{[&] {
      for (unsigned n = 0; n < with.workers; ++n) {
        rt.post(color{1 + n}, [&] {
          held.fetch_add(1);
          test::spin_until([&] { return held.load() == with.workers; });
          if (rt.state().worker_here()->index == 0) test::spin_until([&] { return all_ran(); });
        });
      }
      const auto& sleepers = rt.state().life().sleepers();
      for (unsigned n = 1; n < with.workers; ++n) test::spin_until([&] { return held.load() == with.workers && sleepers.is_asleep(n); });
      matters.store(true);
      rt.set_workers(to);
      test::spin_until([&] { return in_hook.load(); });
      if (is_posted_outside) {
        for (strand& each : strands) each.post([&] { ran.fetch_add(1); });
      }
      test::spin_until([&] { return all_ran(); });
      rt.stop();
    }};
    EXPECT_EQ(rt.run(), 0);
    outside.join();
  }

  std::atomic<bool> matters{false};
  std::atomic<unsigned> held{0};
  std::atomic<bool> in_hook{false};
  std::atomic<int> ran{0};
  bool is_posted_outside = true;
  std::atomic<runtime*> runs{nullptr};
};

TEST_F(a_hook_that_lasts, holds_up_nobody_when_a_worker_comes) {
  options with;
  with.workers = 2;
  with.on_worker_start = lasting();
  change_workers(with, 3);
}

TEST_F(a_hook_that_lasts, holds_up_nobody_when_a_worker_goes) {
  options with;
  with.workers = 3;
  with.on_worker_stop = lasting();
  change_workers(with, 2);
}

// One after the other, and as a batch: each has its own wake-up.
TEST_F(a_hook_that_lasts, has_others_run_what_it_posts_when_its_worker_comes) {
  options with;
  with.workers = 2;
  with.on_worker_start = posting([this] { post_singly(); });
  change_workers(with, 3);
}

TEST_F(a_hook_that_lasts, has_others_run_the_batch_that_it_posts_when_its_worker_comes) {
  options with;
  with.workers = 2;
  with.on_worker_start = posting([this] { post_batch(); });
  change_workers(with, 3);
}

TEST_F(a_hook_that_lasts, has_others_run_what_it_posts_when_its_worker_goes) {
  options with;
  with.workers = 3;
  with.on_worker_stop = posting([this] { post_singly(); });
  change_workers(with, 2);
}

TEST_F(a_hook_that_lasts, has_others_run_the_batch_that_it_posts_when_its_worker_goes) {
  options with;
  with.workers = 3;
  with.on_worker_stop = posting([this] { post_batch(); });
  change_workers(with, 2);
}

// Its hook uses what the thread before has had, and must not run beside that thread's.
TEST(worker_hooks, of_a_worker_that_is_wanted_again_wait_for_the_last_thread_to_end) {
  options with;
  with.workers = 2;
  with.max_workers = 2;
  std::atomic<bool> stops{false};
  std::atomic<bool> is_wanted_again{false};
  std::atomic<int> starts{0};
  std::atomic<int> starts_beside{0};
  with.on_worker_start = [&](unsigned n) {
    if (n != 1) return;
    starts.fetch_add(1);
    if (stops.load()) starts_beside.fetch_add(1);
  };
  with.on_worker_stop = [&](unsigned n) {
    if (n != 1 || starts.load() != 1) return;
    stops.store(true);
    test::spin_until([&] { return is_wanted_again.load(); });
    for (int turns = 0; turns < 20'000 && starts.load() == 1; ++turns) std::this_thread::yield();
    stops.store(false);
  };
  runtime rt{with};
  std::thread outside{[&] {
    test::spin_until([&] { return starts.load() == 1; });
    rt.set_workers(1);
    test::spin_until([&] { return stops.load(); });
    is_wanted_again.store(true);
    rt.set_workers(2);
    test::spin_until([&] { return starts.load() == 2; });
    rt.stop();
  }};
  EXPECT_EQ(rt.run(), 0);
  outside.join();
  EXPECT_EQ(starts_beside.load(), 0);
}

// A thread inherits the mask of the one that starts it, which set_workers may be called by.
TEST(worker_hooks, see_the_signal_mask_of_the_first_run_whichever_thread_starts_the_worker) {
  options with;
  with.workers = 1;
  with.max_workers = 2;
  runtime* runs = nullptr;
  bool is_blocked = true;  // written by the worker's hook, read when its thread has ended
  with.on_worker_start = [&](unsigned n) {
    if (n != 1) return;
    sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    is_blocked = sigismember(&now, SIGURG) != 0;
    runs->stop();
  };
  {
    runtime rt{with};
    runs = &rt;
    rt.post(color{1}, [&] {
      std::thread{[&] {
        sigset_t most;
        sigemptyset(&most);
        sigaddset(&most, SIGURG);
        ::pthread_sigmask(SIG_BLOCK, &most, nullptr);
        rt.set_workers(2);
      }}.join();
    });
    EXPECT_EQ(rt.run(), 0);
  }
  EXPECT_FALSE(is_blocked);
}

}  // namespace
}  // namespace tartan
