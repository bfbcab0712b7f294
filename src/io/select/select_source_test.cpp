#include "io/select/select_source.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "io/source_fixture.h"
#include "tests/temporary_folder.h"
#include "tests/workers.h"

namespace tartan::detail {
namespace {

using test::notebook;
using test::open_descriptors;
using test::wire;
using ended_by = readiness_source::ended_by;
constexpr std::uint64_t never = ~std::uint64_t{0};

// What the kernel was asked for. Reset by each test that looks.
struct asked {
  static inline std::atomic<int> blocking{0};     ///< calls that may block have begun
  static inline std::atomic<int> looked_for{-1};
  static inline std::atomic<int> with_it{0};      ///< those of them whose sets have it
  static inline std::atomic<int> rings{0};
  static inline timeval limit{};
  static inline bool without_end = false;

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

TEST(select_source, tells_what_is_wanted_once_and_at_once_if_it_is_wanted_again) {
  notebook book;
  select_source source{2};
  source.report_to(book);
  const wire a;
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
  a.send();
  EXPECT_FALSE(source.harvest(0)) << "nobody waits";
  for (int round = 1; round <= 3; ++round) {
    source.want(a.ends[0], flow::in);
    EXPECT_TRUE(source.harvest(static_cast<unsigned>(round % 2)));
    EXPECT_EQ(book.in[7], round);
    EXPECT_FALSE(source.harvest(0));
    EXPECT_FALSE(source.harvest(1));
  }
  EXPECT_TRUE(book.out.empty());
  EXPECT_EQ(source.descriptor(), -1);
}

TEST(select_source, tells_each_direction_for_itself_and_both_together) {
  notebook book;
  select_source source{1};
  source.report_to(book);
  const wire a;
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
  source.want(a.ends[0], flow::in);
  EXPECT_FALSE(source.harvest(0));
  source.want(a.ends[0], flow::out);
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.out[7], 1);
  EXPECT_EQ(book.in[7], 0);
  a.send();
  EXPECT_TRUE(source.harvest(0));  // is wanted still
  EXPECT_EQ(book.in[7], 1);
  source.want(a.ends[0], flow::in);
  source.want(a.ends[0], flow::out);
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.out[7], 2);
  EXPECT_EQ(book.in[7], 2);
}

TEST(select_source, tells_a_hang_up_in_each_direction_that_is_wanted) {
  notebook book;
  select_source source{1};
  source.report_to(book);
  wire a;
  a.fill();
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
  source.want(a.ends[0], flow::in);
  source.want(a.ends[0], flow::out);
  EXPECT_FALSE(source.harvest(0));
  ::close(std::exchange(a.ends[1], -1));
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.in[7], 1);
  EXPECT_EQ(book.out[7], 1);
}

/// Two TCP sockets that are connected.
struct tcp_wire {
  tcp_wire() {
    const int door = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(door, reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(door, 1), 0);
    EXPECT_EQ(::getsockname(door, reinterpret_cast<sockaddr*>(&at), &size), 0);
    far = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(far, reinterpret_cast<const sockaddr*>(&at), size), 0);
    near = ::accept4(door, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    ::close(door);
  }
  ~tcp_wire() {
    ::close(near);
    ::close(far);
  }
  tcp_wire(const tcp_wire&) = delete;
  tcp_wire& operator=(const tcp_wire&) = delete;
  int near = -1;
  int far = -1;
};

// It would stand, and end each wait, until somebody takes it: who reads does not.
TEST(select_source, does_not_tell_urgent_data) {
  notebook book;
  select_source source{1};
  source.report_to(book);
  const tcp_wire a;
  ASSERT_EQ(source.watch(a.near, 7), 0);
  source.want(a.near, flow::in);
  EXPECT_EQ(::send(a.far, "!", 1, MSG_OOB), 1);
  EXPECT_FALSE(source.harvest(0));
  EXPECT_EQ(::send(a.far, "x", 1, 0), 1);
  EXPECT_EQ(source.wait(0, never), ended_by::readiness);
  source.deliver(0);
  EXPECT_EQ(book.in[7], 1);
}

TEST(select_source, keeps_what_ended_a_wait_until_it_is_delivered) {
  notebook book;
  select_source source{1};
  source.report_to(book);
  const wire a;
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
  source.want(a.ends[0], flow::in);
  a.send();
  EXPECT_EQ(source.wait(0, never), ended_by::readiness);
  EXPECT_TRUE(book.in.empty());
  source.deliver(0);
  EXPECT_EQ(book.in[7], 1);
  source.deliver(0);
  EXPECT_EQ(book.in[7], 1);
}

TEST(select_source, wants_again_what_is_set_aside_unless_it_was_closed) {
  notebook book;
  select_source source{2};
  source.report_to(book);
  const wire a;
  const wire b;
  const wire c;
  std::uint64_t mark = 7;
  for (const wire* const each : {&a, &b, &c}) {
    ASSERT_EQ(source.watch(each->ends[0], mark++), 0);
    source.want(each->ends[0], flow::in);
  }
  source.want(a.ends[0], flow::out);
  EXPECT_FALSE(source.set_aside(0));
  for (const wire* const each : {&a, &b, &c}) each->send();
  EXPECT_EQ(source.wait(0, never), ended_by::readiness);
  source.forget(b.ends[0]);
  source.forget(c.ends[0]);
  ASSERT_EQ(source.watch(c.ends[0], 10), 0);  // another object, under the same number
  EXPECT_TRUE(source.set_aside(0));
  EXPECT_FALSE(source.has_aside());
  source.deliver(0);
  EXPECT_TRUE(book.in.empty());
  EXPECT_TRUE(source.harvest(1));
  EXPECT_EQ(book.in, (std::map<std::uint64_t, int>{{7, 1}}));
  EXPECT_EQ(book.out, (std::map<std::uint64_t, int>{{7, 1}}));
  EXPECT_FALSE(source.harvest(1));
}

TEST(select_source, ends_a_wait_by_a_call_that_comes_before_or_during_it) {
  select_source source{1};
  source.call();
  source.call();
  EXPECT_FALSE(source.harvest(0));
  EXPECT_FALSE(source.took_call(0));
  EXPECT_EQ(source.wait(0, never), ended_by::call);
  EXPECT_EQ(source.wait(0, 0), ended_by::time);
  std::thread caller{[&] { source.call(); }};
  EXPECT_EQ(source.wait(0, never), ended_by::call);
  caller.join();
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

// Who has found as many as the kernel has counted looks no further.
TEST(select_source, looks_at_no_more_descriptors_than_were_found) {
  static int got = 0;
  select_calls calls;
  calls.select = [](int, fd_set*, fd_set*, fd_set*, timeval*) { return got; };  // in the sets stays what was asked for
  select_source source{1, calls};
  const wire a;
  const wire b;
  for (const std::uint64_t at_most_ns : {std::uint64_t{0}, never}) {
    const int bells = at_most_ns == 0 ? 0 : 2;
    for (const int found : {0, 1, 2, 3}) {
      notebook book;
      source.report_to(book);
      ASSERT_EQ(source.watch(a.ends[0], 7), 0);
      ASSERT_EQ(source.watch(b.ends[0], 8), 0);
      source.want(a.ends[0], flow::in);
      source.want(a.ends[0], flow::out);
      source.want(b.ends[0], flow::in);
      got = bells + found;
      EXPECT_EQ(source.wait(0, at_most_ns), found > 0 ? ended_by::readiness : ended_by::time);
      source.deliver(0);
      EXPECT_EQ(book.in.size(), found == 0 ? 0u : found < 3 ? 1u : 2u) << found << " and " << bells;
      EXPECT_EQ(book.out.size(), found == 0 ? 0u : 1u) << found << " and " << bells;
      source.forget(a.ends[0]);
      source.forget(b.ends[0]);
    }
  }
}

TEST(select_source, rings_for_what_is_wanted_only_if_somebody_blocks_without_it) {
  notebook book;
  select_source source{2, counted()};
  source.report_to(book);
  const wire a;
  const wire b;
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
  ASSERT_EQ(source.watch(b.ends[0], 8), 0);
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
  notebook book;
  select_calls calls = counted();
  calls.select = [](int upto, fd_set* in, fd_set* out, fd_set* urgent, timeval* limit) {
    if (limit != nullptr) return ::select(upto, in, out, urgent, limit);
    asked::begins(*in, *out);
    test::spin_until([] { return may_return.load(); });
    errno = EINTR;
    return -1;
  };
  select_source source{2, calls};
  source.report_to(book);
  const wire a;
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
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
  notebook book;
  select_source source{2, counted()};
  source.report_to(book);
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
  notebook book;
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
  source.report_to(book);
  const wire a;
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
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
  const wire a;
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
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

TEST(select_source, tells_who_waits_for_what_somebody_else_has_closed) {
  notebook book;
  select_source source{1};
  source.report_to(book);
  const wire stays;
  wire a;
  wire unwanted;
  ASSERT_EQ(source.watch(stays.ends[0], 6), 0);
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
  ASSERT_EQ(source.watch(unwanted.ends[0], 8), 0);
  source.want(stays.ends[0], flow::in);
  source.want(a.ends[0], flow::in);
  for (wire* const each : {&a, &unwanted}) ::close(std::exchange(each->ends[0], -1));
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.in, (std::map<std::uint64_t, int>{{7, 1}}));
  EXPECT_FALSE(source.harvest(0));
  stays.send();
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.in[6], 1);
}

TEST(select_source, tells_nobody_what_the_number_s_last_owner_waited_for) {
  notebook book;
  select_source source{1};
  source.report_to(book);
  const wire stays;
  wire gone;
  ASSERT_EQ(source.watch(gone.ends[0], 7), 0);
  source.want(gone.ends[0], flow::in);
  ASSERT_EQ(::dup3(stays.ends[0], gone.ends[0], O_CLOEXEC), gone.ends[0]);  // by somebody who does not say so
  ASSERT_EQ(source.watch(gone.ends[0], 8), 0);
  stays.send();
  EXPECT_FALSE(source.harvest(0));
  source.want(gone.ends[0], flow::in);
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.in, (std::map<std::uint64_t, int>{{8, 1}}));
}

// That call has the file which the number stood for when it began.
TEST(select_source, ends_a_call_that_waits_for_the_number_s_last_owner) {
  notebook book;
  select_source source{1, counted()};
  source.report_to(book);
  const wire next;
  const wire gone;
  ASSERT_EQ(source.watch(gone.ends[0], 7), 0);
  asked::look_for(gone.ends[0]);
  source.want(gone.ends[0], flow::in);
  {
    const sleeper blocks{source, 0};
    test::spin_until([] { return asked::with_it == 1; });
    EXPECT_EQ(::dup3(next.ends[0], gone.ends[0], O_CLOEXEC), gone.ends[0]);
    EXPECT_EQ(source.watch(gone.ends[0], 8), 0);
    source.want(gone.ends[0], flow::in);
    EXPECT_EQ(asked::rings, 1);
    next.send();
    if (asked::rings == 1) test::spin_until([&] { return count_of(book, 8) == 1; });
    source.call();
  }
  EXPECT_EQ(count_of(book, 7), 0);
}

TEST(select_source, refuses_what_is_watched_already) {
  notebook book;
  select_source source{1};
  source.report_to(book);
  const wire a;
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
  source.want(a.ends[0], flow::in);
  EXPECT_EQ(source.watch(a.ends[0], 8), -EEXIST);
  a.send();
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.in, (std::map<std::uint64_t, int>{{7, 1}})) << "nothing has changed for the first one";
  source.forget(a.ends[0]);
  EXPECT_EQ(source.watch(a.ends[0], 8), 0);
}

// To fstat all of them are one file, so it cannot be told whether this one is another.
TEST(select_source, takes_an_eventfd_under_the_number_of_one_that_somebody_else_has_closed) {
  select_source source{1};
  const int one = ::eventfd(0, EFD_CLOEXEC);
  ASSERT_EQ(source.watch(one, 7), 0);
  ::close(one);
  const int other = ::eventfd(0, EFD_CLOEXEC);
  ASSERT_EQ(other, one);
  EXPECT_EQ(source.watch(other, 8), 0);
  ::close(other);
}

/// While it lives, so many descriptors may be open.
class allowed_descriptors {
 public:
  explicit allowed_descriptors(rlim_t most) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit more = before_;
    more.rlim_cur = std::max(most, before_.rlim_cur);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &more), 0);
  }
  allowed_descriptors(const allowed_descriptors&) = delete;
  allowed_descriptors& operator=(const allowed_descriptors&) = delete;
  ~allowed_descriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

TEST(select_source, refuses_what_does_not_fit_into_a_set) {
  const allowed_descriptors more{FD_SETSIZE + 16};
  notebook book;
  select_source source{1};
  source.report_to(book);
  const wire a;
  const int last = ::fcntl(a.ends[0], F_DUPFD_CLOEXEC, FD_SETSIZE - 1);
  ASSERT_EQ(last, FD_SETSIZE - 1);
  const int too_large = ::fcntl(a.ends[0], F_DUPFD_CLOEXEC, FD_SETSIZE);
  EXPECT_EQ(source.watch(last, 7), 0);
  EXPECT_EQ(source.watch(too_large, 8), -EMFILE);
  a.send();
  source.want(last, flow::in);
  source.want(too_large, flow::in);
  source.forget(too_large);
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.in, (std::map<std::uint64_t, int>{{7, 1}}));
  ::close(last);
  ::close(too_large);
}

TEST(select_source, gives_the_error_of_a_descriptor_that_cannot_be_watched) {
  select_source source{1};
  EXPECT_EQ(source.watch(-1, 7), -EBADF);
  const test::temporary_folder folder;
  for (const int flags : {O_RDONLY | O_DIRECTORY, O_RDWR | O_TMPFILE}) {
    const int opened = ::open(folder.path().c_str(), flags | O_CLOEXEC, 0600);
    ASSERT_GE(opened, 0);
    EXPECT_EQ(source.watch(opened, 7), -EPERM);
    ::close(opened);
  }
}

TEST(select_source, that_cannot_be_made_is_an_error_and_leaves_nothing_open) {
  static int made = 0;
  select_calls failing;
  failing.eventfd = [](unsigned initial, int flags) {
    if (made-- > 0) return ::eventfd(initial, flags);
    errno = ENFILE;
    return -1;
  };
  const auto before = open_descriptors();
  for (const int succeed : {0, 1, 2}) {
    made = succeed;
    EXPECT_THROW((select_source{2, failing}), std::system_error) << succeed;
    EXPECT_EQ(open_descriptors(), before);
  }
}

TEST(select_source, whose_bells_do_not_fit_into_a_set_is_an_error) {
  const allowed_descriptors more{FD_SETSIZE + 16};
  select_calls high;
  high.eventfd = [](unsigned initial, int flags) {
    const int low = ::eventfd(initial, flags);
    const int made = ::fcntl(low, F_DUPFD_CLOEXEC, FD_SETSIZE);
    ::close(low);
    return made;
  };
  const auto before = open_descriptors();
  try {
    const select_source source{1, high};
    ADD_FAILURE();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::too_many_files_open);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(select_source, asks_for_microseconds_rounded_up) {
  select_calls calls;
  calls.select = [](int, fd_set*, fd_set*, fd_set*, timeval* limit) {
    asked::without_end = limit == nullptr;
    if (limit != nullptr) asked::limit = *limit;
    return 0;
  };
  select_source source{1, calls};
  const std::array<std::pair<std::uint64_t, timeval>, 4> expected{
      {{1, {0, 1}}, {1'000, {0, 1}}, {1'001, {0, 2}}, {3'000'000'007, {3, 1}}}};
  for (const auto& [ns, limit] : expected) {
    EXPECT_EQ(source.wait(0, ns), ended_by::time);
    EXPECT_EQ(asked::limit.tv_sec, limit.tv_sec) << ns;
    EXPECT_EQ(asked::limit.tv_usec, limit.tv_usec) << ns;
    EXPECT_FALSE(asked::without_end);
  }
  EXPECT_EQ(source.wait(0, never), ended_by::time);
  EXPECT_TRUE(asked::without_end);
}

TEST(select_source, waits_no_shorter_than_it_is_told) {
  select_source source{1};
  for (const std::uint64_t ns : {1ull, 300'000ull, 2'000'001ull}) {
    const std::uint64_t begin = real_now_ns();
    EXPECT_EQ(source.wait(0, ns), ended_by::time);
    EXPECT_GE(real_now_ns() - begin, ns);
  }
}

TEST(select_source, takes_a_wait_that_was_interrupted_or_found_no_memory_for_one_whose_time_is_up) {
  static int error = 0;
  select_calls calls;
  calls.select = [](int, fd_set*, fd_set*, fd_set*, timeval*) {
    errno = error;
    return -1;
  };
  select_source source{1, calls};
  for (const int each : {EINTR, ENOMEM, EBADF}) {  // EBADF: who has closed it has opened it anew meanwhile
    error = each;
    EXPECT_EQ(source.wait(0, never), ended_by::time) << each;
    EXPECT_FALSE(source.harvest(0)) << each;
  }
}

TEST(select_source, leaves_errno_alone_when_it_calls_and_goes_on_after_signals) {
  static int interruptions = 0;
  select_calls calls;
  calls.write = [](int descriptor, const void* from, std::size_t size) -> ssize_t {
    if (interruptions-- <= 0) return ::write(descriptor, from, size);
    errno = EINTR;
    return -1;
  };
  calls.read = [](int descriptor, void* into, std::size_t size) -> ssize_t {
    if (interruptions-- <= 0) return ::read(descriptor, into, size);
    errno = EINTR;
    return -1;
  };
  select_source source{1, calls};
  errno = ERANGE;
  interruptions = 2;
  source.call();
  EXPECT_EQ(errno, ERANGE);
  interruptions = 2;
  EXPECT_EQ(source.wait(0, never), ended_by::call);
  EXPECT_EQ(source.wait(0, 1), ended_by::time);
}

/// Ends the program: one call gives EIO.
void break_down(void (*how)(select_calls&)) {
  select_calls calls;
  how(calls);
  select_source source{1, calls};
  source.call();
  static_cast<void>(source.wait(0, never));
}

TEST(select_source, that_breaks_ends_the_program_with_the_reason) {
  EXPECT_DEATH(break_down([](select_calls& calls) {
                 calls.select = [](int, fd_set*, fd_set*, fd_set*, timeval*) {
                   errno = EINVAL;
                   return -1;
                 };
               }),
               "select failed with errno 22; workers cannot sleep here");
  EXPECT_DEATH(break_down([](select_calls& calls) {
                 calls.write = [](int, const void*, std::size_t) -> ssize_t {
                   errno = EIO;
                   return -1;
                 };
               }),
               "workers cannot be woken");
  EXPECT_DEATH(break_down([](select_calls& calls) {
                 calls.read = [](int, void*, std::size_t) -> ssize_t {
                   errno = EIO;
                   return -1;
                 };
               }),
               "read of an eventfd failed");
  EXPECT_DEATH(break_down([](select_calls& calls) {
                 calls.select = [](int, fd_set*, fd_set*, fd_set*, timeval*) {
                   errno = EBADF;
                   return -1;
                 };
                 calls.flags = [](int) {
                   errno = EBADF;
                   return -1;
                 };
               }),
               "an eventfd of the runtime's was closed");
}

/// Takes what there is, and waits again, as a slot does.
struct reader final : readiness_ledger {
  bool ready(std::uint64_t mark, std::uint32_t /*bits*/) noexcept override {
    const int from = wires[mark].ends[0];
    char byte = 0;
    while (::read(from, &byte, 1) == 1) got[mark].fetch_add(1);
    source->want(from, flow::in);
    return true;
  }
  select_source* source = nullptr;
  std::array<wire, 8> wires;
  std::array<std::atomic<unsigned>, 8> got{};
};

// Four threads take turns at sleeping, and one looks, while another one sends. One that was late may tell again what another has told.
TEST(select_source, loses_nothing_among_many_sleepers) {
  reader all;
  select_source source{5};
  source.report_to(all);
  all.source = &source;
  for (std::size_t n = 0; n < all.wires.size(); ++n) {
    ASSERT_EQ(source.watch(all.wires[n].ends[0], n), 0);
    source.want(all.wires[n].ends[0], flow::in);
  }
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < 4; ++worker) {
    threads.emplace_back([&, worker] {
      while (!over.load()) {
        static_cast<void>(source.wait(worker, never));
        source.deliver(worker);
      }
      source.call();  // the next one
    });
  }
  for (unsigned round = 0; round < 500; ++round) {
    const std::size_t which = round % all.wires.size();
    all.wires[which].send();
    if (round % 3 == 0) static_cast<void>(source.harvest(4));
    test::spin_until([&] { return all.got[which].load() == round / all.wires.size() + 1; });
  }
  over.store(true);
  source.call();
  for (std::thread& each : threads) each.join();
}

}  // namespace
}  // namespace tartan::detail
