// Contract 3: no lock, fence or atomic in user code. All data here is plain; ThreadSanitizer is the judge, the sums are the witness.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

using test::rounds;

class visibility : public test::on_workers {};

TEST_P(visibility, what_happened_before_a_post_is_visible_to_the_event) {
  runtime rt{settings()};
  const unsigned each = rounds(500);
  std::vector<unsigned> written(each);
  unsigned long sum = 0;
  std::thread outside{[&] {
    for (unsigned n = 0; n < each; ++n) {
      written[n] = n;
      rt.post(color{n % 3 + 1}, [&written, &sum, &rt, n] {
        written[n] += 1;
        rt.post([&written, &sum, n] { sum += written[n]; });
      });
    }
    rt.stop();
  }};
  EXPECT_EQ(rt.run(), 0);
  outside.join();
  EXPECT_EQ(sum, static_cast<unsigned long>(each) * (each + 1) / 2);
}

TEST_P(visibility, what_an_event_did_is_visible_to_the_next_event_of_its_color_on_whichever_worker) {
  runtime rt{settings()};
  const unsigned each = rounds(300);
  struct baton {
    runtime& rt;
    std::vector<unsigned> data;
    unsigned left;
    void step(color c) {
      data.push_back(left);
      if (--left != 0) {
        rt.post(c, [this, c] { step(c); });
      } else {
        done = true;
      }
      std::this_thread::yield();
    }
    bool done = false;
  };
  std::vector<std::unique_ptr<baton>> batons;
  for (unsigned n = 0; n < 16; ++n) {
    batons.push_back(std::make_unique<baton>(baton{rt, {}, each}));
    rt.post(color{n + 1}, [b = batons.back().get(), n] { b->step(color{n + 1}); });
  }
  rt.run_until_idle();
  for (const auto& b : batons) {
    EXPECT_TRUE(b->done);
    EXPECT_EQ(b->data.size(), each);
  }
}

TEST_P(visibility, after_run_until_idle_the_caller_sees_what_all_events_did) {
  runtime rt{settings()};
  std::vector<unsigned> data(64);
  for (unsigned round = 1; round <= rounds(50); ++round) {
    for (unsigned n = 0; n < data.size(); ++n) {
      ++data[n];  // the caller's turn: nobody else touches it
      rt.post(color{n + 1}, [&data, n] { ++data[n]; });
    }
    rt.run_until_idle();
    for (const unsigned each : data) ASSERT_EQ(each, 2 * round);
  }
}

TEST_P(visibility, after_run_the_caller_sees_what_all_events_did) {
  std::vector<unsigned> data(64);
  {
    runtime rt{settings()};
    for (unsigned n = 0; n < data.size(); ++n) {
      rt.post(color{n + 1}, [&data, n] { data[n] = n; });
    }
    rt.post([&rt] { rt.stop(); });
    EXPECT_EQ(rt.run(), 0);
    for (unsigned n = 0; n < data.size(); ++n) EXPECT_EQ(data[n], n);
    for (unsigned& each : data) each = 0;
  }
  for (const unsigned each : data) EXPECT_EQ(each, 0u);
}

TEST_P(visibility, after_drain_the_caller_sees_what_all_events_did) {
  runtime rt{settings()};
  std::vector<unsigned> data(64);
  for (unsigned n = 0; n < data.size(); ++n) {
    rt.post(color{n + 1}, [&data, n] { data[n] = n; });
  }
  EXPECT_TRUE(rt.drain(std::chrono::hours{1}).complete);
  for (unsigned n = 0; n < data.size(); ++n) EXPECT_EQ(data[n], n);
}

TEST_P(visibility, an_event_sees_what_the_caller_did_between_two_runs) {
  runtime rt{settings()};
  strand s{rt, "owner"};
  unsigned long value = 1;
  for (unsigned round = 0; round < rounds(200); ++round) {
    const unsigned long expected = value;
    bool right = false;
    s.post([&] {
      right = value == expected;
      ++value;
    });
    rt.run_until_idle();
    ASSERT_TRUE(right);
    ++value;
  }
}

INSTANTIATE_TEST_SUITE_P(workers, visibility, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
