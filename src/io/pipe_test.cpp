#include <tartan/io/pipe.h>

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <tartan/core/on.h>
#include <tartan/io/local.h>
#include <vector>

#include "io/object_fixture.h"

namespace tartan {
namespace {

using test::here_color;

struct open_pipe {
  pipe::ends both;
  bool reads;
  std::array<std::byte, 64> room{};

  void close() { reads ? both.read.close() : both.write.close(); }
  void cancel() { reads ? both.read.cancel() : both.write.cancel(); }
  [[nodiscard]] bool is_open() const { return reads ? both.read.is_open() : both.write.is_open(); }
};
std::unique_ptr<open_pipe> make_pipe(bool reads) {
  auto made = pipe::open();
  EXPECT_TRUE(made) << made.error().message();
  return std::unique_ptr<open_pipe>{new open_pipe{std::move(*made), reads}};
}
ssize_t write_now(const pipe::write_end& to, std::string_view text) {
  const iovec part{const_cast<char*>(text.data()), text.size()};
  return test::system_here().write(to.native_handle(), &part, 1);
}
/// Until nothing more fits.
void fill(const pipe::write_end& p) {
  const std::string much(1 << 16, 'x');
  while (write_now(p, much) > 0) {
  }
}
void empty(const pipe::read_end& p) {
  std::vector<char> much(1 << 20);
  while (test::system_here().read(p.native_handle(), much.data(), much.size()) > 0) {
  }
}

class pipes : public test::with_objects_on_either {};
INSTANTIATE_TEST_SUITE_P(on, pipes, testing::ValuesIn(test::both_machines()), test::place_name);
/// With signals, terminals and files.
class pipes_of_the_kernel : public test::with_objects {
 protected:
  /// By a program that says that it ignores SIGPIPE: into a pipe, and a file and bytes into a socket.
  void write_to_who_is_gone_without_care() {
    options with = settings();
    with.pipe_signal_ignored = true;
    runtime rt{with};
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    spawn_in(rt, here_color, [file]() -> task<> {
      auto p = make_pipe(false);
      p->both.read.close();
      EXPECT_EQ((co_await p->both.write.write("x")).error(), std::errc::broken_pipe);
      auto both = *local::pair();
      both.second.close();
      EXPECT_EQ((co_await both.first.send_file(file, 0, 1)).error(), std::errc::broken_pipe);
      EXPECT_EQ((co_await both.first.write("x")).error(), std::errc::broken_pipe);  // a socket's write raises none
    }).detach();
    rt.run_until_idle();
    ::close(file);
  }
};
INSTANTIATE_TEST_SUITE_P(on, pipes_of_the_kernel, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(pipes, end_a_read_in_every_way) {
  ends_in_every_way(test::operation_under_test{[] { return make_pipe(true); }, [](open_pipe& p) { return p.both.read.read_some(p.room); },
                                               [](open_pipe& p, auto f) { p.both.read.read_some(p.room, std::move(f)); },
                                               [](open_pipe& p) { EXPECT_EQ(write_now(p.both.write, "x"), 1); }});
}

TEST_P(pipes, end_a_write_in_every_way) {
  ends_in_every_way(test::operation_under_test{[&]() -> task<std::unique_ptr<open_pipe>> {
                                                 auto made = make_pipe(false);
                                                 fill(made->both.write);
                                                 co_await arrival();
                                                 co_return made;
                                               },
                                               [](open_pipe& p) { return p.both.write.write("x"); },
                                               [](open_pipe& p, auto f) { p.both.write.write("x", std::move(f)); },
                                               [](open_pipe& p) { empty(p.both.read); }});
}

TEST_P(pipes, carry_more_than_they_hold) {
  constexpr std::size_t much = 3 << 20;
  std::size_t total = 0;
  pipe::ends both = *pipe::open(rt(), color{1}, color{2});
  spawn_in(rt(), color{2}, [&]() -> task<> {
    const std::vector<std::byte> all(much);
    EXPECT_EQ(*co_await both.write.write(all), much);
    both.write.close();
  }).detach();
  spawn_in(rt(), color{1}, [&]() -> task<> {
    std::vector<std::byte> room(100'000);
    for (;;) {
      const auto got = co_await both.read.read_some(room);
      if (!got) {
        EXPECT_EQ(got.error(), errc::end_of_stream);
        break;
      }
      total += *got;
    }
  }).detach();
  rt().run_until_idle();
  EXPECT_EQ(total, much);
}

std::atomic<int> pipe_signals{0};

/// What SIGPIPE does to this program: it is counted.
class pipe_signal_counted {
 public:
  pipe_signal_counted() {
    pipe_signals = 0;
    struct sigaction count {};
    count.sa_handler = [](int) { pipe_signals.fetch_add(1); };
    ::sigaction(SIGPIPE, &count, &before_);
  }
  pipe_signal_counted(const pipe_signal_counted&) = delete;
  pipe_signal_counted& operator=(const pipe_signal_counted&) = delete;
  ~pipe_signal_counted() { ::sigaction(SIGPIPE, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

bool pipe_signal_pending() {
  sigset_t all;
  ::sigpending(&all);
  return sigismember(&all, SIGPIPE) == 1;
}

TEST_P(pipes_of_the_kernel, give_an_error_and_no_signal_when_nobody_reads) {
  const pipe_signal_counted count;
  in_color([&]() -> task<> {
    auto p = make_pipe(false);
    p->both.read.close();
    EXPECT_EQ((co_await p->both.write.write("x")).error(), std::errc::broken_pipe);
    EXPECT_FALSE(pipe_signal_pending());
    co_await on(color{9});  // another worker, or the same
    EXPECT_FALSE(pipe_signal_pending());
  });
  EXPECT_EQ(pipe_signals, 0);
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0) << "it stayed blocked";
}

// Who says that it ignores the signal lives on if that is true; if it is not, the signal comes, for nothing is done to keep it away.
TEST_P(pipes_of_the_kernel, leave_the_signal_to_a_program_that_says_that_it_ignores_it) {
  const pipe_signal_counted count;
  for (const bool is_true : {true, false}) {
    struct sigaction counting {};
    ::sigaction(SIGPIPE, nullptr, &counting);
    if (is_true) std::signal(SIGPIPE, SIG_IGN);
    write_to_who_is_gone_without_care();
    if (is_true) ::sigaction(SIGPIPE, &counting, nullptr);
    EXPECT_EQ(pipe_signals, is_true ? 0 : 2);
  }
}

/// Up to some 10 us, for who wakes to come as far as it comes.
void spend(int steps) {
  std::atomic<int> left{steps};
  while (left.fetch_sub(1) > 0) {
  }
}

// Who sleeps is woken by what the closer has read already, looks at the read end at that moment, and sleeps again.
TEST_P(pipes_of_the_kernel, have_ended_when_close_returns_whoever_looks_at_them) {
  const pipe_signal_counted count;
  in_color([&]() -> task<> {
    std::array<std::byte, 1> room{};
    for (int round = 0; round < 4'000; ++round) {
      auto both = pipe::open();
      if (!both) co_return static_cast<void>(ADD_FAILURE() << both.error().message());
      const int write_end = both->write.native_handle();
      EXPECT_EQ(::write(write_end, "x", 1), 1);
      EXPECT_EQ(*co_await both->read.read_some(room), 1u);
      spend(round * 97 % 3'000);
      both->read.close();
      if (::write(write_end, "y", 1) >= 0) co_return static_cast<void>(ADD_FAILURE() << "somebody can read it, round " << round);
      EXPECT_EQ(errno, EPIPE);
    }
  });
}

TEST_P(pipes_of_the_kernel, leave_a_signal_alone_that_was_there_before) {
  if (GetParam() != 1) return;  // it is this thread's
  const pipe_signal_counted count;
  sigset_t only;
  sigset_t before;
  sigemptyset(&only);
  sigaddset(&only, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &only, &before);
  ::raise(SIGPIPE);
  in_color([&]() -> task<> {
    auto p = make_pipe(false);
    p->both.read.close();
    EXPECT_EQ((co_await p->both.write.write("x")).error(), std::errc::broken_pipe);
  });
  EXPECT_TRUE(pipe_signal_pending());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(pipe_signals, 1);
}

TEST_P(pipes_of_the_kernel, may_be_terminals) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(master, 0);
  ASSERT_EQ(::grantpt(master) + ::unlockpt(master), 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  termios raw{};
  ::tcgetattr(terminal, &raw);
  ::cfmakeraw(&raw);
  ::tcsetattr(terminal, TCSANOW, &raw);
  pipe::read_end keys = *pipe::read_end::from_fd(rt(), terminal, here_color);
  in_color([&]() -> task<> {
    auto program = *pipe::write_end::from_fd(master, here_color);
    post(here_color, [&] { program.write("typed\n", [](result<std::size_t> wrote) { EXPECT_TRUE(wrote); }); });
    std::string line;
    EXPECT_EQ(*co_await keys.read_until(line, "\n", 100), 6u);
    std::array<std::byte, 3> three{};
    EXPECT_TRUE(co_await program.write("abc"));
    EXPECT_EQ(*co_await keys.read_exactly(three), 3u);
  });
}

TEST_P(pipes_of_the_kernel, are_not_regular_files) {
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(pipe::read_end::from_fd(rt(), file, here_color).error(), std::errc::operation_not_permitted);
  EXPECT_NE(::fcntl(file, F_GETFD), -1) << "still the caller's";
  ::close(file);
  in_color([]() -> task<> {
    EXPECT_EQ(pipe::read_end::from_fd(-1, here_color).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ(pipe::write_end::from_fd(-1, here_color).error(), std::errc::bad_file_descriptor);
    co_return;
  });
}

TEST_P(pipes, are_read_line_by_line) {
  in_color([]() -> task<> {
    auto both = *pipe::open();
    EXPECT_TRUE(co_await both.write.write("one\r\ntwo\nrest"));
    both.write.close();
    buf::chain all;
    const auto one = co_await both.read.read_line(all, 100);
    EXPECT_EQ(one->length, 3u);
    all.drop(one->whole);
    EXPECT_TRUE(co_await both.read.read_line(all, 100));
    EXPECT_EQ(*all.take_line(100), "two");
    EXPECT_EQ((co_await both.read.read_line(all, 100)).error(), errc::end_of_stream);
    EXPECT_EQ(all.to_string(), "rest");
  });
}

bool blocks(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  EXPECT_GE(flags, 0);
  return (flags & O_NONBLOCK) == 0;
}

/// Descriptors from elsewhere, whose flag is as elsewhere wants it.
class pipes_from_elsewhere : public test::with_objects {
 protected:
  void SetUp() override {
    with_objects::SetUp();
    ASSERT_EQ(::pipe2(ends_, O_CLOEXEC), 0);
  }
  void TearDown() override {
    end_runtime();
    for (const int each : ends_) ::close(each);
    with_objects::TearDown();
  }
  /// Another descriptor of the reading end's open file.
  [[nodiscard]] int same_file() const { return ::dup(ends_[0]); }
  /// Of the same pipe, another open file.
  [[nodiscard]] int other_file() const {
    return ::open(("/proc/self/fd/" + std::to_string(ends_[0])).c_str(), O_RDONLY | O_CLOEXEC);
  }
  pipe::read_end taken(int descriptor) { return *pipe::read_end::from_fd(rt(), descriptor, here_color); }

  int ends_[2] = {-1, -1};
};
INSTANTIATE_TEST_SUITE_P(on, pipes_from_elsewhere, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(pipes_from_elsewhere, block_again_when_they_are_closed_or_released) {
  {
    pipe::read_end closed = taken(same_file());
    EXPECT_FALSE(blocks(ends_[0]));
    closed.close();
    EXPECT_TRUE(blocks(ends_[0]));
    pipe::read_end released = taken(same_file());
    EXPECT_FALSE(blocks(ends_[0]));
    const int descriptor = released.release();
    EXPECT_TRUE(blocks(descriptor));
    ::close(descriptor);
  }
  {
    const pipe::read_end destroyed = taken(same_file());
    EXPECT_FALSE(blocks(ends_[0]));
  }
  rt().run_until_idle();
  EXPECT_TRUE(blocks(ends_[0]));
  { const pipe::read_end left_to_the_end_of_the_runtime = taken(same_file()); }
  end_runtime();
  EXPECT_TRUE(blocks(ends_[0]));
}

// As standard input and output are one open file at a terminal.
TEST_P(pipes_from_elsewhere, block_again_when_the_last_object_of_their_open_file_is_gone) {
  for (const bool first_goes_first : {true, false}) {
    pipe::read_end first = taken(same_file());
    pipe::read_end second = taken(same_file());
    (first_goes_first ? first : second).close();
    EXPECT_FALSE(blocks(ends_[0])) << "the other one needs it";
    (first_goes_first ? second : first).close();
    EXPECT_TRUE(blocks(ends_[0]));
  }
}

TEST_P(pipes_from_elsewhere, are_not_confused_with_other_open_files_of_theirs) {
  const int other = other_file();
  ASSERT_GE(other, 0);
  pipe::read_end first = taken(same_file());
  pipe::read_end second = taken(::dup(other));
  second.close();
  EXPECT_TRUE(blocks(other));
  EXPECT_FALSE(blocks(ends_[0]));
  first.close();
  EXPECT_TRUE(blocks(ends_[0]));
  ::close(other);
}

TEST_P(pipes_from_elsewhere, stay_non_blocking_if_they_were_found_so) {
  ASSERT_EQ(::fcntl(ends_[0], F_SETFL, O_NONBLOCK), 0);
  pipe::read_end closed = taken(same_file());
  closed.close();
  EXPECT_FALSE(blocks(ends_[0]));
}

// Somebody else has closed the number, and opened another file under it: that is left alone.
TEST_P(pipes_from_elsewhere, that_somebody_else_has_closed_are_forgotten) {
  const int number = same_file();
  pipe::read_end first = taken(number);
  pipe::read_end second = taken(same_file());
  const int another = ::open("/dev/null", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ASSERT_EQ(::dup3(another, number, O_CLOEXEC), number);
  first.close();
  EXPECT_FALSE(blocks(another));
  EXPECT_FALSE(blocks(ends_[0]));
  second.close();
  EXPECT_TRUE(blocks(ends_[0]));
  ::close(another);
}

}  // namespace
}  // namespace tartan
