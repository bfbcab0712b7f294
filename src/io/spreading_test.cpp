// Wake-ups that spread as a tree, where there are CPUs for it: each step by hand; docs/design/sleeping.md.

#include <gtest/gtest.h>

#include <cstddef>
#include <tartan/core/strand.h>
#include <vector>

#include "core/runtime_state.h"
#include "io/workers_at_rest_fixture.h"

namespace tartan {
namespace {

class a_worker_behind_a_long_event : public test::workers_at_rest {
 protected:
  /// Worker 0 has got up for that, and finds so many colors; as many workers are awake, with itself.
  [[nodiscard]] std::size_t wakes(unsigned awake, int colors) {
    const std::vector<strand> line = line_at(0, colors);
    for (unsigned n = awake; n < size(); ++n) static_cast<void>(rests(n));
    life().at(0).spreads = true;
    worker_0_finds_work();
    return claimed().size();
  }
  [[nodiscard]] unsigned cpus() { return rt.state().cpus().count(); }
};
INSTANTIATE_TEST_SUITE_P(io, a_worker_behind_a_long_event, testing::Values(2, 4, 8), test::worker_name);

// Each of them does the same: a tree.
TEST_P(a_worker_behind_a_long_event, wakes_two_for_more_than_it_takes) {
  EXPECT_EQ(wakes(1, 3), size() == 2 || cpus() == 1 ? 1u : 2u);
}

TEST_P(a_worker_behind_a_long_event, wakes_one_at_most_while_as_many_are_awake_as_there_are_cpus) {
  EXPECT_LE(wakes(cpus(), 3), 1u);
}

}  // namespace
}  // namespace tartan
