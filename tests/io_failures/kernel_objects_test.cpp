/// Every failure of the calls behind files, child processes, signals and watched directories.

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <tartan/io/directory_watch.h>
#include <tartan/tartan.h>

#include "tests/io_failures/scenario.h"
#include "tests/temporary_folder.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using test::call;
using test::failing_call;
using test::fails_everywhere;
using test::outcome;
using test::stage;
using test::told;

class kernel_objects : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const { return folder_ / name; }

  test::temporary_folder folder_;
};

TEST_F(kernel_objects, files_tell_of_each_failure) {
  const auto play = [&](runtime& rt, told& errors) {
    spawn_in(rt, stage, [&]() -> task<> {
      auto opened = co_await file::open(path("file"), file_flags::read | file_flags::write | file_flags::create | file_flags::truncate);
      if (!errors.ok(opened)) co_return;
      const auto wrote = co_await opened->write_at(0, "hello");
      errors.ok(wrote);
      std::array<std::byte, 5> room{};
      const auto got = co_await opened->read_at(0, room);
      errors.ok(got);
      const auto size = co_await opened->size();
      errors.ok(size);
      const auto synced = co_await opened->sync();
      errors.ok(synced);
      const auto data_synced = co_await opened->sync_data();
      errors.ok(data_synced);
      const auto closed = co_await opened->close();
      errors.ok(closed);
    }).detach();
  };
  fails_everywhere(play, {
                             {call::open, EMFILE, outcome::told},
                             {call::open, EINTR, outcome::retried},
                             {call::pwritev2, ENOSPC, outcome::told},
                             {call::pwritev2, EINTR, outcome::retried},
                             {call::pwritev2, EAGAIN, outcome::retried, 1},  // the first asks not to wait
                             {call::pwritev2, EOPNOTSUPP, outcome::retried, 1},
                             {call::preadv2, EIO, outcome::told},
                             {call::preadv2, EINTR, outcome::retried},
                             {call::preadv2, EAGAIN, outcome::retried, 1},
                             {call::preadv2, EOPNOTSUPP, outcome::retried, 1},
                             {call::fstat, EIO, outcome::told},
                             {call::fsync, EIO, outcome::told},
                             {call::fsync, EINTR, outcome::retried},
                             {call::fdatasync, ENOSPC, outcome::told},
                             {call::close, EIO, outcome::told},
                             {call::close, EINTR, outcome::retried},
                         });
}

TEST_F(kernel_objects, sendfile_tells_of_each_failure) {
  const std::string head(1000, 'x');
  std::ofstream{path("file")} << std::string(300'000, 'x');
  const auto play = [&](runtime& rt, told& errors) {
    auto made = local::pair(rt, stage, stage);
    if (!errors.ok(made)) return;
    spawn_in(rt, stage, [&errors, both = std::move(*made), name = path("file"), head]() mutable -> task<> {
      auto sending = spawn_in(stage, [&]() -> task<> {
        auto opened = co_await file::open(name);
        const auto sent = co_await both.first.send_file(opened->native_handle(), 0, 300'000, head);
        errors.ok(sent);
        both.first.close();
      });
      std::string room(301'000, ' ');
      const auto got = co_await both.second.read_exactly(std::as_writable_bytes(std::span{room}));
      errors.ok(got);
      co_await sending.join();
    }).detach();
  };
  fails_everywhere(play, {
                             {call::sendmsg, ENOBUFS, outcome::told},
                             {call::sendmsg, EINTR, outcome::retried},
                             {call::sendfile, EIO, outcome::told},
                             {call::sendfile, EPIPE, outcome::told},
                             {call::sendfile, EINTR, outcome::retried},
                             {call::sendfile, ESTRPIPE, outcome::retried},  // a reset in the middle: SIGPIPE, and a part
                         });
}

TEST_F(kernel_objects, child_processes_tell_of_each_failure) {
  const auto play = [&](runtime& rt, told& errors) {
    spawn_in(rt, stage, [&]() -> task<> {
      command cat;
      cat.arguments = {"cat"};
      cat.directory = folder_.path().string();
      cat.input = cat.output = child_stream::pipe;
      cat.errors = child_stream::null;
      const auto spawn = [&cat]() -> result<process> {
        try {
          return process::spawn(cat);
        } catch (const std::bad_alloc&) {  // there is no memory to prepare it
          return std::error_code{ENOMEM, std::system_category()};
        }
      };
      auto child = spawn();
      if (!errors.ok(child)) co_return;
      const auto asked = co_await child->input.write("hello\n");
      errors.ok(asked);
      child->input.close();
      std::string line;
      const auto got = co_await child->output.read_until(line, "\n", 100);
      errors.ok(got);
      const auto ended = co_await child->wait();
      errors.ok(ended);
      cat.input = cat.output = child_stream::inherited;
      cat.arguments = {"sleep", "1000"};
      auto sleeper = spawn();
      if (!errors.ok(sleeper)) co_return;
      if (!errors.ok(sleeper->kill(SIGTERM))) co_return;
      const auto killed = co_await sleeper->wait();
      errors.ok(killed);
    }).detach();
  };
  fails_everywhere(play, {
                             {call::open, EMFILE, outcome::told},
                             {call::pipe2, EMFILE, outcome::told},
                             {call::fcntl, EINVAL, outcome::told},
                             {call::posix_spawn_file_actions_init, ENOMEM, outcome::told},
                             {call::posix_spawnattr_init, ENOMEM, outcome::told},
                             {call::posix_spawn_file_actions_adddup2, ENOMEM, outcome::told},
                             {call::posix_spawn_file_actions_addfchdir_np, ENOMEM, outcome::told},
                             {call::posix_spawn_file_actions_addclosefrom_np, ENOMEM, outcome::told},
                             {call::posix_spawnp, EAGAIN, outcome::told},
                             {call::pidfd_open, EMFILE, outcome::told},
                             {call::epoll_ctl, ENOSPC, outcome::told},
                             {call::waitid, ECHILD, outcome::told},
                             {call::pidfd_send_signal, EPERM, outcome::told},
                         });
}

/// Where the library was told that a child is somebody else's.
void reap_what_others_left() {
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
}

// A child that was started and cannot be watched.
TEST_F(kernel_objects, child_processes_that_cannot_be_watched_are_killed_and_reaped) {
  reap_what_others_left();
  const auto play = [](runtime& rt, told& errors) {
    const failing_call unwatched{call::pidfd_open, EMFILE, 0};
    const auto child = process::spawn(rt, {.arguments = {"sleep", "1000"}}, stage);
    if (child || child.error() != std::errc::too_many_files_open) errors.note(std::make_error_code(std::errc::timed_out));
    if (::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) errors.note(std::make_error_code(std::errc::no_child_process));
  };
  fails_everywhere(play, {{call::waitpid, EINTR, outcome::retried, 1}});
}

TEST_F(kernel_objects, child_processes_whose_pipes_cannot_be_watched_leave_nothing) {
  options with;
  with.workers = 1;
  runtime rt{with};
  spawn_in(rt, stage, [&]() -> task<> {
    const command cat{.arguments = {"cat"}, .input = child_stream::pipe, .output = child_stream::pipe, .errors = child_stream::pipe};
    const auto open = pipe::open();  // so that the runtime has what it needs
    const std::size_t before = test::open_descriptors();
    for (const unsigned watched : {0u, 1u, 2u, 3u}) {
      const failing_call unwatched{call::epoll_ctl, ENOSPC, watched};
      EXPECT_EQ(process::spawn(cat).error(), std::errc::no_space_on_device);
      EXPECT_EQ(test::open_descriptors(), before) << watched;
    }
    co_return;
  }).detach();
  rt.run_until_idle();
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child or a zombie is left";
}

TEST_F(kernel_objects, child_processes_that_may_not_be_killed_are_not_waited_for) {
  reap_what_others_left();
  runtime rt;
  const auto open = pipe::open(rt, stage, stage);  // so that it has what it needs
  const std::size_t before = test::open_descriptors();
  const failing_call unwatched{call::pidfd_open, EMFILE, 0};
  const failing_call forbidden{call::kill, EPERM, 0};
  const auto child = process::spawn(rt, {.arguments = {"cat"}, .input = child_stream::pipe}, stage);
  EXPECT_EQ(child.error(), std::errc::too_many_files_open);
  EXPECT_TRUE(forbidden.struck());
  EXPECT_EQ(test::open_descriptors(), before);
  int status = -1;
  EXPECT_GT(::waitpid(-1, &status, 0), 0);  // it ends by itself: nobody has the other end of its input
  EXPECT_EQ(status, 0);
}

TEST_F(kernel_objects, signals_tell_of_each_failure) {
  const auto play = [](runtime& rt, told& errors) {
    try {
      auto signals = std::make_shared<signal_set>(rt, std::initializer_list<int>{SIGUSR2}, stage);
      spawn_in(rt, stage, [&errors, signals]() -> task<> {
        ::kill(::getpid(), SIGUSR2);
        while (!errors.ok(co_await signals->next())) {  // it is still there, and would meet the next run
        }
      }).detach();
    } catch (const std::system_error& e) {
      errors.note(e.code());
    }
  };
  fails_everywhere(play, {
                             {call::signalfd, EMFILE, outcome::told},
                             {call::epoll_create1, EMFILE, outcome::told},
                             {call::epoll_ctl, ENOSPC, outcome::told},
                             {call::pthread_sigmask, EINVAL, outcome::told, 1},
                             {call::read, EINTR, outcome::retried},
                             {call::read, EIO, outcome::told},
                         });
}

TEST_F(kernel_objects, directories_tell_of_each_failure) {
  const auto play = [&](runtime& rt, told& errors) {
    auto made = directory_watch::open(rt, folder_.path().string(), stage);
    if (!errors.ok(made)) return;
    spawn_in(rt, stage, [&, watch = std::move(*made)]() mutable -> task<> {
      std::ofstream{path("new")} << "x";
      const auto change = co_await watch.next();
      errors.ok(change);
    }).detach();
  };
  fails_everywhere(play, {
                             {call::inotify_init1, EMFILE, outcome::told},
                             {call::inotify_add_watch, ENOSPC, outcome::told},
                             {call::epoll_ctl, ENOMEM, outcome::told},
                             {call::read, EIO, outcome::told},
                             {call::read, EINTR, outcome::retried},
                         });
}

}  // namespace
}  // namespace tartan
