// Contract 2: events of one color run in the order in which their posts took effect.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <tartan/core/event_batch.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

using test::rounds;
using test::spin_until;

class order : public test::on_workers {};
class order_across_steals : public test::on_workers {};

/// Plain data of one color: the last number from each producer.
struct sequence_check {
  std::array<unsigned, 8> last{};
  unsigned long seen = 0;
  bool wrong = false;

  void take(unsigned producer, unsigned number) {
    wrong = wrong || number <= last[producer];
    last[producer] = number;
    ++seen;
  }
};

TEST_P(order, posts_of_one_foreign_thread_to_one_color_run_in_its_order) {
  runtime rt{settings()};
  constexpr unsigned producers = 3;
  constexpr unsigned colors = 5;
  const unsigned each = rounds(2000);
  std::array<sequence_check, colors> checks;
  std::vector<std::thread> outside;
  for (unsigned p = 0; p < producers; ++p) {
    outside.emplace_back([&, p] {
      for (unsigned n = 1; n <= each; ++n) {
        for (unsigned c = 0; c < colors; ++c) rt.post(color{c}, [&checks, p, n, c] { checks[c].take(p, n); });
      }
      if (p == 0) rt.stop();
    });
  }
  rt.run();
  for (std::thread& t : outside) t.join();
  for (const sequence_check& check : checks) {
    EXPECT_FALSE(check.wrong);
    EXPECT_EQ(check.last[0], each);
  }
}

TEST_P(order, posts_of_events_to_one_color_run_in_the_order_of_each_poster) {
  runtime rt{settings()};
  const unsigned each = rounds(400);
  strand target{rt, "target"};
  sequence_check check;
  for (unsigned p = 0; p < 8; ++p) {
    rt.post(color{p + 1}, [&, p] {
      struct producer {
        strand& target;
        sequence_check& check;
        unsigned p;
        unsigned each;
        void step(unsigned n) const {
          const producer self = *this;
          target.post([self, n] { self.check.take(self.p, n); });
          if (n < each) post(current_color(), [self, n] { self.step(n + 1); });
        }
      };
      producer{target, check, p, each}.step(1);
    });
  }
  rt.run_until_idle();
  EXPECT_FALSE(check.wrong);
  EXPECT_EQ(check.seen, 8ul * each);
}

/// A is posted from outside, a flag is set, B is posted by an event that saw the flag.
enum class route { running_color, color_by_value, strand_of_this_worker, strand_by_value };

std::string outcome_of_a_remote_and_then_a_local_post(runtime& rt, route how) {
  std::string ran;
  std::atomic<bool> ready{false};
  std::atomic<bool> posted{false};
  std::optional<strand> own;
  std::thread outside{[&] {
    spin_until([&] { return ready.load(std::memory_order_acquire); });
    const auto a = [&ran] { ran += 'A'; };
    if (how == route::strand_of_this_worker) {
      own->post(a);
    } else if (how == route::strand_by_value) {
      rt.post(own->value(), a);
    } else {
      rt.post(color{5}, a);
    }
    posted.store(true, std::memory_order_release);
  }};
  rt.post(how == route::running_color ? color{5} : color{6}, [&] {
    if (how == route::color_by_value) rt.post(color{5}, [&ran] { ran += '0'; });  // makes the color this worker's
    if (how == route::strand_of_this_worker || how == route::strand_by_value) own.emplace(rt);
    ready.store(true, std::memory_order_release);
    spin_until([&] { return posted.load(std::memory_order_acquire); });
    const auto b = [&ran] { ran += 'B'; };
    if (how == route::strand_of_this_worker) {
      own->post(b);
    } else if (how == route::strand_by_value) {
      rt.post(own->value(), b);
    } else {
      rt.post(color{5}, b);
    }
  });
  rt.run_until_idle();
  outside.join();
  own.reset();
  rt.run_until_idle();
  return ran;
}

TEST_P(order, a_post_from_outside_that_happened_before_a_local_post_runs_first) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(50); ++round) {
    ASSERT_EQ(outcome_of_a_remote_and_then_a_local_post(rt, route::running_color), "AB");
    ASSERT_EQ(outcome_of_a_remote_and_then_a_local_post(rt, route::color_by_value), "0AB");
    ASSERT_EQ(outcome_of_a_remote_and_then_a_local_post(rt, route::strand_of_this_worker), "AB");
    ASSERT_EQ(outcome_of_a_remote_and_then_a_local_post(rt, route::strand_by_value), "AB");
  }
}

TEST_P(order, a_chain_of_posts_through_three_colors_keeps_cause_before_effect) {
  runtime rt{settings()};
  constexpr unsigned chains = 8;
  std::array<sequence_check, chains> checks;
  for (unsigned round = 0; round < rounds(200); ++round) {
    for (unsigned k = 0; k < chains; ++k) {
      sequence_check& check = checks[k];
      const color target{100 + k};
      const unsigned n = 2 * round + 1;
      rt.post(color{10 + k}, [&rt, &check, target, n, k] {
        rt.post(target, [&check, n] { check.take(0, n); });
        rt.post(color{20 + (k + 3) % chains}, [&rt, &check, target, n, k] {
          rt.post(color{30 + (k + 5) % chains},
                  [&rt, &check, target, n] { rt.post(target, [&check, n] { check.take(0, n + 1); }); });
        });
      });
    }
    if (round % 16 == 0) rt.run_until_idle();
    rt.run_until_idle();
  }
  for (const sequence_check& check : checks) {
    EXPECT_FALSE(check.wrong);
    EXPECT_EQ(check.seen, 2ul * rounds(200));
  }
}

TEST_P(order, a_batch_keeps_its_order_and_its_place_among_posts) {
  runtime rt{settings()};
  std::string ran;
  const auto add = [&rt, &ran](char c) { rt.post(color{1}, [&ran, c] { ran += c; }); };
  add('a');
  event_batch batch{rt};
  for (char c = 'b'; c < 'f'; ++c) {
    batch.add(color{1}, [&ran, c] { ran += c; });
    batch.add(color{2}, [] {});
  }
  EXPECT_TRUE(rt.post(std::move(batch)));
  add('f');
  rt.run_until_idle();
  EXPECT_EQ(ran, "abcdef");
}

/// The first half of the posts is local to the worker that the color lives on; then another worker takes the color away.
TEST_P(order_across_steals, posts_before_and_after_a_steal_run_in_order) {
  runtime rt{settings()};
  sequence_check check;
  unsigned number = 0;
  for (unsigned round = 0; round < rounds(30); ++round) {
    std::atomic<bool> stolen{false};
    rt.post(color{1}, [&] {
      for (unsigned n = 0; n < 50; ++n) {
        rt.post(color{2}, [&check, &stolen, sent = ++number] {
          check.take(0, sent);
          stolen.store(true, std::memory_order_release);
        });
      }
      spin_until([&] { return stolen.load(std::memory_order_acquire); });
      for (unsigned n = 0; n < 50; ++n) rt.post(color{2}, [&check, sent = ++number] { check.take(0, sent); });
    });
    rt.run_until_idle();
  }
  EXPECT_FALSE(check.wrong);
  EXPECT_EQ(check.seen, 100ul * rounds(30));
}

INSTANTIATE_TEST_SUITE_P(workers, order, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, order_across_steals, testing::ValuesIn(test::several_workers()), test::worker_name);

}  // namespace
}  // namespace tartan
