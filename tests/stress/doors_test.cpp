// Foreign threads come in by all doors at once while the runtime is drained and destroyed: each call is either refused, or what it
// brought is run or destroyed, once. The sanitizers look at the rest. What happens when is not replayed.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <tartan/core/blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/event_batch.h>
#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/core/yield.h>
#include <tartan/time/post_after.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

/// What one thing that was brought has become of.
struct fate {
  std::atomic<int> ran{0};
  std::atomic<int> gone{0};
};

/// A callable that is counted: at most one run, and destroyed once.
class counted {
 public:
  explicit counted(fate& of) noexcept : of_{&of} {}
  counted(counted&& other) noexcept : of_{std::exchange(other.of_, nullptr)} {}
  counted& operator=(counted&&) = delete;
  ~counted() {
    if (of_ != nullptr) ++of_->gone;
  }
  void operator()() const { ++of_->ran; }

 private:
  fate* of_;
};

enum door : std::size_t { post_one, post_batch, spawn_one, send_one, release_one, block_one, time_one, end_strand, cancel_one, close_all, doors };

/// A runtime, what waits in it, and the threads outside.
class siege {
 public:
  explicit siege(const options& with) : rt_{std::in_place, with} {
    for (int n = 0; n < waiting; ++n) {
      spawn_in(*rt_, color{1}, &siege::eat, std::ref(pipe_));
      spawn_in(*rt_, color{2}, &siege::pass, std::ref(gate_));
      handles_.push_back(spawn_in(*rt_, color{3}, &siege::eat, std::ref(silent_)));
    }
    while (auto taken = gate_.try_acquire()) permits_.push_back(std::move(*taken));
    rt_->run_until_idle();
  }

  void run(std::chrono::nanoseconds within) {
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n < doors; ++n) threads.emplace_back([this, n] { use(static_cast<door>(n)); });
    test::spin_until([&] { return begun_ == doors; });
    (void)rt_->drain(within);
    drained_ = true;
    end_ = true;
    for (std::thread& each : threads) each.join();
    handles_.clear();
    rt_.reset();
    EXPECT_EQ(late_, 0) << "a blocking job began after the runtime had been drained";
    for (std::size_t n = 0; n < doors; ++n) {
      for (const auto& each : fates_[n]) {
        EXPECT_LE(each->ran, 1) << "door " << n;
        EXPECT_EQ(each->gone, 1) << "door " << n;
      }
      EXPECT_EQ(ran_although_refused_[n], 0) << "door " << n;
    }
  }

 private:
  static constexpr int waiting = 16;
  static constexpr std::size_t most = 3000;

  static task<> eat(channel<std::unique_ptr<int>>& from) {
    while (auto value = co_await from.receive()) {
    }
  }
  static task<> pass(semaphore& gate) {
    const auto permit = co_await gate.acquire();
    co_await yield();
  }
  static task<> go(counted f) {
    f();
    co_return;
  }

  fate& next(door by) {
    fates_[by].push_back(std::make_unique<fate>());
    return *fates_[by].back();
  }

  void use(door by) {
    for (std::size_t n = 0; !end_ && n < most; ++n) {
      const bool more = once(by);
      if (n == 0) ++begun_;
      if (!more) break;
    }
  }

  /// False: nothing is left to do here.
  bool once(door by) {
    switch (by) {
      case post_one: return tell(by, [&](counted f) { return rt_->post(color{4}, std::move(f)); });
      case post_batch: {
        event_batch many{*rt_};
        for (std::uint64_t n = 0; n < 3; ++n) many.add(color{4 + n}, counted{next(by)});
        (void)rt_->post(std::move(many));
        return true;
      }
      case spawn_one: return tell(by, [&](counted f) { return bool{spawn_in(*rt_, color{5}, &siege::go, std::move(f))}; });
      case send_one: (void)pipe_.try_send(std::make_unique<int>(1)); return true;
      case release_one: {
        if (permits_.empty()) return false;
        permits_.pop_back();
        return true;
      }
      case block_one:
        return tell(by, [&](counted f) {
          return blocking(*rt_, color{6}, [this] { late_ += drained_ ? 1 : 0; }, [kept = std::move(f)](result<>) { kept(); });
        });
      case time_one: post_after(*rt_, 0ns, counted{next(by)}); return true;
      case end_strand: {
        strand s{*rt_};
        return tell(by, [&](counted f) { return s.post(std::move(f)); });
      }
      case cancel_one: {
        if (canceled_ == handles_.size()) return false;
        handles_[canceled_++].cancel();
        return true;
      }
      default: silent_.close(); return false;
    }
  }

  template <class Bring>
  bool tell(door by, Bring bring) {
    fate& its = next(by);
    if (!bring(counted{its})) ran_although_refused_[by] += its.ran;
    return true;
  }

  channel<std::unique_ptr<int>> pipe_{capacity{1}};
  channel<std::unique_ptr<int>> silent_{capacity{1}};
  semaphore gate_{waiting / 2};
  std::optional<runtime> rt_;
  std::vector<join_handle<>> handles_;
  std::vector<semaphore::permit> permits_;
  std::size_t canceled_ = 0;
  std::atomic<std::size_t> begun_{0};
  std::atomic<bool> end_{false};
  std::atomic<bool> drained_{false};
  std::atomic<int> late_{0};
  std::array<std::vector<std::unique_ptr<fate>>, doors> fates_;
  std::array<int, doors> ran_although_refused_{};
};

class all_doors : public test::on_workers {};
INSTANTIATE_TEST_SUITE_P(on, all_doors, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(all_doors, are_shut_by_a_drain_that_leaves_no_time) {
  for (unsigned round = 0; round < test::rounds(15); ++round) {
    options with = settings();
    with.stall_after = {};
    siege{with}.run(0ns);
  }
}

TEST_P(all_doors, are_shut_by_a_drain_that_leaves_some_time) {
  for (unsigned round = 0; round < test::rounds(15); ++round) {
    options with = settings();
    with.stall_after = {};
    siege{with}.run(50us);
  }
}

}  // namespace
}  // namespace tartan
