#include "io/epoll/epoll_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/sleep/poller.h"
#include "io/source_fixture.h"
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

bool readable(int descriptor) {
  pollfd entry{descriptor, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST(epoll_source, brings_each_edge_once_to_somebody) {
  epoll_source source{2};
  notebook book{source};
  const watched_wire a{source, 7};
  const watched_wire b{source, 8};
  static_cast<void>(source.harvest(0));  // both can be written to
  EXPECT_TRUE(book.in.empty());
  for (int round = 1; round <= 3; ++round) {
    a.send();
    EXPECT_TRUE(source.harvest(static_cast<unsigned>(round % 2)));
    EXPECT_EQ(book.in[7], round);
    EXPECT_FALSE(source.harvest(0));
    EXPECT_FALSE(source.harvest(1));
  }
  EXPECT_EQ(book.in[8], 0);
  source.forget(a.ends[0]);
  a.send();
  EXPECT_FALSE(source.harvest(0));
}

// An accepted socket is watched only before its first wait: what has come since it was last asked for must not be lost.
TEST(epoll_source, tells_at_once_what_came_before_it_watches) {
  epoll_source source{1};
  notebook book{source};
  const wire data;
  const wire finished;
  data.send();
  EXPECT_EQ(::shutdown(finished.ends[1], SHUT_WR), 0);
  EXPECT_FALSE(source.harvest(0));
  ASSERT_EQ(source.watch(data.ends[0], 7), 0);
  ASSERT_EQ(source.watch(finished.ends[0], 8), 0);
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.in[7], 1);
  EXPECT_FALSE(book.hung_up.contains(7));
  EXPECT_TRUE(book.hung_up.contains(8));
}

// The peer of a Unix socket makes room with everything that it reads.
TEST(epoll_source, brings_edges_of_output_only_when_they_are_asked_for_and_one_at_once) {
  epoll_source source{1};
  notebook book{source};
  const wire a;
  char byte = 0;
  const auto make_room = [&] {
    EXPECT_EQ(::write(a.ends[0], "x", 1), 1);
    EXPECT_EQ(::read(a.ends[1], &byte, 1), 1);
  };
  ASSERT_EQ(source.watch(a.ends[0], 7), 0);
  make_room();
  EXPECT_FALSE(source.harvest(0));
  ASSERT_EQ(source.watch_output(a.ends[0], 7), 0);
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.out[7], 1);
  make_room();
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.out[7], 2);
  EXPECT_EQ(book.in[7], 0);
  EXPECT_EQ(source.watch_output(-1, 7), -EBADF);
}

// A short read says as little as at the end of the stream.
TEST(epoll_source, tells_a_hang_up_an_error_and_urgent_data_by_one_bit) {
  epoll_source source{1};
  notebook book{source};
  const wire data;
  const wire finished;
  const tcp_wire urgent;
  std::array<int, 2> without_writer{};
  std::array<int, 2> without_reader{};
  for (auto* const each : {&without_writer, &without_reader}) ASSERT_EQ(::pipe2(each->data(), O_NONBLOCK | O_CLOEXEC), 0);
  std::uint64_t mark = 0;
  for (const int each : {data.ends[0], finished.ends[0], urgent.near, without_writer[0], without_reader[1]}) {
    ASSERT_EQ(source.watch(each, ++mark), 0);
  }
  EXPECT_EQ(::send(urgent.far, "!", 1, MSG_OOB), 1);
  EXPECT_EQ(source.wait(0, never), ended_by::readiness);  // by itself, for TCP may take its time: the others are ready when their calls return
  source.deliver(0);
  data.send();
  EXPECT_EQ(::shutdown(finished.ends[1], SHUT_WR), 0);
  ::close(without_writer[1]);
  ::close(without_reader[0]);
  EXPECT_TRUE(source.harvest(0));
  EXPECT_EQ(book.in[1], 1);
  for (const std::uint64_t each : {1u, 2u, 3u, 4u, 5u}) EXPECT_EQ(book.hung_up.contains(each), each != 1) << each;
  ::close(without_writer[0]);
  ::close(without_reader[1]);
}

TEST(epoll_source, brings_more_edges_than_fit_into_one_look) {
  epoll_source source{1};
  notebook book{source};
  std::array<wire, 300> wires;
  std::uint64_t mark = 0;
  for (const wire& each : wires) ASSERT_EQ(source.watch(each.ends[0], ++mark), 0);
  for (const wire& each : wires) each.send();
  while (source.harvest(0)) {
  }
  EXPECT_FALSE(source.may_have_left(0));
  EXPECT_EQ(book.in.size(), wires.size());
  for (const auto& [which, edges] : book.in) EXPECT_EQ(edges, 1) << which;
}

TEST(epoll_source, takes_less_at_once_for_one_worker_than_for_several) {
  for (const unsigned workers : {1u, 2u}) {
    epoll_source source{workers};
    notebook book{source};
    std::array<wire, 300> wires;
    std::uint64_t mark = 0;
    for (const wire& each : wires) ASSERT_EQ(source.watch(each.ends[0], ++mark), 0);
    for (const wire& each : wires) each.send();
    EXPECT_TRUE(source.harvest(workers - 1));
    EXPECT_EQ(book.in.size(), workers == 1 ? 32u : 128u);
    EXPECT_TRUE(source.may_have_left(workers - 1));
  }
}

TEST(epoll_source, hands_what_is_set_aside_to_whoever_harvests_next) {
  epoll_source source{2};
  notebook book{source};
  const watched_wire a{source, 7};
  static_cast<void>(source.harvest(0));
  EXPECT_FALSE(source.set_aside(0));
  a.send();
  EXPECT_EQ(source.wait(0, never), ended_by::readiness);
  EXPECT_TRUE(source.set_aside(0));
  EXPECT_TRUE(source.has_aside());
  source.deliver(0);
  EXPECT_TRUE(book.in.empty());
  EXPECT_TRUE(source.harvest(1));
  EXPECT_EQ(book.in[7], 1);
  EXPECT_FALSE(source.has_aside());
  EXPECT_FALSE(source.harvest(1));
}

// The sleeper is still on its way to hear it.
TEST(epoll_source, leaves_a_call_to_the_sleeper_and_says_whether_a_harvest_saw_it) {
  epoll_source source{2};
  notebook book{source};
  const watched_wire a{source, 7};
  static_cast<void>(source.harvest(0));
  EXPECT_FALSE(source.saw_call(0));
  source.call();
  a.send();
  EXPECT_TRUE(source.harvest(1));
  EXPECT_EQ(book.in[7], 1);
  EXPECT_FALSE(source.saw_call(0));
  EXPECT_TRUE(source.saw_call(1));
  EXPECT_FALSE(source.harvest(0));
  EXPECT_TRUE(source.saw_call(0)) << "a look does not take it";
  EXPECT_EQ(source.wait(0, never), ended_by::call);
  EXPECT_FALSE(readable(source.descriptor()));
  EXPECT_FALSE(source.harvest(1));
  EXPECT_FALSE(source.saw_call(1)) << "of the last look only";
}

TEST(epoll_source, forgets_a_call_that_reached_no_sleeper) {
  epoll_source source{1};
  notebook book{source};
  source.call();
  EXPECT_TRUE(readable(source.descriptor()));
  source.forget_call();
  EXPECT_FALSE(readable(source.descriptor()));
  EXPECT_EQ(source.wait(0, 0), ended_by::time);
}

TEST(epoll_source, tells_of_readiness_that_comes_with_a_call_and_the_call_is_over) {
  epoll_source source{1};
  notebook book{source};
  const watched_wire a{source, 7};
  static_cast<void>(source.harvest(0));
  source.call();
  a.send();
  EXPECT_EQ(source.wait(0, never), ended_by::readiness);
  source.deliver(0);
  EXPECT_EQ(book.in[7], 1);
  EXPECT_FALSE(readable(source.descriptor()));
}

// What the kernel was asked for.
struct asked {
  static inline int ms = 0;
  static inline int fine = 0;
  static inline timespec limit{};
};

TEST(epoll_source, asks_for_whole_milliseconds_rounded_up_where_there_is_no_epoll_pwait2) {
  epoll_calls calls;
  calls.wait_ns = [](int, epoll_event*, int, const timespec*) {
    ++asked::fine;
    errno = ENOSYS;
    return -1;
  };
  calls.wait = [](int, epoll_event*, int, int ms) {
    asked::ms = ms;
    return 0;
  };
  asked::fine = 0;
  epoll_source source{1, calls};
  const std::array<std::pair<std::uint64_t, int>, 6> expected{
      {{1, 1}, {1'000'000, 1}, {1'000'001, 2}, {0, 0}, {never, -1}, {never - 1, 2'147'483'647}}};
  for (const auto& [ns, ms] : expected) {
    EXPECT_EQ(source.wait(0, ns), ended_by::time);
    EXPECT_EQ(asked::ms, ms) << ns;
  }
  EXPECT_EQ(asked::fine, 1);  // asked once for all
}

TEST(epoll_source, asks_for_nanoseconds) {
  epoll_calls calls;
  calls.wait_ns = [](int, epoll_event*, int, const timespec* limit) {
    asked::limit = *limit;
    return 0;
  };
  epoll_source source{1, calls};
  EXPECT_EQ(source.wait(0, 3'000'000'007), ended_by::time);
  EXPECT_EQ(asked::limit.tv_sec, 3);
  EXPECT_EQ(asked::limit.tv_nsec, 7);
}

TEST(epoll_source, takes_an_interrupted_wait_for_one_whose_time_is_up) {
  epoll_calls calls;
  calls.wait_ns = [](int, epoll_event*, int, const timespec*) {
    errno = EINTR;
    return -1;
  };
  epoll_source source{1, calls};
  EXPECT_EQ(source.wait(0, never), ended_by::time);
}

TEST(epoll_source, is_readable_while_something_is_ready_that_nobody_has_taken) {
  epoll_source source{1};
  notebook book{source};
  const watched_wire a{source, 7};
  static_cast<void>(source.harvest(0));
  EXPECT_FALSE(readable(source.descriptor()));
  a.send();
  EXPECT_TRUE(readable(source.descriptor()));
  static_cast<void>(source.harvest(0));
  EXPECT_FALSE(readable(source.descriptor()));
}

TEST(epoll_source, that_cannot_be_made_is_an_error_and_leaves_nothing_open) {
  const auto before = open_descriptors();
  std::array<epoll_calls, 3> failing;
  failing[0].create = [](int) {
    errno = EMFILE;
    return -1;
  };
  failing[1].eventfd = [](unsigned, int) {
    errno = EMFILE;
    return -1;
  };
  failing[2].control = [](int, int, int, epoll_event*) {
    errno = EMFILE;
    return -1;
  };
  for (const epoll_calls& calls : failing) {
    try {
      const epoll_source source{1, calls};
      ADD_FAILURE();
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::too_many_files_open);
    }
    EXPECT_EQ(open_descriptors(), before);
  }
}

TEST(epoll_source, gives_the_error_of_a_descriptor_that_cannot_be_watched) {
  epoll_source source{1};
  EXPECT_EQ(source.watch(-1, 7), -EBADF);
  const wire a;
  EXPECT_EQ(source.watch(a.ends[0], 7), 0);
  EXPECT_EQ(source.watch(a.ends[0], 7), -EEXIST);
}

TEST(epoll_source, that_breaks_ends_the_program_with_the_reason) {
  EXPECT_DEATH(
      ({
        epoll_calls calls;
        calls.wait_ns = [](int, epoll_event*, int, const timespec*) {
          errno = EBADF;
          return -1;
        };
        epoll_source source{1, calls};
        static_cast<void>(source.wait(0, never));
      }),
      "workers cannot sleep here");
}

}  // namespace
}  // namespace tartan::detail
