#include "core/sched/core_distance.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace tartan::detail {
namespace {

/// A machine in files, as sysfs shows one.
class machine {
 public:
  void cache(unsigned cpu, unsigned index, unsigned level, const std::string& shared_by) {
    const std::filesystem::path at = cpu_folder(cpu) / "cache" / ("index" + std::to_string(index));
    std::filesystem::create_directories(at);
    std::ofstream{at / "level"} << level << '\n';
    std::ofstream{at / "shared_cpu_list"} << shared_by << '\n';
  }
  void node(unsigned cpu, unsigned number) { std::filesystem::create_directories(cpu_folder(cpu) / ("node" + std::to_string(number))); }
  [[nodiscard]] std::string root() const { return folder_.path().string(); }

 private:
  [[nodiscard]] std::filesystem::path cpu_folder(unsigned cpu) const {
    return folder_.path() / "devices" / "system" / "cpu" / ("cpu" + std::to_string(cpu));
  }
  test::temporary_folder folder_;
};

using order = std::vector<std::vector<unsigned>>;

/// Mely's machine: pairs of cores share a second-level cache.
TEST(core_distance, visits_the_one_behind_the_same_cache_first) {
  machine m;
  for (unsigned cpu = 0; cpu < 4; ++cpu) {
    m.cache(cpu, 0, 1, std::to_string(cpu));
    m.cache(cpu, 1, 2, cpu % 2 == 0 ? "0,2" : "1,3");
    m.cache(cpu, 2, 3, "0-3");
  }
  EXPECT_EQ(nearest_first({0, 1, 2, 3}, m.root()), (order{{2, 1, 3}, {3, 2, 0}, {0, 3, 1}, {1, 0, 2}}));
}

TEST(core_distance, goes_by_the_node_where_no_cache_is_shared) {
  machine m;
  for (unsigned cpu = 0; cpu < 4; ++cpu) {
    m.cache(cpu, 0, 1, std::to_string(cpu));
    m.node(cpu, cpu / 2);
  }
  EXPECT_EQ(nearest_first({0, 1, 2, 3}, m.root()), (order{{1, 2, 3}, {0, 2, 3}, {3, 0, 1}, {2, 0, 1}}));
}

TEST(core_distance, is_the_place_where_the_system_tells_nothing) {
  EXPECT_EQ(nearest_first({3, 1, 2}, "/nowhere"), (order{{1, 2}, {2, 0}, {0, 1}}));
}

TEST(core_distance, reads_this_machine) {
  const order here = nearest_first({0, 1});
  EXPECT_EQ(here, (order{{1}, {0}}));
}

}  // namespace
}  // namespace tartan::detail
