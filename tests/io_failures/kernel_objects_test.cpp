/// Every failure of the calls behind files, child processes, signals and watched directories.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <tartan/io/descriptor_watch.h>
#include <tartan/io/directory_watch.h>
#include <tartan/tartan.h>
#include <utility>

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
                             {call::open, EWOULDBLOCK, outcome::retried, 1},  // a lease of the file, which is waited for
                             {call::fstat, EIO, outcome::retried, 1},         // what it is; its length is the next one
                             {call::fsync, EIO, outcome::told},
                             {call::fsync, EINTR, outcome::retried},
                             {call::fdatasync, ENOSPC, outcome::told},
                             {call::close, EIO, outcome::told},
                             {call::close, EINTR, outcome::retried},
                         });
}

TEST_F(kernel_objects, files_tell_of_failures_behind_the_first) {
  const auto play = [&](runtime& rt, told& errors) {
    spawn_in(rt, stage, [&]() -> task<> {
      auto opened = co_await file::open(path("file"), file_flags::write | file_flags::create);
      if (!errors.ok(opened)) co_return;
      const auto added = co_await opened->append("hello");
      errors.ok(added);
      const failing_call fails{call::fstat, EIO, 0};
      const auto size = co_await opened->size();
      if (size || size.error() != std::errc::io_error) errors.note(std::make_error_code(std::errc::timed_out));
    }).detach();
  };
  fails_everywhere(play, {
                             {call::pwritev2, ENOSPC, outcome::told},
                             {call::pwritev2, EAGAIN, outcome::retried, 1},
                             {call::pwritev2, EOPNOTSUPP, outcome::retried, 1},
                         });
}

TEST_F(kernel_objects, fifos_that_cannot_be_opened_without_waiting_are_not_waited_for) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const auto play = [&](runtime& rt, told& errors) {
    spawn_in(rt, stage, [&]() -> task<> {
      const auto opened = co_await file::open(path("fifo"));
      errors.ok(opened);
    }).detach();
  };
  fails_everywhere(play, {{call::open, EWOULDBLOCK, outcome::told}});
}

TEST_F(kernel_objects, watches_tell_of_each_failure) {
  const auto play = [](runtime& rt, told& errors) {
    auto made = pipe::open(rt, stage, stage);
    if (!errors.ok(made)) return;
    auto watch = descriptor_watch::of(rt, made->read.native_handle(), stage);
    if (!errors.ok(watch)) return;
    spawn_in(rt, stage, [&errors, both = std::move(*made), watch = std::move(*watch)]() mutable -> task<> {
      const auto wrote = co_await both.write.write("x");
      errors.ok(wrote);
      const auto ready = co_await watch.readable();
      errors.ok(ready);
    }).detach();
  };
  fails_everywhere(play, {
                             {call::fcntl, EMFILE, outcome::told},
                             {call::epoll_ctl, ENOSPC, outcome::told},
                             {call::poll, ENOMEM, outcome::told},
                             {call::poll, EINTR, outcome::retried},
                         });
}

// Also where the kernel does not tell which open file a descriptor has (kcmp).
TEST_F(kernel_objects, descriptors_that_are_taken_over_tell_of_each_failure) {
  const auto play = [](runtime& rt, told& errors) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return;
    const int same = ::dup(ends[0]);
    {
      auto first = pipe::read_end::from_fd(rt, ends[0], stage);
      errors.ok(first);
      auto second = pipe::read_end::from_fd(rt, same, stage);
      errors.ok(second);
      if (!first) ::close(ends[0]);
      if (first) first->close();
      if (second) ::close(second->release());
      if (!second) ::close(same);
    }
    ::close(ends[1]);
  };
  fails_everywhere(play, {
                             {call::fcntl, EBADF, outcome::told, 2},
                             {call::fstat, EIO, outcome::told, 1},
                             {call::epoll_ctl, ENOSPC, outcome::told},
                             {call::kcmp, EPERM, outcome::retried},
                         });
}

TEST_F(kernel_objects, a_descriptor_that_cannot_be_watched_blocks_again) {
  options with;
  with.workers = 1;
  runtime rt{with};
  const auto open = pipe::open(rt, stage, stage);  // so that it has what it needs
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  using strike = std::pair<call, int>;
  for (const auto& [which, error] : {strike{call::epoll_ctl, ENOSPC}, strike{call::fstat, EIO}}) {
    const failing_call fails{which, error, 0};
    EXPECT_FALSE(pipe::read_end::from_fd(rt, ends[0], stage));
    EXPECT_TRUE(fails.struck());
    EXPECT_EQ(::fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
  }
  for (const int each : ends) ::close(each);
}

// A container may forbid kcmp. Both ends of a pipe are one inode, but two open files.
TEST_F(kernel_objects, both_ends_of_a_pipe_block_again_where_kcmp_is_refused) {
  options with;
  with.workers = 1;
  runtime rt{with};
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  auto reads = pipe::read_end::from_fd(rt, ends[0], stage);
  ASSERT_TRUE(reads);
  const failing_call fails{call::kcmp, EPERM, 0};
  auto writes = pipe::write_end::from_fd(rt, ends[1], stage);
  ASSERT_TRUE(writes);
  EXPECT_TRUE(fails.struck());
  for (const int end : {reads->release(), writes->release()}) {
    EXPECT_EQ(::fcntl(end, F_GETFL) & O_NONBLOCK, 0);
    ::close(end);
  }
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
                             {call::fcntl, EINVAL, outcome::told, 2},  // of the pipes; inherited streams are as they are
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
                             {call::pidfd_send_signal, EINVAL, outcome::retried, 1},  // Linux before 6.9
                         });
}

TEST_F(kernel_objects, streams_of_children_that_cannot_be_had_are_told) {
  options with;
  with.workers = 1;
  runtime rt{with};
  spawn_in(rt, stage, [&]() -> task<> {
    const auto both = pipe::open();
    command what;
    what.arguments = {"true"};
    what.input = child_stream::null;
    const auto error_with = [&what](call which, int error, unsigned before) {
      const failing_call fails{which, error, before};
      const std::error_code got = process::spawn(what).error();
      EXPECT_TRUE(fails.struck());
      return got;
    };
    what.output = child_stream::to(path("out"));
    EXPECT_EQ(error_with(call::open, EMFILE, 1), std::errc::too_many_files_open);
    EXPECT_EQ(error_with(call::fcntl, EINVAL, 0), std::errc::invalid_argument) << "it would not block";
    what.output = child_stream::of(both->read.native_handle());
    EXPECT_EQ(error_with(call::fcntl, EBADF, 1), std::error_code{}) << "a pipe that does not block is better than none";
    EXPECT_EQ(error_with(call::open, EACCES, 1), std::error_code{});
    EXPECT_EQ(error_with(call::fstat, EIO, 0), std::error_code{});
    const failing_call not_again{call::open, EACCES, 1};
    EXPECT_EQ(error_with(call::fcntl, EMFILE, 1), std::errc::too_many_files_open) << "the duplicate";
    co_return;
  }).detach();
  rt.run_until_idle();
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

TEST_F(kernel_objects, signals_that_were_refused_are_not_blocked) {
  options with;
  with.workers = 1;
  runtime rt{with};
  const auto open = pipe::open(rt, stage, stage);  // so that it has what it needs
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGUSR2);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  using strike = std::pair<call, int>;
  const auto all = {strike{call::signalfd, EMFILE}, strike{call::epoll_ctl, ENOSPC}, strike{call::pthread_sigmask, EINVAL}};
  for (const auto& [which, error] : all) {
    SCOPED_TRACE(name_of(which));
    {
      const failing_call fails{which, error, 0};
      EXPECT_THROW((signal_set{rt, {SIGUSR2}, stage}), std::system_error);
      EXPECT_TRUE(fails.struck());
    }
    sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    EXPECT_EQ(sigismember(&now, SIGUSR2), 0);
  }
  EXPECT_NO_THROW((signal_set{rt, {SIGUSR2}, stage})) << "what was refused is nobody's";
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
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
