// Contract 1, 2, 3, 7 and 14 while another thread, or an event, changes the number of workers all the time: runtime::set_workers.
//
// Only the default scheduler changes it, so these tests ask for that one, whatever TARTAN_SCHEDULER says.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <tartan/core/work_guard.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/seed.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using test::rounds;
using test::spin_until;

/// With one worker more than the parameter at most: one can be stuck, one can leave, and one stays.
class changing_workers_keep_the_promise : public test::on_workers {
 protected:
  [[nodiscard]] static unsigned most() { return GetParam() + 1; }
  [[nodiscard]] static options settings() {
    options with = on_workers::settings();
    with.max_workers = most();
    with.scheduler = "default";
    return with;
  }
};
INSTANTIATE_TEST_SUITE_P(workers, changing_workers_keep_the_promise, testing::ValuesIn(test::worker_counts()), test::worker_name);

/// Sets another number of workers again and again, from `least` on, until it is destroyed.
class changer {
 public:
  changer(runtime& rt, unsigned most, unsigned least = 1)
      : thread_{[&rt, most, least, this](const std::stop_token& over) {
          std::mt19937 dice{static_cast<unsigned>(test::seed())};
          while (!over.stop_requested()) {
            rt.set_workers(least + static_cast<unsigned>(dice() % (most - least + 1)));
            changes_.fetch_add(1);
          }
        }} {}
  /// Until the number has been set so many times more.
  void wait_for(unsigned changes) const {
    const unsigned before = changes_.load();
    spin_until([&] { return changes_.load() - before >= changes; });
  }

 private:
  std::atomic<unsigned> changes_{0};
  std::jthread thread_;
};

// --- 1, exclusion; 2, order; 3, visibility ---

/// Plain data of one color.
struct book {
  bool inside = false;
  bool met = false;
  bool wrong_order = false;
  std::array<unsigned, 4> last{};  // number of each poster's latest event
  unsigned long seen = 0;

  void take(unsigned poster, unsigned number) {
    met = met || inside;
    inside = true;
    wrong_order = wrong_order || number != last[poster] + 1;
    last[poster] = number;
    ++seen;
    inside = false;
  }
};

/// Two foreign threads post to all colors; an event of each color posts to the next color, which was another worker's lately.
TEST_P(changing_workers_keep_the_promise, that_events_of_a_color_exclude_each_other_and_keep_their_order) {
  constexpr unsigned colors = 7;
  const unsigned each = rounds(1500);
  std::array<book, colors> books;
  runtime rt{settings()};
  std::optional<changer> changes{std::in_place, rt, most()};
  {
    std::optional<work_guard> open{rt};
    std::thread outside{[&] {
      std::array<std::jthread, 2> posters;
      for (unsigned p = 0; p < posters.size(); ++p) {
        posters[p] = std::jthread{[&, p] {
          for (unsigned n = 1; n <= each; ++n) {
            for (unsigned c = 0; c < colors; ++c) {
              rt.post(color{c + 1}, [&, p, n, c] {
                books[c].take(p, n);
                post(color{(c + 1) % colors + 1}, [&, p, n, c] { books[(c + 1) % colors].take(2 + p, n); });
              });
            }
          }
        }};
      }
      for (std::jthread& each_poster : posters) each_poster.join();
      open.reset();
    }};
    rt.run_until_idle();
    outside.join();
  }
  changes.reset();
  for (const book& of : books) {
    EXPECT_FALSE(of.met);
    EXPECT_FALSE(of.wrong_order);
    EXPECT_EQ(of.seen, 4ul * each);
  }
}

/// A number goes round through colors, and each event sees all that the ones before it have written; as plain data.
TEST_P(changing_workers_keep_the_promise, that_an_event_sees_what_happened_before_its_post) {
  const unsigned hops = rounds(4000);
  constexpr unsigned rings = 4;
  std::array<std::vector<unsigned>, rings> trails;
  std::array<bool, rings> stale{};
  runtime rt{settings()};
  std::optional<changer> changes{std::in_place, rt, most()};
  std::function<void(unsigned, unsigned)> hop = [&](unsigned ring, unsigned n) {
    stale[ring] = stale[ring] || trails[ring].size() != n;
    trails[ring].push_back(n);
    if (n + 1 < hops) post(color{1 + ring * 16 + n % 5}, [&, ring, n] { hop(ring, n + 1); });
  };
  for (unsigned ring = 0; ring < rings; ++ring) rt.post(color{1 + ring * 16}, [&, ring] { hop(ring, 0); });
  rt.run_until_idle();
  for (unsigned ring = 0; ring < rings; ++ring) {
    EXPECT_FALSE(stale[ring]);
    EXPECT_EQ(trails[ring].size(), hops) << "and the caller sees it after the run";
  }
}

// --- 7, fairness: an event that ends only when one behind it has run would never end if nobody came for that ---

TEST_P(changing_workers_keep_the_promise, that_a_busy_color_does_not_keep_out_another_one) {
  runtime rt{settings()};
  std::optional<changer> changes{std::in_place, rt, most()};
  for (unsigned round = 0; round < rounds(50); ++round) {
    std::atomic<bool> other_ran{false};
    unsigned served = 0;
    std::function<void()> hog = [&] {
      if (++served == 100) post(color{2}, [&] { other_ran = true; });
      if (!other_ran) post(color{1}, [&hog] { hog(); });
    };
    rt.post(color{1}, [&hog] { hog(); });
    rt.run_until_idle();
    EXPECT_TRUE(other_ran);
  }
}

// The long event is alone when it posts: only a worker that comes later can take what it has posted.
TEST_P(changing_workers_keep_the_promise, that_a_new_worker_takes_what_waits_behind_a_long_event) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(50); ++round) {
    std::atomic<int> ran{0};
    rt.set_workers(1);
    rt.post(color{1}, [&] {
      for (unsigned n = 0; n < 8; ++n) post(color{2 + n}, [&] { ran.fetch_add(1); });
      rt.set_workers(2);
      spin_until([&] { return ran.load() == 8; });
    });
    rt.run_until_idle();
    EXPECT_EQ(ran.load(), 8);
  }
}

// All workers are in an event, and have work behind it. The last one is told to leave; its event ends, and another one's, but those of the others wait
// for what it had.
TEST_P(changing_workers_keep_the_promise, that_one_that_stays_takes_what_a_leaving_worker_had) {
  const unsigned all = most();
  for (unsigned round = 0; round < rounds(20); ++round) {
    options with = settings();
    with.workers = all;
    runtime rt{with};
    std::atomic<unsigned> begun{0};
    std::atomic<unsigned> ran{0};
    std::atomic<unsigned> out{0};  // events that wait for nothing more
    for (unsigned n = 0; n < all; ++n) {
      rt.post(color{100 + n}, [&, all] {
        begun.fetch_add(1);
        spin_until([&] { return begun.load() >= all; });  // each on a worker of its own
        for (unsigned k = 0; k < 4; ++k) post(color::unordered, [&] { ran.fetch_add(1); });
        if (begun.fetch_add(1) == 2 * all - 1) rt.set_workers(all - 1);
        spin_until([&] { return begun.load() == 2 * all && rt.workers() == all - 1; });
        // Two may go on, so at least one of them stays; the others are stuck.
        if (out.fetch_add(1) >= 2) spin_until([&] { return ran.load() == 4 * all; });
      });
    }
    rt.run_until_idle();
    EXPECT_EQ(ran.load(), 4 * all);
  }
}

// Each worker gets one of the colors; all but one leave; what is posted to the colors then, or meanwhile, is run by the one that stays.
TEST_P(changing_workers_keep_the_promise, that_colors_of_a_worker_that_leaves_are_served) {
  const unsigned all = most();
  std::atomic<unsigned> left{0};
  options with = settings();
  with.workers = all;
  with.on_worker_stop = [&](unsigned) { left.fetch_add(1); };
  std::atomic<unsigned> begun{0};
  std::atomic<unsigned> ran{0};
  runtime rt{with};
  std::vector<strand> strands;
  for (unsigned n = 0; n < all; ++n) strands.emplace_back(rt);
  std::thread outside{[&] {
    for (unsigned round = 1; round <= rounds(50); ++round) {
      rt.set_workers(all);
      const unsigned left_before = left.load();
      for (strand& each : strands) {
        each.post([&, round] {
          begun.fetch_add(1);
          spin_until([&] { return begun.load() >= all * round; });
        });
      }
      spin_until([&] { return begun.load() == all * round; });
      rt.set_workers(1);
      if (round % 2 == 0) spin_until([&] { return left.load() == left_before + all - 1; });
      for (strand& each : strands) each.post([&] { ran.fetch_add(1); });
      spin_until([&] { return ran.load() == all * round && left.load() == left_before + all - 1; });
    }
    rt.stop();
  }};
  EXPECT_EQ(rt.run(), 0);
  outside.join();
  EXPECT_EQ(ran.load(), all * rounds(50));
}

// --- 14, life ---

TEST_P(changing_workers_keep_the_promise, that_no_thread_starts_before_run) {
  const std::size_t before = test::threads();
  runtime rt{settings()};
  rt.set_workers(most());
  EXPECT_EQ(rt.workers(), most());
  EXPECT_EQ(test::threads(), before);
}

TEST_P(changing_workers_keep_the_promise, that_run_until_idle_returns_when_nothing_is_left_and_not_before) {
  runtime rt{settings()};
  std::optional<changer> changes{std::in_place, rt, most()};
  for (unsigned round = 0; round < rounds(200); ++round) {
    unsigned ran = 0;  // plain: each event posts the next
    std::function<void(unsigned)> chain = [&](unsigned n) {
      ++ran;
      if (n != 0) post(color{n}, [&chain, n] { chain(n - 1); });
    };
    rt.post(color{11}, [&] { chain(10); });
    rt.run_until_idle();
    ASSERT_EQ(ran, 11u);
  }
}

TEST_P(changing_workers_keep_the_promise, that_run_returns_after_stop_and_what_was_posted_before_has_run) {
  for (unsigned round = 0; round < rounds(20); ++round) {
    runtime rt{settings()};
    const changer changes{rt, most()};
    std::atomic<unsigned> ran{0};
    for (unsigned n = 0; n < 50; ++n) rt.post(color{1 + n % 9}, [&] { ran.fetch_add(1); });
    rt.post(color{10}, [&] { rt.stop(); });
    EXPECT_EQ(rt.run(), 0);
    EXPECT_EQ(ran.load(), 50u);
    EXPECT_FALSE(rt.post(color{1}, [] {}));
  }
}

TEST_P(changing_workers_keep_the_promise, that_a_drain_runs_or_destroys_each_event_once) {
  using namespace std::chrono_literals;
  for (unsigned round = 0; round < rounds(20); ++round) {
    constexpr unsigned posted = 200;
    std::atomic<unsigned> ran{0};
    const auto token = std::make_shared<int>(0);
    runtime rt{settings()};
    const changer changes{rt, most()};
    for (unsigned n = 0; n < posted; ++n) rt.post(color{1 + n % 9}, [&ran, token] { ran.fetch_add(1); });
    if (round % 2 == 0) rt.run_for(0ns);
    const drained end = rt.drain(round % 4 < 2 ? 0ns : 1h);
    EXPECT_EQ(ran.load() + end.destroyed, posted);
    EXPECT_EQ(token.use_count(), 1) << "each callable is destroyed";
  }
}

TEST_P(changing_workers_keep_the_promise, that_each_worker_that_starts_stops_and_none_is_left) {
  options with = settings();
  std::array<std::atomic<int>, 256> there{};
  std::atomic<bool> twice{false};
  with.on_worker_start = [&](unsigned n) {
    if (there.at(n).fetch_add(1) != 0) twice = true;
  };
  with.on_worker_stop = [&](unsigned n) { there.at(n).fetch_sub(1); };
  {
    runtime rt{with};
    const changer changes{rt, most()};
    std::atomic<unsigned> left{rounds(2000)};
    std::function<void()> chain = [&] {
      if (left.fetch_sub(1) > 1) post(current_color(), [&chain] { chain(); });
    };
    rt.post(color{1}, [&chain] { chain(); });
    rt.run_until_idle();
    changes.wait_for(10);  // while nobody runs
    rt.run_until_idle();
  }
  EXPECT_FALSE(twice.load()) << "a worker starts only when the one before with its number has stopped";
  for (const auto& each : there) EXPECT_EQ(each.load(), 0);
}

}  // namespace
}  // namespace tartan
