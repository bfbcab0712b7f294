// The libasync-mp thesis, figure 3-4: priorities shorten a schedule.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tartan/core/hints.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <utility>
#include <vector>

#include "core/sched/papers/policy_probes.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using probe = detail::policy_probe<detail::shared_queue_policy>;

/// Two CPUs, and callbacks that all take one unit of time. In each unit CPU 0 takes one first; while that runs, CPU 1 takes one, if there is any
/// that may run beside it. Both on the calling thread.
class two_cpus : public test::leaves_nothing {
 protected:
  using schedule = std::vector<std::string>;  ///< the callbacks of each unit, by CPU

  /// Callbacks 1 and 2 have colors 1 and 2; 3 and 4 have color 0, and this priority.
  static schedule of_figure_3_4(unsigned priority_of_color_0, const char* scheduler = "shared_queue") {
    options settings;
    settings.scheduler = scheduler;
    settings.workers = 2;
    settings.stall_after = 0ns;
    runtime rt{settings};
    schedule units;
    unsigned left = 4;
    bool is_free = false;  // CPU 1, in this unit
    const auto callback = [&](char name) {
      return [&, name] {
        units.back() += name;
        --left;
        if (std::exchange(is_free, false)) (void)probe::run_next(rt, 1);
      };
    };
    rt.post(color{1}, callback('1'));
    rt.post(color{2}, callback('2'));
    for (const char name : {'3', '4'}) rt.post(color{}, with_hints({.priority = priority_of_color_0}, callback(name)));
    while (left != 0 && units.size() < 4) {
      units.emplace_back();
      is_free = true;
      (void)probe::run_next(rt, 0);
    }
    return units;
  }
};

TEST_F(two_cpus, need_three_units_without_priorities) { EXPECT_EQ(of_figure_3_4(0), (schedule{"12", "3", "4"})); }

TEST_F(two_cpus, need_two_units_if_color_0_goes_first) { EXPECT_EQ(of_figure_3_4(1), (schedule{"31", "42"})); }

/// The thesis, 7.1: it finds the same schedule, and nobody has to tell it.
TEST_F(two_cpus, need_two_units_if_the_most_frequent_color_goes_first) {
  EXPECT_EQ(of_figure_3_4(0, "shared_queue:most-frequent"), (schedule{"31", "42"}));
}

}  // namespace
}  // namespace tartan
