#include "core/cpus.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <thread>

#include "core/fake_system.h"

namespace tartan::detail {
namespace {

// A machine with eight CPUs.
int eight_cpus(pid_t, std::size_t bytes, cpu_set_t* set) {
  CPU_ZERO_S(bytes, set);
  for (int cpu = 4; cpu < 12; ++cpu) CPU_SET_S(cpu, bytes, set);
  return 0;
}
int refused(pid_t, std::size_t, cpu_set_t*) {
  errno = EPERM;
  return -1;
}
int wants_4096_bits(pid_t, std::size_t bytes, cpu_set_t* set) {
  if (bytes < 512) {
    errno = EINVAL;
    return -1;
  }
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(7, bytes, set);
  CPU_SET_S(4000, bytes, set);
  return 0;
}
int never_enough(pid_t, std::size_t, cpu_set_t*) {
  errno = EINVAL;
  return -1;
}
int cannot_bind(pid_t, std::size_t, const cpu_set_t*) {
  errno = EINVAL;
  return -1;
}

class usable_cpus_of_a_fake_system : public test::fake_system {
 protected:
  usable_cpus_of_a_fake_system() {
    from_.root = root();
    from_.affinity.get = &eight_cpus;
  }
  unsigned count() { return usable_cpus(from_); }

  cpu_sources from_;
};

TEST_F(usable_cpus_of_a_fake_system, are_those_of_the_affinity_mask_if_nothing_else_is_known) {
  EXPECT_EQ(count(), 8u);
}

TEST_F(usable_cpus_of_a_fake_system, are_cut_to_the_quota_rounded_up) {
  unified("/app");
  file("/sys/fs/cgroup/app/cpu.max", "250000 100000");
  EXPECT_EQ(count(), 3u);
  file("/sys/fs/cgroup/app/cpu.max", "200000 100000");
  EXPECT_EQ(count(), 2u);
}

TEST_F(usable_cpus_of_a_fake_system, are_at_least_one_and_at_most_those_of_the_mask) {
  unified("/app");
  file("/sys/fs/cgroup/app/cpu.max", "1000 100000");
  EXPECT_EQ(count(), 1u);
  file("/sys/fs/cgroup/app/cpu.max", "0 100000");
  EXPECT_EQ(count(), 1u);
  file("/sys/fs/cgroup/app/cpu.max", "6400000 100000");
  EXPECT_EQ(count(), 8u);
}

TEST_F(usable_cpus_of_a_fake_system, are_limited_by_the_tightest_group_on_the_way_to_the_root) {
  unified("/pod/app/worker");
  file("/sys/fs/cgroup/pod/app/worker/cpu.max", "max 100000");
  file("/sys/fs/cgroup/pod/app/cpu.max", "700000 100000");
  file("/sys/fs/cgroup/pod/cpu.max", "150000 50000");
  EXPECT_EQ(count(), 3u);
  file("/sys/fs/cgroup/cpu.max", "200000 100000");  // the root of what a container sees has limits of its own
  EXPECT_EQ(count(), 2u);
}

TEST_F(usable_cpus_of_a_fake_system, are_found_in_a_container_that_sees_its_own_group_as_the_root) {
  unified("/docker/abc/inner", "/docker/abc");
  file("/sys/fs/cgroup/inner/cpu.max", "500000 100000");
  EXPECT_EQ(count(), 5u);
  file("/sys/fs/cgroup/cpu.max", "400000 100000");
  EXPECT_EQ(count(), 4u);
  unified("/docker/abc", "/docker/abc");
  EXPECT_EQ(count(), 4u);
}

TEST_F(usable_cpus_of_a_fake_system, come_from_the_mount_root_if_the_group_lies_outside_of_it) {
  file("/sys/fs/cgroup/cpu.max", "600000 100000");
  unified("/../../elsewhere");
  EXPECT_EQ(count(), 6u);
  unified("/docker/abcdef", "/docker/abc");
  EXPECT_EQ(count(), 6u);
}

TEST_F(usable_cpus_of_a_fake_system, know_the_quota_of_version_1) {
  file("/proc/self/cgroup", "9:name=systemd:/\n2:cpuset:/x\n4:cpu,cpuacct:/a:b/c\n0::/");
  file("/proc/self/mountinfo",
       "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
       "34 31 0:31 / /sys/fs/cgroup/cpu\\040time rw shared:1 master:2 - cgroup cgroup rw,cpu,cpuacct\n"
       "38 31 0:35 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
  EXPECT_EQ(count(), 8u);
  const std::string group = "/sys/fs/cgroup/cpu time/a:b";
  file(group + "/c/cpu.cfs_quota_us", "-1");
  file(group + "/c/cpu.cfs_period_us", "100000");
  EXPECT_EQ(count(), 8u);
  file(group + "/cpu.cfs_quota_us", "120000");
  file(group + "/cpu.cfs_period_us", "50000");
  EXPECT_EQ(count(), 3u);
}

TEST_F(usable_cpus_of_a_fake_system, are_not_limited_by_what_cannot_be_understood) {
  unified("/app");
  for (const char* text :
       {"", "max", "many 100000", "100000", "100000 0", "100000 x", "-5 100000", "99999999999999999999 1"}) {
    file("/sys/fs/cgroup/app/cpu.max", text);
    EXPECT_EQ(count(), 8u) << text;
  }
  file("/proc/self/cgroup", "rubbish\n0:\n::\n");
  EXPECT_EQ(count(), 8u);
  unified("/app");
  file("/proc/self/mountinfo", "rubbish\n1 2 3 4 5 -\n- cgroup2 x y\n");
  EXPECT_EQ(count(), 8u);
}

TEST_F(usable_cpus_of_a_fake_system, are_those_online_if_the_mask_is_refused) {
  from_.affinity.get = &refused;
  EXPECT_GE(count(), 1u);
  from_.affinity.get = &never_enough;
  EXPECT_GE(count(), 1u);
}

TEST_F(usable_cpus_of_a_fake_system, may_have_numbers_beyond_1024) {
  const cpu_mask mask = cpu_mask::of_this_thread({.get = &wants_4096_bits});
  EXPECT_EQ(mask.cpus(), (std::vector<unsigned>{7, 4000}));
}

TEST(usable_cpus_of_this_machine, are_at_least_one_and_at_most_those_of_the_mask) {
  EXPECT_GE(usable_cpus(), 1u);
  EXPECT_LE(usable_cpus(), cpu_mask::of_this_thread().count());
}

TEST(cpus_in_turn, count_round_in_the_mask_as_binding_does) {
  const cpu_mask mask = cpu_mask::of_this_thread();
  const std::vector<unsigned> where = mask.in_turn(mask.count() + 1);
  ASSERT_EQ(where.size(), mask.count() + 1);
  for (unsigned n = 0; n <= mask.count(); ++n) EXPECT_EQ(where[n], mask.cpus()[n % mask.count()]);
  EXPECT_EQ(cpu_mask{}.in_turn(3), (std::vector<unsigned>{0, 1, 2}));
}

TEST(binding_to_a_cpu, counts_round_in_the_mask_and_can_be_undone) {
  std::thread{[] {
    const cpu_mask all = cpu_mask::of_this_thread();
    ASSERT_GE(all.count(), 1u);
    for (unsigned n = 0; n < all.count() + 1; ++n) {
      ASSERT_EQ(bind_to_cpu(all, n), std::error_code{});
      EXPECT_EQ(cpu_mask::of_this_thread().cpus(), std::vector<unsigned>{all.cpus()[n % all.count()]});
    }
    ASSERT_EQ(bind_to_all(all), std::error_code{});
    EXPECT_EQ(cpu_mask::of_this_thread().cpus(), all.cpus());
  }}.join();
}

TEST(binding_to_a_cpu, tells_what_the_system_refuses) {
  const cpu_mask all = cpu_mask::of_this_thread();
  EXPECT_EQ(bind_to_cpu(all, 0, {.set = &cannot_bind}), std::errc::invalid_argument);
  EXPECT_EQ(bind_to_all(all, {.set = &cannot_bind}), std::errc::invalid_argument);
  EXPECT_EQ(bind_to_cpu(cpu_mask{}, 3), std::error_code{}) << "an unknown mask binds nothing";
}

}  // namespace
}  // namespace tartan::detail
