// options.follow_cpus, to its end: the process's affinity changes, and the number of workers with it.
//
// Nothing here looks at a clock: a runtime that does not follow is waited for until the test is ended from outside.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/work_guard.h>
#include <thread>

#include "core/cpus.h"
#include "tests/workers.h"

namespace tartan {
namespace {

/// The affinity of all threads of this process, as `taskset -ap` sets it; what it was comes back in the end.
class process_affinity {
 public:
  process_affinity() { EXPECT_EQ(::sched_getaffinity(0, sizeof before_, &before_), 0); }
  process_affinity(const process_affinity&) = delete;
  process_affinity& operator=(const process_affinity&) = delete;
  ~process_affinity() { restore(); }

  void restore() const { set(before_); }
  /// The first CPU only.
  void restrict_to_one() const {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_)) continue;
      CPU_SET(cpu, &one);
      return set(one);
    }
  }

 private:
  static void set(const cpu_set_t& to) {
    for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
      const auto id = static_cast<pid_t>(std::atoi(thread.path().filename().c_str()));
      (void)::sched_setaffinity(id, sizeof to, &to);  // one that has ended meanwhile needs none
    }
  }

  cpu_set_t before_{};
};

class a_runtime_that_follows_the_cpus : public test::leaves_nothing, public testing::WithParamInterface<bool> {};

TEST_P(a_runtime_that_follows_the_cpus, has_a_worker_for_each_that_the_process_may_use) {
  const process_affinity affinity;
  const unsigned all = detail::usable_cpus();
  options with;
  with.follow_cpus = true;
  with.bind_workers = GetParam();
  with.scheduler = "default";
  unsigned seen = 0;
  std::atomic<int> ran{0};
  std::thread runs{[&] {  // with bind_workers it stays bound, but ends
    runtime rt{with};
    EXPECT_EQ(rt.workers(), all);
    std::thread outside{[&, open = work_guard{rt}]() mutable {
      affinity.restrict_to_one();
      test::spin_until([&] { return rt.workers() == 1; });
      rt.post([&] { ran.fetch_add(1); });
      affinity.restore();
      test::spin_until([&] { return rt.workers() == all; });
      rt.post([&] { ran.fetch_add(1); });
      open.reset();
    }};
    rt.run_until_idle();
    outside.join();
    seen = rt.workers();
  }};
  runs.join();
  EXPECT_EQ(seen, all);
  EXPECT_EQ(ran.load(), 2);
}
INSTANTIATE_TEST_SUITE_P(binds, a_runtime_that_follows_the_cpus, testing::Bool());

}  // namespace
}  // namespace tartan
