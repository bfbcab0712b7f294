// Streams of all kinds behind one type, and what the concept asks of them.

#include <tartan/io/any_stream.h>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tartan/core/when_all.h>
#include <tartan/io/local.h>
#include <tartan/io/stream.h>
#include <tartan/io/tcp.h>
#include <tartan/time/with_timeout.h>
#include <utility>

#include "io/connection.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using test::connection;
using test::here_color;

static_assert(stream_of_bytes<tcp::stream>);
static_assert(stream_of_bytes<local::stream>);
static_assert(stream_of_bytes<any_stream>);
static_assert(!stream_of_bytes<tcp::listener>);
static_assert(!stream_of_bytes<std::string>);

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span{text});
}

/// As a protocol that knows one end only.
template <stream_of_bytes S>
task<std::string> ask(S& peer, std::string question) {
  const result<std::size_t> sent = co_await peer.write(question);
  EXPECT_EQ(sent.value(), question.size());
  const result<> ended = co_await peer.shutdown_send();
  EXPECT_TRUE(ended);
  std::string answer;
  std::array<std::byte, 7> room;
  for (;;) {
    const result<std::size_t> got = co_await peer.read_some(room);
    if (!got) {
      EXPECT_EQ(got.error(), errc::end_of_stream);
      co_return answer;
    }
    answer.append(reinterpret_cast<const char*>(room.data()), *got);
  }
}

template <stream_of_bytes S>
task<> echo_lines(S& peer) {
  buf::chain lines;
  for (;;) {
    const result<buf::line> line = co_await peer.read_line(lines, 100);
    if (!line) break;
    const std::string text{lines.take_line(100).value().text()};
    const std::array parts{bytes(text), bytes("\n")};
    const result<std::size_t> sent = co_await peer.write(parts);
    EXPECT_EQ(sent.value(), text.size() + 1);
  }
  const result<> ended = co_await peer.shutdown_send();
  EXPECT_TRUE(ended);
}

class streams_of_any_kind : public test::with_objects_on_either {
 protected:
  /// Calls f(asks, answers) for TCP and for Unix sockets.
  template <class F>
  void for_each_kind(F f) {
    in_color([&]() -> task<> {
      auto tcp_ends = co_await connection::make(rt());
      co_await f(tcp_ends->near, tcp_ends->far);
      auto local_ends = local::pair();
      EXPECT_TRUE(local_ends);
      co_await f(local_ends->first, local_ends->second);
    });
  }
  /// The same as any_stream.
  template <class F>
  void for_any_kind(F f) {
    for_each_kind([&](auto& near, auto& far) -> task<> {
      any_stream asks{std::move(near)};
      any_stream answers{std::move(far)};
      co_await f(asks, answers);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(on, streams_of_any_kind, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(streams_of_any_kind, serve_one_template) {
  const auto talk = [](auto& asks, auto& answers) -> task<> {
    const auto both = co_await when_all(ask(asks, "one\ntwo\n"), echo_lines(answers));
    EXPECT_EQ(std::get<0>(both), "one\ntwo\n");
  };
  for_each_kind(talk);
  for_any_kind(talk);
}

TEST_P(streams_of_any_kind, read_exactly_and_until_as_their_own_kind_does) {
  for_any_kind([](any_stream& near, any_stream& far) -> task<> {
    EXPECT_TRUE(co_await near.write("12345678--rest"));
    std::array<std::byte, 8> room;
    EXPECT_EQ((co_await far.read_exactly(room)).value(), 8u);
    std::string text;
    EXPECT_EQ((co_await far.read_until(text, "--", 1)).error(), std::errc::message_size);
    EXPECT_EQ((co_await far.read_until(text, "--", 50)).value(), 2u);
    EXPECT_TRUE(co_await near.write("behind it;"));
    buf::chain more;
    EXPECT_EQ((co_await far.read_until(more, ";", 5)).error(), std::errc::message_size);
    const result<std::size_t> at = co_await far.read_until(more, ";", 100);
    EXPECT_EQ(more.to_string().substr(0, at.value()).back(), ';');
  });
}

TEST_P(streams_of_any_kind, try_without_waiting) {
  for_any_kind([this](any_stream& near, any_stream& far) -> task<> {
    std::array<std::byte, 8> room;
    EXPECT_EQ(near.try_read_some(room).error(), std::errc::operation_would_block);
    EXPECT_TRUE(co_await far.writable());
    EXPECT_EQ(far.try_write("some").value() != 0, true);
    EXPECT_TRUE(co_await near.readable());
    EXPECT_TRUE(near.try_read_some(room));
    co_await arrival();
  });
}

TEST_P(streams_of_any_kind, end_what_waits_when_they_are_canceled_closed_or_late) {
  for_any_kind([](any_stream& near, any_stream& far) -> task<> {
    std::array<std::byte, 8> room;
    const auto read = [&]() -> task<std::error_code> { co_return (co_await near.read_some(room)).error(); };
    EXPECT_EQ((co_await with_timeout(1ms, near.read_some(room))).error(), errc::timed_out);
    const auto cancel = [&]() -> task<> {
      near.cancel();
      co_return;
    };
    const auto close = [&]() -> task<> {
      near.close();
      co_return;
    };
    EXPECT_EQ(std::get<0>(co_await when_all(read(), cancel())), errc::canceled);
    EXPECT_TRUE(near.is_open());
    EXPECT_EQ(std::get<0>(co_await when_all(read(), close())), errc::closed);
    EXPECT_FALSE(near.is_open());
    EXPECT_EQ((co_await far.read_some(room)).error(), errc::end_of_stream);
  });
}

TEST_P(streams_of_any_kind, move_and_know_what_they_are) {
  in_color([&]() -> task<> {
    auto ends = co_await connection::make(rt());
    const int descriptor = ends->near.native_handle();
    any_stream first{std::move(ends->near)};
    EXPECT_EQ(first.color(), here_color);
    any_stream second{std::move(first)};
    EXPECT_FALSE(first.is_open()) << "what was moved from is closed";
    EXPECT_EQ(second.as<local::stream>(), nullptr);
    tcp::stream* const under = second.as<tcp::stream>();
    EXPECT_TRUE(under != nullptr && under->native_handle() == descriptor);
    second = {};
    std::array<std::byte, 1> room;
    EXPECT_EQ((co_await ends->far.read_some(room)).error(), errc::end_of_stream) << "what is replaced is closed";
  });
}

TEST_P(streams_of_any_kind, may_move_while_a_coroutine_reads_from_them) {
  for_any_kind([](any_stream& near, any_stream& far) -> task<> {
    std::array<std::byte, 8> room;
    any_stream moved;
    const auto read = [&]() -> task<result<std::size_t>> { co_return co_await near.read_exactly(room); };
    const auto move_and_write = [&]() -> task<> {
      EXPECT_TRUE(co_await far.write("1234"));
      moved = std::move(near);
      EXPECT_TRUE(co_await far.write("5678"));
    };
    const auto both = co_await when_all(read(), move_and_write());
    EXPECT_EQ(std::get<0>(both).value(), 8u);
  });
}

TEST_P(streams_of_any_kind, may_be_destroyed_while_a_coroutine_reads_from_them) {
  for_any_kind([](any_stream& near, any_stream& far) -> task<> {
    std::array<std::byte, 8> room;
    const auto read = [&]() -> task<result<std::size_t>> { co_return co_await near.read_exactly(room); };
    const auto write_and_destroy = [&]() -> task<> {
      EXPECT_TRUE(co_await far.write("1234"));
      near = {};
    };
    const auto both = co_await when_all(read(), write_and_destroy());
    EXPECT_EQ(std::get<0>(both).error(), errc::closed);
  });
}

TEST_P(streams_of_any_kind, that_hold_none_are_closed) {
  in_color([]() -> task<> {
    any_stream none;
    std::array<std::byte, 8> room;
    std::string text;
    buf::chain chain;
    EXPECT_FALSE(none.is_open());
    EXPECT_EQ(none.color(), color{});
    none.cancel();
    none.close();
    EXPECT_EQ((co_await none.read_some(room)).error(), errc::closed);
    EXPECT_EQ((co_await none.read_exactly(room)).error(), errc::closed);
    EXPECT_EQ((co_await none.read_until(text, "x", 5)).error(), errc::closed);
    EXPECT_EQ((co_await none.read_line(chain, 5)).error(), errc::closed);
    EXPECT_EQ((co_await none.write("x")).error(), errc::closed);
    EXPECT_EQ((co_await none.readable()).error(), errc::closed);
    EXPECT_EQ((co_await none.writable()).error(), errc::closed);
    EXPECT_EQ((co_await none.shutdown_send()).error(), errc::closed);
    EXPECT_EQ(none.try_read_some(room).error(), errc::closed);
    EXPECT_EQ(none.try_write("x").error(), errc::closed);
    EXPECT_EQ(none.as<tcp::stream>(), nullptr);
  });
}

}  // namespace
}  // namespace tartan
