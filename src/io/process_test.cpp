#include <tartan/io/process.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <tartan/io/stream_writer.h>

#include "io/object_fixture.h"

namespace tartan {
namespace {

using test::here_color;

process started(const command& what) {
  auto made = process::spawn(what);
  EXPECT_TRUE(made) << made.error().message();
  return made ? std::move(*made) : process{};
}
/// Runs until its input ends.
std::unique_ptr<process> make_cat() {
  return std::make_unique<process>(started({.arguments = {"cat"}, .input = child_stream::pipe, .output = child_stream::pipe}));
}

/// Made outside of coroutines: gcc 12 cannot compile an initializer list beside a co_await.
command shell(const char* script) {
  return {.arguments = {"/bin/sh", "-c", script}, .output = child_stream::pipe};
}

task<std::string> printed_by(command what) {
  process child = started(what);
  std::string all;
  const auto got = co_await child.output.read_until(all, std::string_view{"\0\0", 2}, 100'000);
  EXPECT_EQ(got.error(), errc::end_of_stream);
  const auto end = co_await child.wait();
  EXPECT_TRUE(end && end->success());
  co_return all;
}

class child_processes : public test::with_objects {
 protected:
  void TearDown() override {
    with_objects::TearDown();
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child or a zombie is left";
    EXPECT_EQ(errno, ECHILD);
  }
};
INSTANTIATE_TEST_SUITE_P(on, child_processes, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(child_processes, end_a_wait_in_every_way) {
  ends_in_every_way(test::operation_under_test{[] { return make_cat(); }, [](process& p) { return p.wait(); },
                                               [](process& p, auto f) { p.wait(std::move(f)); },
                                               [](process& p) { p.input.close(); }},
                    test::fed::comes_later);
}

TEST_P(child_processes, tell_how_they_ended) {
  in_color([]() -> task<> {
    process three = started({.arguments = {"/bin/sh", "-c", "exit 3"}});
    const auto exited = co_await three.wait();
    EXPECT_EQ(exited->status, 3);
    EXPECT_EQ(exited->signal, 0);
    EXPECT_FALSE(exited->success());
    EXPECT_EQ((co_await three.wait())->status, 3) << "the same again";
    EXPECT_EQ(three.kill(SIGTERM).error(), std::errc::no_such_process);

    auto cat = make_cat();
    EXPECT_GT(cat->id(), 0);
    EXPECT_EQ(::kill(cat->id(), 0), 0);
    EXPECT_TRUE(cat->kill(SIGTERM));
    const auto killed = co_await cat->wait();
    EXPECT_EQ(killed->signal, SIGTERM);
    EXPECT_EQ(killed->status, 0);
    EXPECT_FALSE(killed->success());
    cat->close();
    EXPECT_EQ(cat->kill(SIGTERM).error(), errc::closed);
    EXPECT_EQ(cat->id(), 0);
  });
}

TEST_P(child_processes, talk_through_pipes) {
  in_color([]() -> task<> {
    auto cat = make_cat();
    EXPECT_EQ(*co_await cat->input.write("there and back\n"), 15u);
    std::string line;
    EXPECT_EQ(*co_await cat->output.read_until(line, "\n", 100), 15u);
    EXPECT_FALSE(cat->errors.is_open());
    {
      stream_writer queue{cat->input};
      queue.print("and ", 2, " more\n");
      EXPECT_TRUE(co_await queue.flush());
    }
    line.clear();
    EXPECT_EQ(*co_await cat->output.read_until(line, "\n", 100), 11u);
    cat->input.close();
    EXPECT_TRUE((co_await cat->wait())->success());

    process noisy = started({.arguments = {"/bin/sh", "-c", "echo out; echo err >&2"},
                             .input = child_stream::null,
                             .output = child_stream::null,
                             .errors = child_stream::pipe});
    std::string text;
    EXPECT_EQ(*co_await noisy.errors.read_until(text, "\n", 100), 4u);
    EXPECT_EQ(text, "err\n");
    EXPECT_FALSE(noisy.output.is_open());
    EXPECT_TRUE((co_await noisy.wait())->success());
  });
}

TEST_P(child_processes, run_where_and_with_what_they_are_told) {
  in_color([]() -> task<> {
    command there = shell("pwd");
    there.directory = "/usr/lib";
    EXPECT_EQ(co_await printed_by(there), "/usr/lib\n");
    command plain = shell("echo $TARTAN $HOME");
    plain.environment.emplace().push_back("TARTAN=plaid");
    EXPECT_EQ(co_await printed_by(plain), "plaid\n");
    EXPECT_EQ(co_await printed_by(shell("test -n \"$PATH\" && echo inherited")), "inherited\n");
    command silent = shell("cat");
    silent.input = child_stream::null;
    EXPECT_EQ(co_await printed_by(silent), "");
  });
}

TEST_P(child_processes, get_nothing_else_of_this_program) {
  const int leaks = ::open("/dev/null", O_RDONLY);  // not close-on-exec
  in_color([]() -> task<> {
    // The folder's own descriptor is the shell's fourth; the glob is read before anything else is opened.
    const char* const list = "for each in /proc/$$/fd/*; do n=${each##*/}; test $n -gt 2 && test -e $each && echo $n; done; true";
    EXPECT_EQ(co_await printed_by(shell(list)), "");
    const std::string masks = co_await printed_by(shell("grep -E 'SigBlk|SigIgn' /proc/self/status"));
    EXPECT_NE(masks.find("SigBlk:\t0000000000000000"), std::string::npos) << masks;
  });
  ::close(leaks);
}

TEST_P(child_processes, say_why_they_did_not_start) {
  in_color([]() -> task<> {
    EXPECT_EQ(process::spawn({.arguments = {"tartan-no-such-program"}}).error(), std::errc::no_such_file_or_directory);
    EXPECT_EQ(process::spawn({.arguments = {"/no/such/program"}}).error(), std::errc::no_such_file_or_directory);
    EXPECT_EQ(process::spawn({.arguments = {"/etc/passwd"}}).error(), std::errc::permission_denied);
    EXPECT_EQ(process::spawn({.arguments = {"true"}, .directory = "/no/such/folder"}).error(), std::errc::not_a_directory);
    EXPECT_EQ(process::spawn({.arguments = {"true"}, .directory = "/etc/passwd"}).error(), std::errc::not_a_directory);
    EXPECT_EQ(process::spawn({.arguments = {}}).error(), std::errc::invalid_argument);
    co_return;
  });
}

TEST_P(child_processes, are_killed_and_reaped_when_nobody_keeps_them) {
  int id = 0;
  in_color([&]() -> task<> {
    auto cat = make_cat();
    id = cat->id();
    co_return;
  });
  EXPECT_EQ(::kill(id, 0), -1) << "it runs, or is a zombie";
  EXPECT_EQ(errno, ESRCH);

  // Closed in its color, or still there when the runtime ends.
  std::unique_ptr<process> closed;
  std::unique_ptr<process> left;
  in_color([&]() -> task<> {
    closed = make_cat();
    left = make_cat();
    id = closed->id();
    closed->close();
    co_return;
  });
  EXPECT_EQ(::kill(id, 0), -1);
  id = left->id();
  EXPECT_EQ(::kill(id, 0), 0);
  left.reset();
  closed.reset();
  end_runtime();
  EXPECT_EQ(::kill(id, 0), -1);
}

TEST_P(child_processes, may_be_reaped_by_somebody_else) {
  in_color([]() -> task<> {
    auto cat = make_cat();
    EXPECT_TRUE(cat->kill(SIGKILL));
    EXPECT_EQ(::waitpid(cat->id(), nullptr, 0), cat->id());
    EXPECT_EQ((co_await cat->wait()).error(), std::errc::no_child_process);
    EXPECT_EQ((co_await cat->wait()).error(), std::errc::no_child_process);
  });
}

TEST_P(child_processes, are_started_outside_of_events_too) {
  auto made = process::spawn(rt(), {.arguments = {"true"}}, here_color);
  EXPECT_TRUE(made);
  in_color([&]() -> task<> { EXPECT_TRUE((co_await made->wait())->success()); });
}

}  // namespace
}  // namespace tartan
