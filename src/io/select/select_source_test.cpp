#include "io/select/select_source.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/sleep/poller.h"
#include "io/source_fixture.h"
#include "tests/temporary_folder.h"
#include "tests/workers.h"

namespace tartan::detail {
namespace {

using test::notebook;
using test::open_descriptors;
using test::tcp_wire;
using test::watched_wire;
using test::wire;
using ended_by = readiness_source::ended_by;
constexpr std::uint64_t never = never_ns;

TEST(select_source, tells_what_is_wanted_once_and_at_once_if_it_is_wanted_again) {
  select_source source{2};
  notebook book{source};
  const watched_wire a{source, 7};
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
  select_source source{1};
  notebook book{source};
  const watched_wire a{source, 7};
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
  select_source source{1};
  notebook book{source};
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

// It would stand, and end each wait, until somebody takes it: who reads does not.
TEST(select_source, does_not_tell_urgent_data) {
  select_source source{1};
  notebook book{source};
  const tcp_wire a;
  ASSERT_EQ(source.watch(a.near, 7), 0);
  source.want(a.near, flow::in);
  EXPECT_EQ(::send(a.far, "!", 1, MSG_OOB), 1);
  ASSERT_FALSE(source.harvest(0)) << "or the system is short of memory for TCP, and tells any byte";
  EXPECT_EQ(::send(a.far, "x", 1, 0), 1);
  EXPECT_EQ(source.wait(0, never), ended_by::readiness);
  source.deliver(0);
  EXPECT_EQ(book.in[7], 1);
}

TEST(select_source, wants_again_what_is_set_aside_unless_it_was_closed) {
  select_source source{2};
  notebook book{source};
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

TEST(select_source, takes_no_call_by_a_harvest) {
  select_source source{1};
  source.call();
  EXPECT_FALSE(source.harvest(0));
  EXPECT_FALSE(source.saw_call(0));
  EXPECT_EQ(source.wait(0, never), ended_by::call);
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
      notebook book{source};
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

TEST(select_source, tells_who_waits_for_what_somebody_else_has_closed) {
  select_source source{1};
  notebook book{source};
  const watched_wire stays{source, 6};
  watched_wire a{source, 7};
  watched_wire unwanted{source, 8};
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
  select_source source{1};
  notebook book{source};
  const wire stays;
  watched_wire gone{source, 7};
  source.want(gone.ends[0], flow::in);
  ASSERT_EQ(::dup3(stays.ends[0], gone.ends[0], O_CLOEXEC), gone.ends[0]);  // by somebody who does not say so
  ASSERT_EQ(source.watch(gone.ends[0], 8), 0);
  stays.send();
  EXPECT_FALSE(source.harvest(0));
  source.want(gone.ends[0], flow::in);
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.in, (std::map<std::uint64_t, int>{{8, 1}}));
}

TEST(select_source, refuses_what_is_watched_already) {
  select_source source{1};
  notebook book{source};
  const watched_wire a{source, 7};
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
  select_source source{1};
  notebook book{source};
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

// What the kernel was asked for.
struct asked {
  static inline timeval limit{};
  static inline bool without_end = false;
};

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

}  // namespace
}  // namespace tartan::detail
