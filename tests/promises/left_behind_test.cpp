// Nothing left behind: no allocation, no thread, no descriptor, no color, no callable.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tartan/core/event_batch.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <vector>

#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/strand_color.h"
#include "tests/promises/allocations.h"
#include "tests/workers.h"

namespace tartan {
namespace {

class left_behind : public test::on_workers {};

/// Counts its copies.
class counted {
 public:
  explicit counted(std::atomic<int>& live) : live_{&live} { live_->fetch_add(1); }
  counted(const counted& other) : live_{other.live_} { live_->fetch_add(1); }
  counted(counted&& other) noexcept : live_{other.live_} { live_->fetch_add(1); }
  counted& operator=(const counted&) = delete;
  ~counted() { live_->fetch_sub(1); }

 private:
  std::atomic<int>* live_;
};

/// Uses a bit of everything.
void a_life(options with, bool stop_in_the_middle) {
  std::atomic<int> live{0};
  {
    with.on_exception = [](const escaped_exception&) {};
    runtime rt{with};
    const int descriptor = rt.descriptor();
    EXPECT_GE(descriptor, 0);
    rt.name(color{3}, "three");
    strand outer{rt, "a strand with a name that does not fit into a short string"};
    std::thread outside{[&] {
      for (unsigned n = 0; n < 200; ++n) {
        rt.post(color{n % 7}, [c = counted{live}] {});
        outer.post([c = counted{live}, large = std::array<char, 200>{}] { static_cast<void>(large); });
        strand inner{rt, "short-lived"};
        inner.post([c = counted{live}] {});
      }
    }};
    for (unsigned n = 0; n < 50; ++n) {
      rt.post(color{n + 1}, [c = counted{live}, &live, n] {
        strand inner;
        inner.post([c = counted{live}] {});
        post(color::unordered, [c = counted{live}, s = std::string(100, 'x')] {});
        if (n % 10 == 0) throw std::runtime_error{"an event that fails"};
      });
    }
    event_batch never_posted{rt};
    never_posted.add(color{1}, [c = counted{live}] {});
    if (stop_in_the_middle) {
      rt.run_for(std::chrono::microseconds{200});
      rt.drain(std::chrono::nanoseconds{0});
      outside.join();
    } else {
      outside.join();
      rt.run_until_idle();
      never_posted.clear();
      EXPECT_EQ(live.load(), 0);
      EXPECT_FALSE(rt.state().policy().any_left());
    }
  }
  EXPECT_EQ(live.load(), 0);
}

TEST_P(left_behind, no_allocation_and_no_callable_after_a_runtime_ran_dry) {
  a_life(settings(), false);  // what the process allocates once
  const std::int64_t before = test::live_allocations();
  for (unsigned round = 0; round < test::rounds(5); ++round) a_life(settings(), false);
  EXPECT_EQ(test::live_allocations(), before);
}

TEST_P(left_behind, no_allocation_and_no_callable_after_a_runtime_was_cut_short) {
  a_life(settings(), true);
  const std::int64_t before = test::live_allocations();
  for (unsigned round = 0; round < test::rounds(20); ++round) a_life(settings(), true);
  EXPECT_EQ(test::live_allocations(), before);
}

/// The number of the memory line of a strand that is made now: of the next color queue, whatever its color.
std::uint64_t next_line(runtime& rt) {
  const strand probe{rt};
  return probe.value().value() & detail::strand_color::number_mask;
}

TEST_P(left_behind, no_color_that_has_had_its_events_takes_any_memory) {
  runtime rt{settings()};
  const auto ten_thousand_colors = [&rt](std::uint64_t first) {
    for (std::uint64_t n = 0; n < 10'000; ++n) rt.post(color{first + n}, [] {});
    rt.run_until_idle();
  };
  ten_thousand_colors(1);
  const std::int64_t before = test::live_allocations();
  for (std::uint64_t round = 1; round < 20; ++round) ten_thousand_colors(1 + round * 10'000);
  EXPECT_FALSE(rt.state().policy().any_left());
  // Each worker keeps some memory for its list of runnable colors. That is all there is for 190 000 colors.
  EXPECT_LE(test::live_allocations(), before + 100 * GetParam());
  EXPECT_LE(next_line(rt), 40'000u);
}

TEST_P(left_behind, no_strand_that_is_gone_takes_any_memory_named_or_not) {
  runtime rt{settings()};
  const auto some_strands = [&rt] {
    for (unsigned n = 0; n < 100; ++n) {
      strand outside{rt, "a strand with a name that does not fit into a short string"};
      outside.post([] {
        for (unsigned k = 0; k < 50; ++k) {
          strand inside{"another name that does not fit into a short string"};
          inside.post([] {});
        }
      });
    }
    rt.run_until_idle();
  };
  for (unsigned round = 0; round < 5; ++round) some_strands();
  const std::int64_t before = test::live_allocations();
  for (unsigned round = 0; round < 20; ++round) some_strands();
  EXPECT_LE(test::live_allocations(), before + 100 * GetParam());  // of 102 000 strands
  EXPECT_LE(next_line(rt), 20'000u);
}

INSTANTIATE_TEST_SUITE_P(workers, left_behind, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
