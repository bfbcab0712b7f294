// What a select_source does while workers block in the system call.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>
#include <utility>

#include "core/sleep/poller.h"
#include "io/select/select_source.h"
#include "io/source_fixture.h"
#include "tests/workers.h"

namespace tartan::detail {
namespace {

using test::notebook;
using test::watched_wire;
using test::wire;
using ended_by = readiness_source::ended_by;
constexpr std::uint64_t never = never_ns;

// What the kernel was asked for. Reset by each test that looks.
struct asked {
  static inline std::atomic<int> blocking{0};     ///< calls that may block have begun
  static inline std::atomic<int> looked_for{-1};
  static inline std::atomic<int> with_it{0};      ///< those of them whose sets have it
  static inline std::atomic<int> rings{0};

  /// From now on. Calls without it, that end late, do not count.
  static void look_for(int descriptor) {
    with_it = 0;
    looked_for = descriptor;
  }
  static void begins(const fd_set& in, const fd_set& out) {
    if (const int which = looked_for; which >= 0 && (FD_ISSET(which, &in) || FD_ISSET(which, &out))) ++with_it;
    ++blocking;
  }
};

/// The kernel's calls, counted.
select_calls counted() {
  asked::blocking = 0;
  asked::look_for(-1);
  asked::rings = 0;
  select_calls calls;
  calls.select = [](int upto, fd_set* in, fd_set* out, fd_set* urgent, timeval* limit) {
    if (limit == nullptr) asked::begins(*in, *out);
    return ::select(upto, in, out, urgent, limit);
  };
  calls.write = [](int descriptor, const void* from, std::size_t size) {
    ++asked::rings;
    return ::write(descriptor, from, size);
  };
  return calls;
}

/// A worker that sleeps, again and again, until it is called.
class sleeper {
 public:
  sleeper(select_source& in, unsigned worker) : thread_{[&in, worker] {
    while (in.wait(worker, never) != ended_by::call) in.deliver(worker);
    in.deliver(worker);
  }} {}
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;
  ~sleeper() { thread_.join(); }

 private:
  std::thread thread_;
};

int count_of(notebook& book, std::uint64_t mark) {
  const std::lock_guard hold{book.lock};
  return book.in[mark];
}

TEST(select_source, rings_for_what_is_wanted_only_if_somebody_blocks_without_it) {
  select_source source{2, counted()};
  notebook book{source};
  const watched_wire a{source, 7};
  const watched_wire b{source, 8};
  source.want(a.ends[0], flow::in);
  EXPECT_EQ(asked::rings, 0);
  {
    const sleeper blocks{source, 0};
    test::spin_until([] { return asked::blocking == 1; });
    source.want(a.ends[0], flow::in);
    EXPECT_EQ(asked::rings, 0) << "it is wanted already";
    b.send();
    source.want(b.ends[0], flow::in);
    test::spin_until([&] { return count_of(book, 8) == 1; });
    EXPECT_EQ(asked::rings, 1);
    source.call();
  }
  source.want(b.ends[0], flow::in);
  EXPECT_EQ(asked::rings, 2) << "nobody blocks any more";
}

// What another worker has taken meanwhile is in its copy all the same.
TEST(select_source, rings_for_nobody_who_waits_for_it_already) {
  static std::atomic<bool> may_return{false};
  may_return = false;
  select_calls calls = counted();
  calls.select = [](int upto, fd_set* in, fd_set* out, fd_set* urgent, timeval* limit) {
    if (limit != nullptr) return ::select(upto, in, out, urgent, limit);
    asked::begins(*in, *out);
    test::spin_until([] { return may_return.load(); });
    errno = EINTR;
    return -1;
  };
  select_source source{2, calls};
  notebook book{source};
  const watched_wire a{source, 7};
  source.want(a.ends[0], flow::in);
  std::thread blocks{[&] { EXPECT_EQ(source.wait(0, never), ended_by::time); }};
  test::spin_until([] { return asked::blocking == 1; });
  a.send();
  EXPECT_TRUE(source.harvest(1));
  source.want(a.ends[0], flow::in);
  EXPECT_EQ(asked::rings, 0);
  source.want(a.ends[0], flow::out);
  EXPECT_EQ(asked::rings, 1);
  may_return = true;
  blocks.join();
}

// The kernel keeps a socket open while a call waits for it: its peer would not hear of its end.
TEST(select_source, lets_nobody_close_what_a_call_still_waits_for) {
  select_source source{2, counted()};
  notebook book{source};
  const sleeper blocks{source, 0};
  for (int round = 0; round < 50; ++round) {
    wire a;
    a.fill();
    ASSERT_EQ(source.watch(a.ends[0], 7), 0);
    asked::look_for(a.ends[0]);
    source.want(a.ends[0], round % 2 == 0 ? flow::in : flow::out);
    test::spin_until([] { return asked::with_it != 0; });
    source.forget(a.ends[0]);
    ::close(std::exchange(a.ends[0], -1));
    pollfd peer{a.ends[1], POLLRDHUP, 0};
    EXPECT_EQ(::poll(&peer, 1, 0), 1) << round;
  }
  source.call();
}

// Another one has taken what the first one waits for, before the second one came.
TEST(select_source, rings_at_a_close_for_those_that_wait_for_what_is_closed_and_waits_for_nobody_else) {
  static std::atomic<bool> may_return{false};
  static std::atomic<bool> is_out{false};
  may_return = is_out = false;
  select_calls calls = counted();
  calls.select = [](int upto, fd_set* in, fd_set* out, fd_set* urgent, timeval* limit) {
    if (limit != nullptr) return ::select(upto, in, out, urgent, limit);
    const bool has_it = FD_ISSET(asked::looked_for, in);
    asked::begins(*in, *out);
    test::spin_until([=] { return may_return || (has_it && asked::rings != 0); });
    for (int turn = 0; has_it && turn < 1000; ++turn) std::this_thread::yield();
    if (has_it) is_out = true;
    errno = EINTR;
    return -1;
  };
  select_source source{3, calls};
  notebook book{source};
  const watched_wire a{source, 7};
  asked::look_for(a.ends[0]);
  source.want(a.ends[0], flow::in);
  std::thread first{[&] { EXPECT_EQ(source.wait(0, never), ended_by::time); }};
  test::spin_until([] { return asked::blocking == 1; });
  a.send();
  EXPECT_TRUE(source.harvest(2));
  std::thread second{[&] { EXPECT_EQ(source.wait(1, never), ended_by::time); }};
  test::spin_until([] { return asked::blocking == 2; });
  EXPECT_EQ(asked::with_it, 1);
  source.forget(a.ends[0]);
  EXPECT_TRUE(is_out);
  EXPECT_EQ(asked::rings, 1);
  may_return = true;
  first.join();
  second.join();
}

TEST(select_source, waits_for_nobody_in_a_child_of_fork) {
  select_source source{1, counted()};
  const watched_wire a{source, 7};
  source.want(a.ends[0], flow::in);
  const sleeper blocks{source, 0};
  test::spin_until([] { return asked::blocking == 1; });
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    source.forget(a.ends[0]);
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  source.call();
}

// That call has the file which the number stood for when it began.
TEST(select_source, ends_a_call_that_waits_for_the_number_s_last_owner) {
  select_source source{1, counted()};
  notebook book{source};
  const wire next;
  const watched_wire gone{source, 7};
  asked::look_for(gone.ends[0]);
  source.want(gone.ends[0], flow::in);
  {
    const sleeper blocks{source, 0};
    test::spin_until([] { return asked::with_it == 1; });
    EXPECT_EQ(::dup3(next.ends[0], gone.ends[0], O_CLOEXEC), gone.ends[0]);
    EXPECT_EQ(source.watch(gone.ends[0], 8), 0);
    const bool is_told = asked::rings == 1;
    EXPECT_TRUE(is_told);
    source.want(gone.ends[0], flow::in);
    next.send();
    if (is_told) test::spin_until([&] { return count_of(book, 8) == 1; });
    source.call();
  }
  EXPECT_EQ(count_of(book, 7), 0);
}

// Two have heard one call, and this one comes when the other has taken it. Just before it silences the bell it is called again.
TEST(select_source, hears_a_call_that_comes_while_it_silences_the_bell) {
  static int reads = 0;
  static select_source* called = nullptr;
  select_calls calls;
  calls.select = [](int, fd_set*, fd_set*, fd_set*, timeval*) { return 2; };  // its own bell too, which it silences first
  calls.read = [](int descriptor, void* into, std::size_t size) {
    if (++reads == 2) called->call();
    return ::read(descriptor, into, size);
  };
  select_source source{1, calls};
  called = &source;
  reads = 0;
  EXPECT_EQ(source.wait(0, never), ended_by::call);
  EXPECT_EQ(source.wait(0, never), ended_by::time) << "that was one call";
}

}  // namespace
}  // namespace tartan::detail
