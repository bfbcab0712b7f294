// Contract 1: two events of one color never run at the same time.
//
// Each test keeps plain data per color; what breaks the promise is a wrong count here and a race to ThreadSanitizer.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
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

class exclusion : public test::on_workers {};
class exclusion_across_steals : public test::on_workers {};

/// Plain data of one color.
struct guarded {
  bool inside = false;
  unsigned long count = 0;
  bool met = false;

  void visit() {
    met = met || inside;
    inside = true;
    std::this_thread::yield();  // an invitation to whoever should not come in
    ++count;
    inside = false;
  }
};

TEST_P(exclusion, two_events_of_one_color_never_run_at_the_same_time) {
  runtime rt{settings()};
  static constexpr unsigned colors = 4;
  const unsigned each = rounds(500);
  std::array<guarded, colors> data;
  std::vector<std::thread> outside;
  for (unsigned t = 0; t < 3; ++t) {
    outside.emplace_back([&] {
      for (unsigned n = 0; n < each; ++n) {
        const unsigned c = n % colors;
        rt.post(color{c + 1}, [&data, &rt, c] {
          data[c].visit();
          const unsigned other = (c + 1) % colors;
          rt.post(color{other + 1}, [&data, other] { data[other].visit(); });
        });
      }
    });
  }
  rt.run_for(std::chrono::milliseconds{1});
  for (std::thread& t : outside) t.join();
  rt.run_until_idle();
  unsigned long total = 0;
  for (const guarded& d : data) {
    EXPECT_FALSE(d.met);
    total += d.count;
  }
  EXPECT_EQ(total, 2ul * 3 * each);
}

TEST_P(exclusion, two_events_of_one_strand_never_run_at_the_same_time_whether_posted_by_handle_or_by_value) {
  runtime rt{settings()};
  constexpr unsigned strands = 3;
  const unsigned each = rounds(500);
  std::vector<strand> owned;
  for (unsigned n = 0; n < strands; ++n) owned.emplace_back(rt);
  std::array<guarded, strands> data;
  std::vector<std::thread> outside;
  for (unsigned t = 0; t < 2; ++t) {
    outside.emplace_back([&, t] {
      for (unsigned n = 0; n < each; ++n) {
        const unsigned s = n % strands;
        const auto visit = [&data, s] { data[s].visit(); };
        if (t == 0) {
          owned[s].post(visit);
        } else {
          rt.post(owned[s].value(), visit);
        }
        rt.post(color{n % 7 + 1}, [&owned, visit, s] { owned[s].post(visit); });
      }
    });
  }
  rt.run_for(std::chrono::milliseconds{1});
  for (std::thread& t : outside) t.join();
  rt.run_until_idle();
  unsigned long total = 0;
  for (const guarded& d : data) {
    EXPECT_FALSE(d.met);
    total += d.count;
  }
  EXPECT_EQ(total, 2ul * 2 * each);
}

/// Every event of the color is held up until another worker has come for the color.
TEST_P(exclusion_across_steals, an_event_that_runs_keeps_the_others_of_its_color_from_being_stolen) {
  runtime rt{settings()};
  guarded data;
  std::atomic<unsigned> elsewhere{0};
  for (unsigned round = 0; round < rounds(20); ++round) {
    const unsigned before = elsewhere.load();
    rt.post(color{1}, [&, before] {
      for (unsigned n = 0; n < 20; ++n) rt.post(color{1}, [&] { data.visit(); });
      // Another color's event behind this one runs only on a worker that came to steal.
      rt.post(color{2}, [&] { elsewhere.fetch_add(1); });
      data.inside = true;
      test::spin_until([&] { return elsewhere.load() != before; });
      data.inside = false;
    });
    rt.run_until_idle();
  }
  EXPECT_FALSE(data.met);
  EXPECT_EQ(data.count, 20ul * rounds(20));
  EXPECT_GT(rt.counters().stolen_colors, 0u);
}

INSTANTIATE_TEST_SUITE_P(workers, exclusion, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, exclusion_across_steals, testing::ValuesIn(test::several_workers()),
                         test::worker_name);

}  // namespace
}  // namespace tartan
