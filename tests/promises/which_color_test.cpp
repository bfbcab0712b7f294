// Contract 5: which color runs what.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <utility>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

class which_color : public test::on_workers {};

TEST_P(which_color, a_post_without_a_color_uses_the_default_color_whatever_color_runs) {
  runtime rt{settings()};
  color first{99};
  color second{99};
  color third{99};
  rt.post(color{7}, [&] {
    post([&] { first = current_color(); });
    rt.post([&] { second = current_color(); });
    dispatch(color{}, [&] { third = current_color(); });
    EXPECT_EQ(current_color(), color{7});
  });
  rt.run_until_idle();
  EXPECT_EQ(first, color{});
  EXPECT_EQ(second, color{});
  EXPECT_EQ(third, color{});
}

TEST_P(which_color, a_callback_made_by_bind_brings_its_own_color_and_wins) {
  runtime rt{settings()};
  std::vector<color> ran;
  const auto callback = bind(color{5}, [&ran] { ran.push_back(current_color()); });
  EXPECT_EQ(callback.where(), color{5});
  rt.post(color{7}, callback);  // a module that knows nothing of colors calls it from wherever it is
  rt.post(callback);
  rt.post(color{5}, callback);
  rt.run_until_idle();
  EXPECT_EQ(ran, (std::vector<color>{color{5}, color{5}, color{5}}));
}

TEST_P(which_color, every_event_runs_in_the_color_that_it_was_posted_to) {
  runtime rt{settings()};
  strand owned{rt, "owned"};
  std::vector<char> wrong(200, 0);
  for (unsigned n = 0; n < 100; ++n) {
    const color by_value{n + 1};
    rt.post(by_value, [&wrong, n, by_value] { wrong[n] = current_color() != by_value; });
    owned.post([&wrong, &owned, n] { wrong[100 + n] = current_color() != owned.value(); });
  }
  rt.run_until_idle();
  for (const char each : wrong) EXPECT_EQ(each, 0);
}

TEST_P(which_color, unordered_events_see_their_color_and_may_post_to_any) {
  runtime rt{settings()};
  color seen{};
  color after{};
  rt.post(color::unordered, [&] {
    seen = current_color();
    post(color{3}, [&] { after = current_color(); });
  });
  rt.run_until_idle();
  EXPECT_EQ(seen, color::unordered);
  EXPECT_EQ(after, color{3});
}

INSTANTIATE_TEST_SUITE_P(workers, which_color, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
