// What options.on_worker_start and on_worker_stop may do while others work: take their time. Nothing waits for them.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <cstdint>
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

  [[nodiscard]] bool all_ran() const { return ran.load() == expected; }

  [[nodiscard]] std::function<void(unsigned)> lasting() {
    return [this](unsigned n) {
      if (n != 2 || !matters.load()) return;
      in_hook.store(true);
      test::spin_until([&] { return all_ran(); });
    };
  }

  /// The posts come from the hook itself.
  [[nodiscard]] std::function<void(unsigned)> posting() {
    expected = 3 * colors;
    return [this](unsigned n) {
      if (n != 2 || !matters.load()) return;
      for (std::uint64_t c = 0; c < colors; ++c) post(color{1000 + c}, [&] { ran.fetch_add(1); });
      event_batch many{*runs.load()};
      for (std::uint64_t c = 0; c < colors; ++c) many.add(color{2000 + c}, [&] { ran.fetch_add(1); });
      runs.load()->post(std::move(many));
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
      for (strand& each : strands) each.post([&] { ran.fetch_add(1); });
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
  int expected = colors;  // of the test's own posts alone
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

TEST_F(a_hook_that_lasts, has_others_run_what_it_posts_when_its_worker_comes) {
  options with;
  with.workers = 2;
  with.on_worker_start = posting();
  change_workers(with, 3);
}

TEST_F(a_hook_that_lasts, has_others_run_what_it_posts_when_its_worker_goes) {
  options with;
  with.workers = 3;
  with.on_worker_stop = posting();
  change_workers(with, 2);
}

}  // namespace
}  // namespace tartan
