// Random trees of coroutines: every way to wait, to move, to be several at once, to be canceled and to fail, and an end in the
// middle. After each step a coroutine looks whether it is in its own color and alone there. TARTAN_SEED replays a program; which
// thread is when where is not replayed.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <tartan/tartan.h>
#include <utility>
#include <vector>

#include "tests/seed.h"
#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan {
namespace {

constexpr std::uint64_t colors = 9;

struct failure {};

/// What the coroutines share.
class forest {
 public:
  explicit forest(options with) : rt_{std::move(with)} {}

  runtime& rt() { return rt_; }

  void plant(std::uint64_t seed, unsigned trees) {
    std::mt19937_64 random{seed};
    for (unsigned n = 0; n < trees; ++n) {
      handles_.push_back(spawn_in(rt_, color{random() % colors}, &forest::tree, this, random(), 4u));
    }
  }
  void cancel_every(std::size_t step) {
    for (std::size_t n = 0; n < handles_.size(); n += step) handles_[n].cancel();
  }
  void detach_all() { handles_.clear(); }
  void close() { pipe_.close(); }

  std::atomic<int> begun{0};
  std::atomic<int> gone{0};
  std::atomic<int> steps{0};
  std::atomic<int> astray{0};      ///< times that a coroutine was not in its color
  std::atomic<int> not_alone{0};   ///< times that it was not alone there
  std::array<std::uint64_t, colors> ledger{};  ///< plain, each written in its color only

 private:
  /// Counts itself, also if it is destroyed without having ended.
  struct presence {
    explicit presence(forest& f) : of{f} { ++of.begun; }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
    ~presence() { ++of.gone; }
    forest& of;
  };

  void look(color mine) {
    ++steps;
    if (current_color() != mine) ++astray;
    if (mine.value() >= colors) return;
    std::uint64_t& plain = ledger[mine.value()];
    const std::uint64_t before = plain;
    plain = before + 1;
    if (plain != before + 1) ++not_alone;
  }

  task<> tree(std::uint64_t seed, unsigned depth) {
    const presence here{*this};
    std::mt19937_64 random{seed};
    color mine = current_color();
    for (std::uint64_t n = random() % 6; n > 0; --n) {
      if (random() % 8 == 0) {
        mine = color{random() % colors};
        co_await on(mine);
      } else if (depth == 0 || random() % 2 == 0) {
        co_await leaf(random());
      } else {
        co_await branch(random(), depth - 1);
      }
      look(mine);
    }
    if (random() % 40 == 0) throw failure{};
  }

  task<> leaf(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    const color mine = current_color();
    switch (random() % 8) {
      case 0: co_await yield(); break;
      case 1: {
        const color there{random() % colors};
        co_await in(there, [this, there] { look(there); });
        break;
      }
      case 2: static_cast<void>(co_await sleep(std::chrono::microseconds{random() % 3000})); break;
      case 3: static_cast<void>(co_await pipe_.send(static_cast<int>(seed))); break;
      case 4: static_cast<void>(co_await pipe_.receive()); break;
      case 5: {
        const auto permit = co_await gate_.acquire();
        co_await yield();
        look(mine);
        break;
      }
      case 6: {
        const stop_token token = co_await get_stop_token();
        if (token.stop_requested()) co_await stop_requested();
        break;
      }
      default:
        if (random() % 16 == 0) co_await blocking([] {});
    }
    look(mine);
  }

  task<> branch(std::uint64_t seed, unsigned depth) {
    std::mt19937_64 random{seed};
    const color mine = current_color();
    try {
      switch (random() % 7) {
        case 0: co_await tree(random(), depth); break;
        case 1: co_await when_all(tree(random(), depth), tree(random(), depth), leaf(random())); break;
        case 2: static_cast<void>(co_await when_any(tree(random(), depth), leaf(random()), sleep(std::chrono::milliseconds{1}))); break;
        case 3: static_cast<void>(co_await with_timeout(std::chrono::microseconds{random() % 5000}, tree(random(), depth))); break;
        case 4: {
          auto other = spawn_in(color{random() % colors}, &forest::tree, this, random(), depth);
          if (random() % 2 == 0) other.cancel();
          co_await leaf(random());
          co_await other.join();
          break;
        }
        case 5: co_await in(color{random() % colors}, [this, next = random(), depth] { return tree(next, depth); }); break;
        default: co_await group(random(), depth);
      }
    } catch (const failure&) {
      look(mine);
    }
    look(mine);
  }

  task<> group(std::uint64_t seed, unsigned depth) {
    co_await with_task_group([this, seed, depth](task_group& members) -> task<> {
      std::mt19937_64 random{seed};
      for (std::uint64_t n = random() % 5; n > 0; --n) {
        members.spawn_in(color{random() % colors}, &forest::tree, this, random(), depth > 0 ? depth - 1 : 0);
      }
      co_await leaf(random());
      if (random() % 4 == 0) members.cancel();
    });
  }

  channel<int> pipe_{capacity{3}};
  semaphore gate_{2};
  runtime rt_;
  std::vector<join_handle<>> handles_;
};

class random_coroutines : public test::on_workers {
 protected:
  options with() {
    options o = settings();
    o.poller = &clock_;
    o.stall_after = {};
    o.on_exception = [](const escaped_exception&) {};
    return o;
  }
  static void check(const forest& f) {
    EXPECT_GT(f.steps.load(), 0);
    EXPECT_EQ(f.astray.load(), 0);
    EXPECT_EQ(f.not_alone.load(), 0);
    EXPECT_EQ(f.begun.load(), f.gone.load());
  }
  test::virtual_poller clock_;
};
INSTANTIATE_TEST_SUITE_P(on, random_coroutines, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(random_coroutines, stay_in_their_colors_and_all_end) {
  const std::uint64_t seed = test::seed();
  for (unsigned round = 0; round < test::rounds(10); ++round) {
    forest f{with()};
    f.plant(seed + round, 40);
    f.rt().run_until_idle();  // some wait in the channel for ever
    f.cancel_every(3);
    f.rt().run_until_idle();
    f.close();
    f.rt().run_until_idle();
    f.cancel_every(1);
    f.detach_all();
    EXPECT_TRUE(f.rt().drain(std::chrono::hours{1}).complete);
    check(f);
  }
}

TEST_P(random_coroutines, are_all_destroyed_when_the_runtime_ends_in_the_middle) {
  const std::uint64_t seed = test::seed();
  for (unsigned round = 0; round < test::rounds(20); ++round) {
    forest f{with()};
    f.plant(seed + round, 40);
    for (unsigned turn = round % 5; turn > 0; --turn) static_cast<void>(f.rt().run_for(std::chrono::microseconds{300}));
    f.detach_all();
    static_cast<void>(f.rt().drain(std::chrono::nanoseconds{0}));
    EXPECT_EQ(f.begun.load(), f.gone.load());
    EXPECT_EQ(f.astray.load() + f.not_alone.load(), 0);
  }
}

}  // namespace
}  // namespace tartan
