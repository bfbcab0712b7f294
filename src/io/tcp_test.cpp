#include <tartan/io/tcp.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <system_error>
#include <tartan/core/post.h>
#include <tartan/io/local.h>
#include <utility>
#include <vector>

#include "io/connection.h"

namespace tartan {
namespace {

using test::bytes_of;
using test::connection;
using test::here_color;
using test::much;

class tcp_streams : public test::with_objects_on_either {
 protected:
  task<std::unique_ptr<connection>> make() { return connection::make(rt()); }

  /// An operation of a connection's near end.
  template <class Await, class Call, class Feed>
  auto operation(Await await, Call call, Feed feed) {
    return test::operation_under_test{[this] { return make(); }, await, call, feed};
  }
  /// The same that writes, and gets room.
  template <class Await, class Call>
  auto writing(Await await, Call call) {
    return operation(await, call, [](connection& c) { c.drain(); });
  }
  /// The peer has got the head of `all`, and not all of it.
  auto head_of(const std::string& all) {
    return test::part_of_operation{[](connection&) {}, [](connection& c) { return c.some_came(); },
                                   [&all](connection& c) {
                                     c.came += c.far.is_open() ? c.arrived() : std::string{};
                                     EXPECT_LT(c.came.size(), all.size());
                                     EXPECT_TRUE(all.starts_with(c.came));
                                   }};
  }
  /// Every way in which a write of `all` can end.
  template <class Operation>
  void write_ends(Operation op, const std::string& all) {
    ends_after_a_part(op, head_of(all));
    fails_with(op, [](connection& c) { c.reset_by_peer(); }, std::errc::connection_reset, head_of(all));
    ends_in_every_way(op, test::fed::comes_later);
  }
};
INSTANTIATE_TEST_SUITE_P(on, tcp_streams, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(tcp_streams, end_a_read_in_every_way) {
  const auto op = operation([](connection& c) { return c.near.read_some(c.room); },
                            [](connection& c, auto f) { c.near.read_some(c.room, std::move(f)); }, [](connection& c) { c.feed("x"); });
  fails_with(op, [](connection& c) { c.finished_by_peer(); }, errc::end_of_stream);
  fails_with(op, [](connection& c) { c.reset_by_peer(); }, std::errc::connection_reset);
  ends_in_every_way(op);
}

TEST_P(tcp_streams, end_an_exact_read_in_every_way) {
  const auto op = operation([](connection& c) { return c.near.read_exactly(c.room); },
                            [](connection& c, auto f) { c.near.read_exactly(c.room, std::move(f)); },
                            [](connection& c) { c.feed("12345678"); });
  // What was read before an error is in the buffer, but not counted.
  const test::part_of_operation half{[](connection& c) { c.feed("half"); }, [](connection& c) { return c.room[3] == std::byte{'f'}; },
                                     [](connection& c) { EXPECT_EQ(c.read(), std::string_view("half\0\0\0\0", 8)); }};
  ends_after_a_part(op, half);
  fails_with(op, [](connection& c) { c.finished_by_peer(); }, errc::end_of_stream, half);
  fails_with(op, [](connection& c) { c.reset_by_peer(); }, std::errc::connection_reset, half);
  ends_in_every_way(op);
}

TEST_P(tcp_streams, end_a_read_until_a_delimiter_in_every_way) {
  const auto op = operation([](connection& c) { return c.near.read_until(c.text, "\r\n", 20); },
                            [](connection& c, auto f) { c.near.read_until(c.text, "\r\n", 20, std::move(f)); },
                            [](connection& c) { c.feed("\r\n"); });
  const test::part_of_operation half{[](connection& c) { c.feed("half\r"); }, [](connection& c) { return c.text.size() == 5; },
                                     [](connection& c) { EXPECT_EQ(c.text, "half\r"); }};
  ends_after_a_part(op, half);
  fails_with(op, [](connection& c) { c.finished_by_peer(); }, errc::end_of_stream, half);
  fails_with(op, [](connection& c) { c.reset_by_peer(); }, std::errc::connection_reset, half);
  fails_with(op, [](connection& c) { c.feed("0123456789012345678\r\n"); }, std::errc::message_size);
  ends_in_every_way(op);
}

TEST_P(tcp_streams, end_a_write_in_every_way) {
  const std::string all = test::much_text();
  write_ends(writing([&](connection& c) { return c.near.write(all); },
                     [&](connection& c, auto f) { c.near.write(all, std::move(f)); }),
             all);
}

TEST_P(tcp_streams, end_a_gathered_write_in_every_way) {
  const std::string all = test::much_text();
  std::vector<std::span<const std::byte>> parts{{}};
  for (std::size_t at = 0; at < all.size(); at += 10'007) parts.push_back(bytes_of(std::string_view{all}.substr(at, 10'007)));
  write_ends(writing([&](connection& c) { return c.near.write(parts); },
                     [&](connection& c, auto f) { c.near.write(parts, std::move(f)); }),
             all);
}

/// A file of this content.
int file_of(std::string_view content) {
  const int file = ::memfd_create("content", MFD_CLOEXEC);
  EXPECT_GE(file, 0);
  EXPECT_EQ(::write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  return file;
}

TEST_P(tcp_streams, end_a_sent_file_in_every_way) {
  const std::string all = test::much_text();
  const int file = file_of(all);
  write_ends(writing([=](connection& c) { return c.near.send_file(file, 0, much); },
                     [=](connection& c, auto f) { c.near.send_file(file, 0, much, std::move(f)); }),
             all);
  ::close(file);
}

TEST_P(tcp_streams, end_a_sent_file_with_a_head_in_every_way) {
  const std::string all = test::much_text();
  const std::string_view head = std::string_view{all}.substr(0, 300'000);
  const int file = file_of(all);
  const std::size_t rest = much - head.size();
  const auto from = static_cast<std::int64_t>(head.size());
  write_ends(writing([=](connection& c) { return c.near.send_file(file, from, rest, head); },
                     [=](connection& c, auto f) { c.near.send_file(file, from, rest, head, std::move(f)); }),
             all);
  ::close(file);
}

TEST_P(tcp_streams, send_a_file_behind_a_head_and_say_how_much_both_were) {
  const int file = file_of("0123456789");
  in_color([&]() -> task<> {
    const auto c = co_await make();
    EXPECT_EQ(*co_await c->near.send_file(file, 4, 4, "head"), 8u);
    EXPECT_EQ(*co_await c->far.read_exactly(c->room), 8u);
    EXPECT_EQ(c->read(), "head4567");
    EXPECT_EQ(*co_await c->near.send_file(file, 0, 0, "and head"), 8u);  // of no file at all
    EXPECT_EQ(*co_await c->far.read_exactly(c->room), 8u);
    EXPECT_EQ(c->read(), "and head");
    EXPECT_EQ((co_await c->near.send_file(-1, 0, 8, "the head")).error(), std::errc::bad_file_descriptor);
    EXPECT_TRUE(c->near.shutdown_send());
    EXPECT_EQ(*co_await c->far.read_exactly(c->room), 8u);
    EXPECT_EQ(c->read(), "the head");
  });
  ::close(file);
}

TEST_P(tcp_streams, fail_to_write_when_they_have_finished_sending) {
  in_color([&]() -> task<> {
    const auto c = co_await make();
    EXPECT_TRUE(c->near.shutdown_send());
    EXPECT_EQ((co_await c->near.write("x")).error(), std::errc::broken_pipe);
    const int file = file_of("x");
    EXPECT_EQ((co_await c->near.send_file(file, 0, 1)).error(), std::errc::broken_pipe);
    ::close(file);
    EXPECT_EQ((co_await c->far.read_some(c->room)).error(), errc::end_of_stream);
  });
}

TEST_P(tcp_streams, carry_every_byte_in_order) {
  const std::string all = test::much_text();
  const int file = file_of(all);
  std::string came(3 * much, '\0');
  in_color([&]() -> task<> {
    const auto c = co_await make();
    auto reader = spawn_in(here_color, [&]() -> task<> {
      EXPECT_EQ(*co_await c->far.read_exactly(std::as_writable_bytes(std::span{came})), came.size());
      EXPECT_EQ((co_await c->far.read_some(c->room)).error(), errc::end_of_stream);
    });
    const std::array parts{bytes_of(std::string_view{all}.substr(0, 1)), bytes_of(std::string_view{all}.substr(1))};
    int order = 0;
    // In the order in which they were begun.
    c->near.write(all, [&](result<std::size_t> wrote) {
      EXPECT_EQ(*wrote, much);
      EXPECT_EQ(order++, 0);
    });
    c->near.write(parts, [&](result<std::size_t> wrote) {
      EXPECT_EQ(*wrote, much);
      EXPECT_EQ(order++, 1);
    });
    EXPECT_EQ(*co_await c->near.send_file(file, 0, much), much);
    EXPECT_EQ(order, 2);
    EXPECT_TRUE(c->near.shutdown_send());
    co_await reader.join();
  });
  EXPECT_TRUE(came == all + all + all);
  ::close(file);
}

TEST_P(tcp_streams, send_a_piece_of_a_file_and_say_if_it_is_shorter) {
  const int file = file_of("0123456789");
  in_color([&]() -> task<> {
    const auto c = co_await make();
    EXPECT_EQ(*co_await c->near.send_file(file, 1, 8), 8u);
    EXPECT_EQ(*co_await c->far.read_exactly(c->room), 8u);
    EXPECT_EQ(c->read(), "12345678");
    EXPECT_EQ((co_await c->near.send_file(file, 5, 8)).error(), errc::end_of_stream);
    EXPECT_EQ(*co_await c->far.read_exactly(std::span{c->room}.first(5)), 5u);  // what there was has been sent
    EXPECT_EQ((co_await c->near.send_file(-1, 0, 8)).error(), std::errc::bad_file_descriptor);
  });
  ::close(file);
}

TEST_P(tcp_streams, read_on_when_they_have_finished_sending) {
  in_color([&]() -> task<> {
    const auto c = co_await make();
    EXPECT_TRUE(c->near.shutdown_send());
    EXPECT_EQ((co_await c->far.read_some(c->room)).error(), errc::end_of_stream);
    EXPECT_EQ((co_await c->far.read_some(c->room)).error(), errc::end_of_stream) << "again";
    EXPECT_TRUE(co_await c->far.write("12345678"));
    c->far.close();
    EXPECT_EQ(*co_await c->near.read_exactly(c->room), 8u);
    EXPECT_EQ((co_await c->near.read_some(c->room)).error(), errc::end_of_stream);
    c->near.close();
    EXPECT_EQ(c->near.shutdown_send().error(), errc::closed);
  });
}

TEST_P(tcp_streams, know_their_addresses_and_options) {
  in_color([&]() -> task<> {
    const auto c = co_await make();
    EXPECT_EQ(*c->near.peer_address(), *c->far.local_address());
    EXPECT_EQ(*c->far.peer_address(), *c->near.local_address());
    EXPECT_NE(c->near.local_address()->port(), 0);
    EXPECT_EQ(*c->near.option(IPPROTO_TCP, TCP_NODELAY), 1) << "nobody turned it off";
    EXPECT_TRUE(c->near.set_no_delay(false));
    EXPECT_EQ(*c->near.option(IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_EQ(*c->far.option(IPPROTO_TCP, TCP_NODELAY), 1) << "as the listener's";
    EXPECT_EQ(*c->near.option(SOL_SOCKET, SO_TYPE), SOCK_STREAM);
    c->near.close();
    EXPECT_EQ(c->near.local_address().error(), errc::closed);
    EXPECT_EQ(c->near.peer_address().error(), errc::closed);
    EXPECT_EQ(c->near.set_no_delay(true).error(), errc::closed);
    EXPECT_EQ(c->near.option(SOL_SOCKET, SO_TYPE).error(), errc::closed);
    EXPECT_EQ(c->near.native_handle(), -1);
  });
}

TEST_P(tcp_streams, are_closed_if_nobody_takes_what_was_begun) {
  in_color([&]() -> task<> {
    auto door = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
    std::optional<detail::begun_connection> begun{detail::begin_connection(
        detail::transport::tcp, *door.local_address(), address{}, std::source_location::current())};
    EXPECT_FALSE(begun->error());
    auto far = co_await door.accept(here_color);
    begun.reset();  // as when there is no memory for the callback
    std::array<std::byte, 1> room{};
    EXPECT_EQ((co_await far->read_some(room)).error(), errc::end_of_stream);
  });
}

TEST_P(tcp_streams, keep_their_color_when_they_are_closed) {
  in_color([&]() -> task<> {
    const auto c = co_await make();
    c->near.close();
    co_await moment();
    std::vector<std::pair<local::stream, local::stream>> others;  // one of them gets what the closed one had
    for (std::uint64_t n = 100; n < 110; ++n) others.push_back(*local::pair(rt(), color{n}, color{n}));
    EXPECT_EQ(c->near.color(), here_color);
    EXPECT_EQ(tcp::stream{}.color(), color{});
  });
}

class tcp_streams_of_the_kernel : public test::with_objects {};
INSTANTIATE_TEST_SUITE_P(on, tcp_streams_of_the_kernel, testing::ValuesIn(test::worker_counts()), test::worker_name);

/// The C library's tcp_info ends before this number, and its header cannot be had beside linux/tcp.h.
std::uint32_t packets_with_data_from(int socket) {
  constexpr std::size_t data_segs_out = 156;  // where it is in the kernel's
  std::array<char, data_segs_out + sizeof(std::uint32_t)> info{};
  socklen_t size = info.size();
  EXPECT_EQ(::getsockopt(socket, IPPROTO_TCP, TCP_INFO, info.data(), &size), 0);
  EXPECT_EQ(size, info.size());
  std::uint32_t sent = 0;
  std::memcpy(&sent, &info[data_segs_out], sizeof sent);
  return sent;
}

TEST_P(tcp_streams_of_the_kernel, send_a_head_and_a_file_in_one_packet) {
  const std::string content(9'000, 'x');  // the loopback device takes 64 KB
  const int file = file_of(content);
  std::string room(9'004, ' ');
  in_color([&]() -> task<> {
    const auto c = co_await connection::make(rt());
    EXPECT_EQ(*co_await c->near.send_file(file, 0, 9'000, "head"), 9'004u);
    EXPECT_EQ(*co_await c->far.read_exactly(std::as_writable_bytes(std::span{room})), 9'004u);
    EXPECT_EQ(packets_with_data_from(c->near.native_handle()), 1u);
    EXPECT_EQ(*co_await c->near.send_file(file, 0, 0, "alone"), 5u);
    EXPECT_EQ(packets_with_data_from(c->near.native_handle()), 2u) << "there is nothing that it could wait for";
  });
  EXPECT_TRUE(room == "head" + content);
  ::close(file);
}

TEST_P(tcp_streams, are_given_away_and_taken_over) {
  in_color([&]() -> task<> {
    const auto c = co_await make();
    bool ended = false;
    c->near.read_some(c->room, [&](result<std::size_t> got) {
      EXPECT_EQ(got.error(), errc::closed);
      ended = true;
    });
    EXPECT_TRUE(c->near.set_no_delay(false));
    const int descriptor = c->near.release();
    EXPECT_GE(descriptor, 0);
    EXPECT_FALSE(c->near.is_open());
    EXPECT_EQ(c->near.release(), -1);
    EXPECT_EQ((co_await c->near.read_some(c->room)).error(), errc::closed);
    co_await moment();
    EXPECT_TRUE(ended);
    auto again = tcp::stream::from_fd(descriptor, here_color);
    EXPECT_TRUE(again) << again.error().message();
    EXPECT_EQ(*again->option(IPPROTO_TCP, TCP_NODELAY), 0) << "as it was";
    EXPECT_TRUE(co_await c->far.write("12345678"));
    EXPECT_EQ(*co_await again->read_exactly(c->room), 8u);
    EXPECT_EQ(tcp::stream::from_fd(-1, here_color).error(), std::errc::bad_file_descriptor);
  });
}

TEST_P(tcp_streams, come_from_the_address_that_they_are_given) {
  in_color([&]() -> task<> {
    auto door = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
    const address to = *door.local_address();
    const tcp::connect_options from_two{.local_address = *address::parse("127.0.0.2:0")};
    auto near = co_await tcp::connect(to, from_two);
    EXPECT_TRUE(near) << near.error().message();
    auto far = co_await door.accept(here_color);
    const address from = *near->local_address();
    EXPECT_EQ(from.with_port(0), from_two.local_address);
    EXPECT_NE(from.port(), 0);
    EXPECT_EQ(*far->peer_address(), from);
    auto door_of_ipv6 = tcp::listen(rt(), "[::1]:0", {.color = here_color});
    const tcp::connect_options from_ipv6{.local_address = *address::parse("[::1]:0")};
    EXPECT_TRUE(co_await tcp::connect(*door_of_ipv6.local_address(), from_ipv6));
    // With a port that is still in TIME_WAIT, and with callbacks.
    near->close();
    far->close();
    auto other_door = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
    const tcp::connect_options same_port{.local_address = from};
    const auto again = co_await tcp::connect(*other_door.local_address(), same_port);
    EXPECT_TRUE(again) << again.error().message();
    bool called = false;
    const tcp::connect_options from_there{.local_address = *address::parse("127.0.0.3:0")};
    tcp::connect(to, from_there, std::chrono::seconds{5}, [&](result<tcp::stream> made) {
      EXPECT_EQ(made->local_address()->with_port(0), from_there.local_address);
      called = true;
    });
    co_await until([&] { return called; });
    called = false;
    tcp::connect(to, from_two, [&](result<tcp::stream> made) {
      EXPECT_EQ(made->local_address()->with_port(0), from_two.local_address);
      called = true;
    });
    co_await until([&] { return called; });
  });
}

TEST_P(tcp_streams, say_why_they_cannot_come_from_there) {
  in_color([&]() -> task<> {
    auto door = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
    const address to = *door.local_address();
    const tcp::connect_options other_family{.local_address = *address::parse("[::1]:0")};
    EXPECT_EQ((co_await tcp::connect(to, other_family)).error(), std::errc::address_family_not_supported);
    const tcp::connect_options taken{.local_address = to};
    EXPECT_EQ((co_await tcp::connect(to, taken)).error(), std::errc::address_in_use);
    if (simulated()) co_return;  // which has every address
    const tcp::connect_options elsewhere{.local_address = *address::parse("192.0.2.1:0")};
    EXPECT_EQ((co_await tcp::connect(to, elsewhere)).error(), std::errc::address_not_available);
  });
}

}  // namespace
}  // namespace tartan
