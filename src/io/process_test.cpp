#include <tartan/io/process.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tartan/io/local.h>
#include <tartan/io/stream_writer.h>

#include "io/object_fixture.h"
#include "tests/temporary_folder.h"

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

/// What its child has left alive keeps the output open.
task<> expect_end_of(pipe::read_end& output) {
  std::string rest;
  const auto got = co_await output.read_until(rest, "\n", 1000);
  EXPECT_EQ(got.error(), errc::end_of_stream);
}
/// A shell that waits for a process of its own, and has said so.
task<process> shell_with_grandchild(const char* script, child_group group = child_group::automatic) {
  command what = shell(script);
  what.input = child_stream::null;
  what.group = group;
  process child = started(what);
  std::string line;
  const auto got = co_await child.output.read_until(line, "\n", 100);
  EXPECT_TRUE(got);
  co_return child;
}
constexpr const char* waiting_script = "sleep 1000 & echo started; wait";

TEST_P(child_processes, end_with_all_that_they_have_started) {
  in_color([]() -> task<> {
    process child = co_await shell_with_grandchild(waiting_script);
    pipe::read_end output = std::move(child.output);
    const auto late = co_await with_timeout(std::chrono::milliseconds{1}, child.wait());
    EXPECT_EQ(late.error(), errc::timed_out);
    child.close();
    co_await expect_end_of(output);
  });
}

TEST_P(child_processes, hand_signals_on_to_all_that_they_have_started) {
  in_color([]() -> task<> {
    process child = co_await shell_with_grandchild(waiting_script, child_group::own);
    EXPECT_TRUE(child.kill(SIGTERM));
    co_await expect_end_of(child.output);
    EXPECT_EQ((co_await child.wait())->signal, SIGTERM);
    EXPECT_EQ(child.kill(SIGTERM).error(), std::errc::no_such_process);
  });
}

/// A child that moves from the group that it leads into this program's, and has said so. What it has started stays in its own.
task<process> child_that_left_its_group(const char* starts) {
  const std::string script = "import os, subprocess, sys\n" + std::string{starts} +
                             "\nos.setpgid(0, os.getpgid(os.getppid()))\nprint('left', flush=True)\nsys.stdin.read()";
  command what{.arguments = {"python3", "-c", script}, .input = child_stream::pipe, .output = child_stream::pipe};
  what.group = child_group::own;
  process child = started(what);
  std::string line;
  const auto got = co_await child.output.read_until(line, "\n", 100);
  EXPECT_EQ(got.value_or(0), 5u);
  co_return child;
}

TEST_P(child_processes, get_signals_also_when_they_have_left_their_group) {
  in_color([]() -> task<> {
    process child = co_await child_that_left_its_group("");
    EXPECT_TRUE(child.kill(SIGTERM));
    EXPECT_EQ((co_await child.wait())->signal, SIGTERM);
  });
}

TEST_P(child_processes, that_have_left_their_group_end_with_it) {
  in_color([]() -> task<> {
    process child = co_await child_that_left_its_group("subprocess.Popen(['sleep', '1000'])");
    pipe::read_end output = std::move(child.output);
    pipe::write_end input = std::move(child.input);  // else it would end by itself
    child.close();
    co_await expect_end_of(output);
  });
}

// It has ended, but nobody has asked: so what it has left goes with it.
TEST_P(child_processes, that_nobody_has_waited_for_take_along_what_they_have_left) {
  in_color([]() -> task<> {
    process child = co_await shell_with_grandchild("sleep 1000 & echo started");
    pipe::read_end output = std::move(child.output);
    siginfo_t about{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child.id()), &about, WEXITED | WNOWAIT), 0);
    child.close();
    co_await expect_end_of(output);
  });
}

TEST_P(child_processes, that_have_ended_leave_alone_what_they_have_started) {
  in_color([]() -> task<> {
    int left = 0;
    {
      command what = shell("sleep 1000 > /dev/null & echo $!");
      what.input = child_stream::null;
      process child = started(what);
      std::string line;
      EXPECT_TRUE(co_await child.output.read_until(line, "\n", 100));
      left = std::stoi(line);
      EXPECT_TRUE((co_await child.wait())->success());
    }
    EXPECT_EQ(::kill(left, SIGKILL), 0) << "it was killed and reaped";
  });
}

TEST_P(child_processes, are_in_the_group_that_they_are_told) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(::grantpt(master) + ::unlockpt(master), 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  in_color([&]() -> task<> {
    command cat{.arguments = {"cat"}, .input = child_stream::pipe, .output = child_stream::null};
    const process automatic = started(cat);
    EXPECT_EQ(::getpgid(automatic.id()), automatic.id());
    cat.group = child_group::shared;
    const process shared = started(cat);
    EXPECT_EQ(::getpgid(shared.id()), ::getpgrp());
    cat.group = child_group::automatic;
    cat.input = child_stream::of(terminal);
    const process reads_terminal = started(cat);
    EXPECT_EQ(::getpgid(reads_terminal.id()), ::getpgrp());
    cat.group = child_group::own;
    const process told = started(cat);
    EXPECT_EQ(::getpgid(told.id()), told.id());
    co_return;
  });
  ::close(terminal);
  ::close(master);
}

class children_with_files : public child_processes {
 protected:
  [[nodiscard]] std::string path(const char* name) const { return folder_ / name; }
  [[nodiscard]] std::string content(const char* name) const {
    std::ifstream in{path(name)};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  /// O_NONBLOCK of a child's standard stream.
  static bool is_nonblocking(const process& child, int number) {
    std::ifstream about{"/proc/" + std::to_string(child.id()) + "/fdinfo/" + std::to_string(number)};
    for (std::string line; std::getline(about, line);) {
      if (line.starts_with("flags:")) return (std::stoi(line.substr(6), nullptr, 8) & O_NONBLOCK) != 0;
    }
    ADD_FAILURE() << "its descriptor " << number << " is not open";
    return false;
  }
  static task<> ends_well(command what) {
    process child = started(what);
    const auto end = co_await child.wait();
    EXPECT_TRUE(end && end->success());
  }

 private:
  test::temporary_folder folder_;
};
INSTANTIATE_TEST_SUITE_P(on, children_with_files, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(children_with_files, write_to_them_and_read_from_them) {
  in_color([&]() -> task<> {
    command what = shell("echo out; echo err >&2");
    what.output = child_stream::to(path("out"));
    what.errors = child_stream::output;
    co_await ends_well(what);
    EXPECT_EQ(content("out"), "out\nerr\n");
    co_await ends_well(what);
    EXPECT_EQ(content("out"), "out\nerr\n") << "cut to nothing first";
    what.errors = child_stream::append_to(path("out"));
    what.output = child_stream::append_to(path("new"));
    co_await ends_well(what);
    EXPECT_EQ(content("out"), "out\nerr\nerr\n");
    EXPECT_EQ(content("new"), "out\n");
    command sort = shell("sort");
    sort.input = child_stream::from(path("out"));
    EXPECT_EQ(co_await printed_by(sort), "err\nerr\nout\n");
    command both = shell("echo out; echo err >&2");
    both.errors = child_stream::output;
    EXPECT_EQ(co_await printed_by(both), "out\nerr\n") << "errors join a pipe";
  });
}

TEST_P(children_with_files, get_descriptors_of_the_program) {
  const int file = ::open(path("file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  ASSERT_EQ(::write(file, "one,", 4), 4);
  in_color([&]() -> task<> {
    command what = shell("echo two");
    what.output = child_stream::of(file);
    co_await ends_well(what);
    EXPECT_EQ(content("file"), "one,two\n") << "the same open file: behind what was there";
    EXPECT_EQ(::lseek(file, 0, SEEK_CUR), 8) << "it stays the caller's";
  });
  ::close(file);
}

TEST_P(children_with_files, say_why_they_cannot_have_them) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  in_color([&]() -> task<> {
    command what = shell("true");
    const auto error_of = [&what](child_stream input, child_stream output, child_stream errors) {
      what.input = std::move(input);
      what.output = std::move(output);
      what.errors = std::move(errors);
      return process::spawn(what).error();
    };
    using s = child_stream;
    EXPECT_EQ(error_of(s::from(path("none")), s::null, s::null), std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(s::null, s::to(path("no/folder")), s::null), std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(s::null, s::to(path("fifo")), s::null), std::errc::no_such_device_or_address) << "nobody reads";
    EXPECT_EQ(error_of(s::null, s::null, s::of(-1)), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(s::to(path("x")), s::null, s::null), std::errc::invalid_argument);
    EXPECT_EQ(error_of(s::null, s::from(path("x")), s::null), std::errc::invalid_argument);
    EXPECT_EQ(error_of(s::output, s::null, s::null), std::errc::invalid_argument);
    EXPECT_EQ(error_of(s::null, s::output, s::null), std::errc::invalid_argument);
    co_return;
  });
}

TEST_P(children_with_files, do_not_wait_for_the_other_side_of_a_fifo) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  in_color([&]() -> task<> {
    command cat{.arguments = {"cat"}, .input = child_stream::from(path("fifo")), .output = child_stream::pipe};
    EXPECT_EQ(co_await printed_by(cat), "");
    const int writes = ::open(path("fifo").c_str(), O_RDWR | O_CLOEXEC);
    const process waits = started(cat);
    EXPECT_FALSE(is_nonblocking(waits, 0)) << "the child waits";
    ::close(writes);
  });
}

/// Puts a descriptor where this program has its standard output, for a scope.
class standard_output {
 public:
  explicit standard_output(int descriptor) : before_{::dup(1)} { EXPECT_EQ(::dup2(descriptor, 1), 1); }
  standard_output(const standard_output&) = delete;
  standard_output& operator=(const standard_output&) = delete;
  ~standard_output() {
    ::dup2(before_, 1);
    ::close(before_);
  }

 private:
  int before_;
};

// What seq(1) would die of: this program has made their standard output non-blocking, for itself.
TEST_P(children_with_files, get_streams_that_block_whatever_this_program_has_made_of_them) {
  in_color([&]() -> task<> {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    auto reads = *pipe::read_end::from_fd(ends[0], here_color);
    auto writes = *pipe::write_end::from_fd(ends[1], here_color);
    EXPECT_NE(::fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
    process by_number;
    process inherits;
    {
      const standard_output ours{ends[1]};
      inherits = started({.arguments = {"seq", "1", "100000"}});
    }
    EXPECT_FALSE(is_nonblocking(inherits, 1));
    by_number = started({.arguments = {"seq", "1", "100000"}, .output = child_stream::of(ends[1])});
    EXPECT_FALSE(is_nonblocking(by_number, 1));
    EXPECT_NE(::fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0) << "this program's is as it was";
    std::string all(2 * 588'895, ' ');
    EXPECT_TRUE(co_await reads.read_exactly(all));
    EXPECT_TRUE((co_await inherits.wait())->success());
    EXPECT_TRUE((co_await by_number.wait())->success());
  });
}

TEST_P(children_with_files, get_sockets_as_they_are) {
  in_color([&]() -> task<> {
    auto both = *local::pair();
    const process idle = started({.arguments = {"sleep", "1000"}, .input = child_stream::of(both.second.native_handle())});
    EXPECT_TRUE(is_nonblocking(idle, 0));
    co_return;
  });
}

}  // namespace
}  // namespace tartan
