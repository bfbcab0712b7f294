// Which workers a thief visits, and in which order.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <source_location>
#include <string>
#include <tartan/core/runtime.h>
#include <utility>
#include <vector>

#include "core/cpus.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/default_policy.h"
#include "core/sched/default_policy_probe.h"
#include "core/sched/scheduled.h"
#include "tests/temporary_folder.h"

namespace tartan::detail {

namespace {

constexpr std::uint64_t now_ns = 1'000'000'000;

using order = std::vector<unsigned>;

/// Whom each of five workers robs first, on a machine whose CPUs of even number share a cache, and those of odd number another one.
std::vector<order> victims_of(bool bound) {
  const test::temporary_folder folder;
  const cpu_mask usable = cpu_mask::of_this_thread();
  for (const unsigned cpu : usable.cpus()) {
    const std::filesystem::path cache = folder.path() / "devices" / "system" / "cpu" / ("cpu" + std::to_string(cpu)) / "cache" / "index0";
    std::filesystem::create_directories(cache);
    std::ofstream{cache / "level"} << "2\n";
    std::ofstream shared{cache / "shared_cpu_list"};
    for (unsigned other = cpu % 2; other < 4096; other += 2) shared << other << (other + 2 < 4096 ? "," : "\n");
  }
  options with;
  with.workers = 5;
  with.bind_workers = bound;
  runtime rt{with};
  scheduled<default_policy> made{rt.state()};
  default_policy& policy = made.inner();
  for (unsigned n = 0; n < 5; ++n) default_policy_probe::order_of(policy, rt.state().life().at(n)).clear();
  default_policy_probe::set_order(policy, folder.path().string());
  std::vector<order> found;
  for (unsigned n = 0; n < 5; ++n) found.push_back(default_policy_probe::order_of(policy, rt.state().life().at(n)));
  return found;
}

const std::vector<order> round_about{{1, 2, 3, 4}, {2, 3, 4, 0}, {3, 4, 0, 1}, {4, 0, 1, 2}, {0, 1, 2, 3}};

TEST(victims, are_visited_round_if_workers_are_not_bound_to_a_place) { EXPECT_EQ(victims_of(false), round_about); }

TEST(victims, are_visited_nearest_cache_first_if_they_are) {
  const std::vector<unsigned> cpus = cpu_mask::of_this_thread().in_turn(5);
  std::vector<order> expected(5);
  for (unsigned from = 0; from < 5; ++from) {
    for (const unsigned far : {0u, 1u}) {
      for (const unsigned to : round_about[from]) {
        if ((cpus[from] + cpus[to]) % 2 == far) expected[from].push_back(to);
      }
    }
  }
  EXPECT_EQ(victims_of(true), expected);
}

TEST(victims, are_robbed_in_their_order_if_it_pays) {
  options with;
  with.workers = 3;
  runtime rt{with};
  auto made = std::make_unique<scheduled<default_policy>>(rt.state());
  default_policy& policy = made->inner();
  rt.state().use(std::move(made));
  worker& thief = rt.state().life().at(0);
  default_policy_probe::order_of(policy, thief) = {2, 1};
  for (const unsigned n : {1u, 2u}) {
    policy.submit(color{n}, *make_event(rt.state(), [] {}, std::source_location::current()), &rt.state().life().at(n));
    default_policy_probe::glance_of(policy, thief, n).since_ns = now_ns - 100'000;
  }
  EXPECT_TRUE(default_policy_probe::visit_others(policy, thief, now_ns));
  EXPECT_EQ(policy.waiting(2), 0u);
  EXPECT_EQ(policy.waiting(1), 1u);
}

}  // namespace
}  // namespace tartan::detail
