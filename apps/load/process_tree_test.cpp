#include "load/process_tree.h"

#include <gtest/gtest.h>
#include <tartan/core/runtime.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "load/server_watch.h"

namespace load {
namespace {

double used_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// A process that uses CPU time, then says so and waits for a byte, for which it does so again; and so does a child of its own.
class burning_process {
 public:
  explicit burning_process(double seconds) {
    if (::pipe(said_.data()) != 0 || ::pipe(wanted_.data()) != 0) std::abort();
    child_ = ::fork();
    if (child_ == 0) {
      const pid_t grandchild = ::fork();
      burn(seconds);
      say();
      ::close(wanted_[1]);
      char byte = 0;
      while (::read(wanted_[0], &byte, 1) > 0) {
        burn(seconds);
        say();
      }
      if (grandchild != 0) ::waitpid(grandchild, nullptr, 0);
      ::_exit(0);
    }
    ::close(wanted_[0]);
  }
  burning_process(const burning_process&) = delete;
  burning_process& operator=(const burning_process&) = delete;
  ~burning_process() {
    ::close(wanted_[1]);
    ::waitpid(child_, nullptr, 0);
    ::close(said_[0]);
    ::close(said_[1]);
  }
  [[nodiscard]] pid_t id() const { return child_; }
  void wait_for_both() const {
    char byte = 0;
    for (int n = 0; n < 2; ++n) EXPECT_EQ(::read(said_[0], &byte, 1), 1);
  }

  /// One of the two.
  void burn_again() const {
    char byte = 'x';
    EXPECT_EQ(::write(wanted_[1], &byte, 1), 1);
    EXPECT_EQ(::read(said_[0], &byte, 1), 1);
  }

 private:
  static void burn(double seconds) {
    for (const double end = used_s() + seconds; used_s() < end;) continue;
  }
  void say() const {
    if (::write(said_[1], "x", 1) != 1) ::_exit(1);
  }

  std::array<int, 2> said_{};
  std::array<int, 2> wanted_{};
  pid_t child_ = -1;
};

tree_usage usage_of(const process_tree& tree) {
  tree_usage usage = tree.look();
  process_tree::add_times(usage);
  return usage;
}

TEST(the_usage_of_a_tree, has_that_of_what_its_processes_have_started) {
  const burning_process burning{0.05};
  burning.wait_for_both();
  const tree_usage usage = usage_of(process_tree{{burning.id()}});
  EXPECT_EQ(usage.processes.size(), 2u);
  EXPECT_GE(usage.involuntary_switches.size(), 2u) << "of threads: a sanitizer may have one of its own";
  EXPECT_GE(usage.sum().cpu_s, 0.1);
  EXPECT_LT(usage.sum().cpu_s, 0.2) << "what is counted twice, or is none of its own";
}

TEST(the_usage_of_a_tree, counts_a_process_once_that_is_named_twice) {
  const burning_process burning{0.01};
  burning.wait_for_both();
  EXPECT_EQ(usage_of(process_tree{{burning.id(), burning.id()}}).processes.size(), 2u);
}

TEST(the_usage_of_a_tree, keeps_what_children_had_used_that_have_ended) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  ASSERT_EQ(::pipe(to.data()), 0);
  ASSERT_EQ(::pipe(from.data()), 0);
  char byte = 0;
  const pid_t parent = ::fork();
  if (parent == 0) {
    static_cast<void>(::read(to[0], &byte, 1) == 1);
    {
      const burning_process burning{0.2};
      burning.wait_for_both();
    }
    static_cast<void>(::write(from[1], "x", 1) == 1 && ::read(to[0], &byte, 1) == 1);
    ::_exit(0);
  }
  const tree_usage before = usage_of(process_tree{{parent}});
  EXPECT_EQ(::write(to[1], "x", 1), 1);
  EXPECT_EQ(::read(from[0], &byte, 1), 1);
  const used_between used = between(before, usage_of(process_tree{{parent}}));
  EXPECT_GE(used.cpu_s, 0.3) << "less some ticks";
  EXPECT_EQ(::write(to[1], "x", 1), 1);
  ::waitpid(parent, nullptr, 0);
  for (const int each : {to[0], to[1], from[0], from[1]}) ::close(each);
}

TEST(the_usage_of_a_tree, leaves_out_who_looks) {
  const burning_process burning{0};
  burning.wait_for_both();
  EXPECT_EQ(usage_of(process_tree{{::getpid()}}).processes.size(), 0u);
  const std::vector<pid_t> around = usage_of(process_tree{{::getppid(), burning.id()}}).processes;
  EXPECT_EQ(std::count(around.begin(), around.end(), ::getpid()), 0);
  EXPECT_EQ(std::count(around.begin(), around.end(), burning.id()), 1) << "who is named is looked at all the same";
}

TEST(the_usage_of_a_tree, is_looked_at_again_without_those_that_are_known) {
  const burning_process burning{0.1};
  burning.wait_for_both();
  tree_usage seen;
  seen.processes = {burning.id()};
  process_tree::add_times(seen);
  const double first = seen.sum().cpu_s;
  burning.burn_again();
  process_tree{{burning.id()}}.add_others(seen);
  EXPECT_EQ(seen.processes.size(), 2u);
  EXPECT_GE(seen.involuntary_switches.size(), 2u) << "of threads: a sanitizer may have one of its own";
  EXPECT_GE(seen.sum().cpu_s - first, 0.1) << "the child is new";
  EXPECT_LT(first, 0.2);
}

TEST(a_servers_watch, ends_where_it_is_stopped) {
  const burning_process burning{0.2};
  burning.wait_for_both();
  server_watch watch{process_tree{{burning.id()}}};
  tartan::runtime rt{tartan::options{.workers = 1}};
  rt.spawn(watch.prepare());
  rt.run_until_idle();
  watch.begin();
  burning.burn_again();
  watch.stop();
  burning.burn_again();
  watch.end();
  ASSERT_TRUE(watch.result());
  EXPECT_GE(watch.result()->used.cpu_s, 0.2);
  EXPECT_LT(watch.result()->used.cpu_s, 0.4) << "what came after that";
}

TEST(the_memory_of_a_tree, is_that_of_all_its_processes) {
  const burning_process burning{0};
  burning.wait_for_both();
  const tree_memory seen = process_tree{{burning.id()}}.memory();
  EXPECT_GT(seen.rss_kb, 500u);
  EXPECT_GT(seen.pss_kb, 0u);
  EXPECT_LT(seen.pss_kb, seen.rss_kb) << "most pages are shared with this process";
}

TEST(what_is_used_between_two_looks, is_their_difference) {
  tree_usage before;
  before.by_process = {{1, {1, 10, 20}}};
  before.involuntary_switches = {{1, 5}, {2, 7}};
  tree_usage after = before;
  after.by_process = {{1, {2, 35, 28}}, {2, {1, 5, 2}}};
  after.involuntary_switches = {{2, 10}, {3, 100}};
  const used_between used = between(before, after);
  EXPECT_DOUBLE_EQ(used.cpu_s, 2);
  EXPECT_DOUBLE_EQ(used.user_s, 1.5);
  EXPECT_DOUBLE_EQ(used.system_s, 0.5);
  EXPECT_EQ(used.involuntary_switches, 103u);
}

TEST(what_is_used_between_two_looks, has_no_share_of_a_root_that_has_ended) {
  tree_usage before;
  before.by_process = {{1, {1, 10, 20}}, {2, {5, 50, 50}}};
  tree_usage after;
  after.by_process = {{1, {3, 40, 30}}};
  after.ended_roots = {2};
  const used_between used = between(before, after);
  EXPECT_DOUBLE_EQ(used.cpu_s, 2) << "what the other one has used";
  EXPECT_EQ(used.ended_roots, 1u);
}

TEST(a_servers_watch, tells_what_has_been_seen_only_if_it_began) {
  server_watch watch{process_tree{{::getppid()}}};
  watch.before_all();
  watch.stop();
  watch.end();
  EXPECT_FALSE(watch.result());
}

TEST(a_process_that_is_not_there, is_found_and_named) {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  EXPECT_EQ((process_tree{{::getpid(), gone}}).missing(), gone);
  EXPECT_EQ((process_tree{{::getpid()}}).missing(), 0);
  const pid_t not_waited_for = ::fork();
  if (not_waited_for == 0) ::_exit(0);
  siginfo_t how{};
  ::waitid(P_PID, static_cast<id_t>(not_waited_for), &how, WEXITED | WNOWAIT);
  EXPECT_EQ(process_tree{{not_waited_for}}.missing(), not_waited_for);
  ::waitpid(not_waited_for, nullptr, 0);
  EXPECT_EQ(process_tree{{gone}}.memory().rss_kb, 0u);
}

}  // namespace
}  // namespace load
