#include "core/fork_guard.h"

#include <gtest/gtest.h>

#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string_view>
#include <tartan/core/blocking.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <thread>

namespace tartan::detail {
namespace {

void mark(void* what) noexcept {
  ++*static_cast<int*>(what);
}

/// Runs `f` in a child and gives its exit status, or -1. The child leaves by the bare system call: a sanitizer would miss the
/// threads that fork() did not copy.
template <class F>
int in_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) ::syscall(SYS_exit_group, f());
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(fork, marks_in_the_child_what_is_guarded_and_nothing_in_the_parent) {
  int marks[3] = {0, 0, 0};
  auto first = std::make_unique<fork_guard>(&mark, &marks[0]);
  auto second = std::make_unique<fork_guard>(&mark, &marks[1]);
  auto third = std::make_unique<fork_guard>(&mark, &marks[2]);
  const auto pattern = [&] { return marks[0] + 4 * marks[1] + 16 * marks[2]; };
  EXPECT_EQ(in_child(pattern), 21);
  second.reset();
  EXPECT_EQ(in_child(pattern), 17);
  third.reset();
  EXPECT_EQ(in_child(pattern), 1);
  first.reset();
  EXPECT_EQ(in_child(pattern), 0);
  EXPECT_EQ(pattern(), 0);
}

TEST(fork, leaves_a_child_that_can_guard_things_of_its_own) {
  int outer = 0;
  const fork_guard guard{&mark, &outer};
  EXPECT_EQ(in_child([&] {
              int inner = 0;
              const fork_guard own{&mark, &inner};
              const int below = in_child([&] { return 10 * outer + inner; });
              return below == 21 && outer == 1 && inner == 0 ? 7 : 1;
            }),
            7);
}

TEST(fork, can_happen_while_other_threads_guard_things) {
  int marks = 0;
  std::thread other{[&] {
    for (int round = 0; round < 2000; ++round) const fork_guard guard{&mark, &marks};
  }};
  for (int round = 0; round < 20; ++round) EXPECT_EQ(in_child([] { return 7; }), 7);
  other.join();
  EXPECT_EQ(marks, 0);
}

TEST(fork, and_exec_and_posix_spawn_go_on_working) {
  int marks = 0;
  const fork_guard guard{&mark, &marks};
  EXPECT_EQ(in_child([] {
              ::execl("/bin/sh", "sh", "-c", "exit 9", nullptr);
              return 1;
            }),
            9);
  pid_t child = 0;
  char name[] = "sh", option[] = "-c", command[] = "exit 5";
  char* arguments[] = {name, option, command, nullptr};
  ASSERT_EQ(::posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_EQ(marks, 0);
}

class a_runtime_and_fork : public ::testing::TestWithParam<unsigned> {
 protected:
  static options with() {
    options o;
    o.workers = GetParam();
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(workers, a_runtime_and_fork, ::testing::Values(1u, 2u, 4u));

// EXPECT_DEATH runs its statement in a child of fork().
TEST_P(a_runtime_and_fork, end_the_child_that_uses_a_started_one) {
  runtime rt{with()};
  int ran = 0;
  rt.post([&] { ++ran; });
  rt.run_until_idle();
  EXPECT_DEATH(rt.post([] {}), "this runtime was started before fork");
  EXPECT_DEATH(rt.run(), "this runtime was started before fork");
  EXPECT_DEATH(rt.run_until_idle(), "this runtime was started before fork");
  EXPECT_DEATH(rt.run_for(std::chrono::nanoseconds{0}), "this runtime was started before fork");
  EXPECT_DEATH(rt.drain(std::chrono::nanoseconds{0}), "this runtime was started before fork");
  rt.post([&] { ++ran; });  // the parent goes on
  rt.run_until_idle();
  EXPECT_EQ(ran, 2);
}

TEST_P(a_runtime_and_fork, leave_a_child_alone_that_an_event_forks_and_that_does_not_use_the_runtime) {
  runtime rt{with()};
  int status = 0;
  rt.post([&] { status = in_child([] { return 7; }); });
  rt.run_until_idle();
  EXPECT_EQ(status, 7);
}

TEST_P(a_runtime_and_fork, end_the_child_that_posts_from_the_event_that_forked) {
  runtime rt{with()};
  rt.post([&] { EXPECT_DEATH(rt.post(color{5}, [] {}), "this runtime was started before fork"); });
  rt.run_until_idle();
}

TEST_P(a_runtime_and_fork, end_the_child_that_goes_on_as_a_worker) {
  const pid_t parent = ::getpid();
  int text[2] = {-1, -1};
  ASSERT_EQ(::pipe(text), 0);
  pid_t child = -1;
  int ran = 0;
  {
    runtime rt{with()};
    rt.post(color{1}, [&] {
      for (int i = 0; i < 100; ++i) post(color{1}, [&] { ++ran; });  // the child must not run them all as well
      child = ::fork();
      if (child == 0) ::dup2(text[1], STDERR_FILENO);
    });
    rt.run_until_idle();
    if (::getpid() != parent) ::syscall(SYS_exit_group, 99);
  }
  ::close(text[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  char message[512] = {};
  EXPECT_GT(::read(text[0], message, sizeof message - 1), 0);
  EXPECT_NE(std::string_view{message}.find("this runtime was started before fork"), std::string_view::npos) << message;
  ::close(text[0]);
  EXPECT_EQ(ran, 100);
}

TEST_P(a_runtime_and_fork, work_if_it_was_not_started_before) {
  runtime rt{with()};
  int ran = 0;
  for (int i = 1; i <= 10; ++i) rt.post(color{i}, [&] { post([&] { ++ran; }); });
  blocking(rt, color{}, [] { return 100; }, [&](result<int> got) { ran += *got; });  // no thread yet, either
  EXPECT_EQ(in_child([&] {
              rt.run_until_idle();
              return ran;
            }),
            110);
  rt.run_until_idle();
  EXPECT_EQ(ran, 110);
}

TEST(a_runtime_started_before_fork, ends_the_child_that_uses_it) {
  EXPECT_DEATH(used_after_fork(),
               "tartan: this runtime was started before fork\\(\\): its threads do not exist in process [0-9]+");
}

}  // namespace
}  // namespace tartan::detail
