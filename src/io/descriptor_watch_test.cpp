#include <tartan/io/descriptor_watch.h>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <tartan/io/local.h>
#include <tartan/io/pipe.h>

#include "io/object_fixture.h"

namespace tartan {
namespace {

using test::here_color;

/// One end of a connection that another library uses, and a watch of it.
struct watched_stream {
  std::pair<local::stream, local::stream> both;
  descriptor_watch watch;
  detail::io_system* system = &test::system_here();

  void close() { watch.close(); }
  void cancel() { watch.cancel(); }
  [[nodiscard]] bool is_open() const { return watch.is_open(); }

  void send_here() { EXPECT_EQ(system->send(both.second.native_handle(), "xy", 2), 2); }
  /// As the owner does. Gives how many bytes there were.
  ssize_t read_here(std::size_t most) {
    std::array<char, 4> room{};
    return system->receive(both.first.native_handle(), room.data(), most);
  }
  void fill() {
    const std::string much(1 << 16, 'x');
    while (system->send(both.first.native_handle(), much.data(), much.size()) > 0) {
    }
  }
  void empty_there() {
    std::string much(1 << 20, ' ');
    while (system->receive(both.second.native_handle(), much.data(), much.size()) > 0) {
    }
  }
};

std::unique_ptr<watched_stream> make_watch() {
  auto both = *local::pair();
  auto watch = descriptor_watch::of(both.first.native_handle());
  EXPECT_TRUE(watch) << watch.error().message();
  return std::unique_ptr<watched_stream>{new watched_stream{std::move(both), std::move(*watch)}};
}

class watched_descriptors : public test::with_objects_on_either {
 protected:
  watched_descriptors() { world_with.partial_percent = 0; }  // what the owner sends and reads is there, or is not
};
INSTANTIATE_TEST_SUITE_P(on, watched_descriptors, testing::ValuesIn(test::both_machines()), test::place_name);
class watched_descriptors_of_the_kernel : public test::with_objects {};
INSTANTIATE_TEST_SUITE_P(on, watched_descriptors_of_the_kernel, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(watched_descriptors, end_a_wait_for_reading_in_every_way) {
  ends_in_every_way(test::operation_under_test{[] { return make_watch(); },
                                               [](watched_stream& s) { return s.watch.readable(); },
                                               [](watched_stream& s, auto f) { s.watch.readable(std::move(f)); },
                                               [](watched_stream& s) { s.send_here(); }});
}

TEST_P(watched_descriptors, end_a_wait_for_writing_in_every_way) {
  ends_in_every_way(test::operation_under_test{[&]() -> task<std::unique_ptr<watched_stream>> {
                                                 auto made = make_watch();
                                                 made->fill();
                                                 co_await arrival();
                                                 co_return made;
                                               },
                                               [](watched_stream& s) { return s.watch.writable(); },
                                               [](watched_stream& s, auto f) { s.watch.writable(std::move(f)); },
                                               [](watched_stream& s) { s.empty_there(); }});
}

// The edge is gone by then: what is left has to be asked for.
TEST_P(watched_descriptors, are_readable_as_long_as_their_owner_leaves_something) {
  in_color([&]() -> task<> {
    auto s = make_watch();
    bool sent = false;
    post(here_color, [&] {
      sent = true;
      s->send_here();
    });
    EXPECT_TRUE(co_await s->watch.readable());
    EXPECT_TRUE(sent);
    EXPECT_TRUE(co_await s->watch.readable()) << "nobody has read";
    EXPECT_EQ(s->read_here(1), 1);
    EXPECT_TRUE(co_await s->watch.readable()) << "a part is left";
    EXPECT_EQ(s->read_here(4), 1);
    const auto none = co_await with_timeout(std::chrono::milliseconds{1}, s->watch.readable());
    EXPECT_EQ(none.error(), errc::timed_out);
    s->send_here();
    EXPECT_TRUE(co_await s->watch.readable());
  });
}

TEST_P(watched_descriptors, tell_the_end_and_errors_of_the_peer_as_readiness) {
  in_color([&]() -> task<> {
    auto s = make_watch();
    s->both.second.close();
    EXPECT_TRUE(co_await s->watch.readable());
    EXPECT_EQ(s->read_here(1), 0);
    EXPECT_TRUE(co_await s->watch.writable());
  });
}

TEST_P(watched_descriptors, may_be_an_object_s_and_another_watch_s_too) {
  in_color([&]() -> task<> {
    auto s = make_watch();
    auto other = *descriptor_watch::of(s->both.first.native_handle());
    auto waits = spawn_in(here_color, [&]() -> task<> { EXPECT_TRUE(co_await s->watch.readable()); });
    auto waits_too = spawn_in(here_color, [&]() -> task<> { EXPECT_TRUE(co_await other.readable()); });
    std::array<std::byte, 2> room{};
    auto reads = spawn_in(here_color, [&]() -> task<> { EXPECT_EQ(*co_await s->both.first.read_exactly(room), 2u); });
    co_await yield();
    s->send_here();
    co_await reads.join();
    s->send_here();  // the object may have been faster than the watches
    co_await waits.join();
    co_await waits_too.join();
  });
}

TEST_P(watched_descriptors, stay_open_when_the_watch_is_closed) {
  in_color([&]() -> task<> {
    auto s = make_watch();
    EXPECT_EQ(s->watch.descriptor(), s->both.first.native_handle());
    s->watch.close();
    EXPECT_EQ(s->watch.descriptor(), -1);
    s->send_here();
    co_await arrival();
    std::array<std::byte, 2> room{};
    EXPECT_EQ(*co_await s->both.first.read_exactly(room), 2u);
  });
}

TEST_P(watched_descriptors, that_their_owner_has_closed_say_so_to_the_next_wait) {
  in_color([&]() -> task<> {
    auto s = make_watch();
    result<> pending{errc::busy};
    bool ended = false;
    s->watch.readable([&](result<> got) {
      pending = got;
      ended = true;
    });
    s->both.first.close();
    EXPECT_EQ((co_await s->watch.writable()).error(), std::errc::bad_file_descriptor);
    co_await moment();
    EXPECT_FALSE(ended) << "a wait that has begun goes on";
    s->watch.cancel();
    co_await until([&] { return ended; });
    EXPECT_EQ(pending.error(), errc::canceled);
  });
}

// The number is another file's: neither its readiness nor its end is taken for that of the one that is watched.
TEST_P(watched_descriptors_of_the_kernel, are_not_confused_with_another_file_of_the_same_number) {
  in_color([&]() -> task<> {
    const int owners = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    auto watch = *descriptor_watch::of(owners);
    const int other = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    EXPECT_EQ(::dup3(other, owners, O_CLOEXEC), owners);
    auto theirs = *descriptor_watch::of(owners);
    EXPECT_TRUE(co_await theirs.readable());
    const auto none = co_await with_timeout(std::chrono::milliseconds{1}, watch.readable());
    EXPECT_EQ(none.error(), errc::timed_out);
    watch.close();
    EXPECT_TRUE(co_await theirs.readable()) << "closing one has not ended the other";
    ::close(owners);
    ::close(other);
  });
}

TEST_P(watched_descriptors_of_the_kernel, keep_their_flags) {
  in_color([&]() -> task<> {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    {
      auto watch = *descriptor_watch::of(ends[0]);
      EXPECT_EQ(::write(ends[1], "x", 1), 1);
      EXPECT_TRUE(co_await watch.readable());
      EXPECT_EQ(::fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
    }
    for (const int each : ends) EXPECT_EQ(::close(each), 0);
  });
}

TEST_P(watched_descriptors_of_the_kernel, are_no_files_and_no_descriptors_that_are_closed) {
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(descriptor_watch::of(rt(), file).error(), std::errc::operation_not_permitted);
  EXPECT_EQ(::close(file), 0) << "it is still the caller's";
  EXPECT_EQ(descriptor_watch::of(rt(), -1).error(), std::errc::bad_file_descriptor);
}

TEST(watched_descriptors_of_a_simulation, are_not_the_kernel_s) {
  simulation world;
  options with;
  with.workers = 1;
  with.poller = world.poller();
  runtime rt{with};
  EXPECT_EQ(descriptor_watch::of(rt, 0).error(), std::errc::not_supported);
}

}  // namespace
}  // namespace tartan
