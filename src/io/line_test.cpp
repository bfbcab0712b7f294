// What an operation finds that comes late: news that lies there, the end of the stream behind the last bytes, somebody who goes on.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <system_error>
#include <tartan/buf/chain.h>
#include <tartan/core/yield.h>
#include <tartan/io/tcp.h>
#include <tartan/time/with_timeout.h>
#include <utility>

#include "io/connection.h"
#include "io/slot.h"

namespace tartan {
namespace {

using test::door;
using test::here_color;
using test::stream_pair;

/// Sees which slot an object has.
struct slot_of : tcp::stream {
  static detail::io_slot* in(const tcp::stream& s) { return (s.*&slot_of::key)().slot; }
};

class waiting_in_line : public test::with_objects_on_either {
 protected:
  /// A listener that takes one connection in an event.
  [[nodiscard]] door narrow_door() { return {tcp::listen(rt(), "127.0.0.1:0", {.batch = 1, .color = here_color})}; }

  std::array<std::byte, 8> room_{};
};
INSTANTIATE_TEST_SUITE_P(on, waiting_in_line, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(waiting_in_line, reads_the_end_that_came_together_with_the_last_bytes) {
  world_with.partial_percent = 0;
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    auto reading = spawn_in(here_color, [&]() -> task<> {
      EXPECT_EQ(*co_await ends->near.read_some(room_), 2u);
      EXPECT_EQ((co_await ends->near.read_some(room_)).error(), errc::end_of_stream);
    });
    co_await yield();
    ends->feed("ab");
    EXPECT_TRUE(ends->far.shutdown_send());
    co_await reading.join();
  });
}

TEST_P(waiting_in_line, reads_on_after_news_that_came_when_nobody_waited) {
  world_with.partial_percent = 0;
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    ends->feed("x");
    co_await moment();
    EXPECT_EQ(*co_await ends->near.read_some(room_), 1u);  // and knows that there is no more
    ends->feed("0123456789abcdef");
    co_await moment();
    EXPECT_EQ(*co_await ends->near.read_some(room_), 8u);
    EXPECT_EQ(*co_await ends->near.read_some(room_), 8u);
  });
}

TEST_P(waiting_in_line, goes_on_with_much_that_came_when_nobody_waited) {
  constexpr std::size_t much = 3 << 20;
  world_with.partial_percent = 0;
  world_with.stream_buffer = 4 << 20;
  std::string all(much, '\0');
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    ends->feed("x");
    co_await moment();
    EXPECT_EQ(*co_await ends->near.read_some(room_), 1u);
    const std::string sent = test::much_text(much);
    ends->far.write(sent, [](const result<std::size_t>& wrote) { EXPECT_TRUE(wrote); });
    co_await moment();
    EXPECT_EQ(*co_await ends->near.read_exactly(std::as_writable_bytes(std::span{all})), much);
    EXPECT_TRUE(all == sent);
  });
}

TEST_P(waiting_in_line, takes_connections_in_order_also_where_a_batch_ends) {
  in_color([&]() -> task<> {
    door d = narrow_door();
    std::deque<tcp::stream> coming;
    for (int n = 0; n < 3; ++n) {
      auto made = co_await tcp::connect(*d.at.local_address());
      EXPECT_TRUE(made);
      coming.push_back(std::move(*made));
    }
    test::await_events(*d.system, d.at.native_handle(), POLLIN);
    co_await moment();
    std::vector<int> order;
    for (int n = 0; n < 3; ++n) d.at.accept(here_color, [&order, n](const result<tcp::stream>&) { order.push_back(n); });
    co_await until([&] { return order.size() == 3; });
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  });
}

// The first read is done while the request to end it is on its way: then that is what it goes on in, and the second may not overtake it.
TEST_P(waiting_in_line, goes_on_in_order_also_where_it_is_asked_to_end_when_it_is_done) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    std::string order;
    std::string text;
    const auto read_line = [&](char name) -> task<> {
      EXPECT_TRUE(co_await ends->near.read_until(text, "\n", 8));
      order += name;
    };
    auto first = spawn_in(here_color, read_line, 'a');
    co_await yield();
    text = "\n";  // as if it had come: on each machine at once
    slot_of::in(ends->near)->retry(detail::flow::in);
    auto second = spawn_in(here_color, read_line, 'b');
    first.cancel();
    co_await first.join();
    co_await second.join();
    EXPECT_EQ(order, "ab");
  });
}

// Nothing comes any more, neither bytes nor the end: whoever is not looked at now waits for ever.
TEST_P(waiting_in_line, looks_at_what_is_there_already_when_the_one_in_front_is_canceled_or_timed_out) {
  for (const bool canceled : {true, false}) {
    in_color([&]() -> task<> {
      const auto ends = stream_pair::make();
      ends->feed("x");
      co_await moment();
      EXPECT_EQ(*co_await ends->near.read_some(room_), 1u);  // and knows that there is no more
      auto front = spawn_in(here_color, [&]() -> task<> {
        const auto limit = canceled ? std::chrono::milliseconds{3'600'000} : std::chrono::milliseconds{1};
        EXPECT_EQ((co_await with_timeout(limit, ends->near.read_some(room_))).error(), canceled ? errc::canceled : errc::timed_out);
      });
      std::string text = "line\n";
      buf::chain lines;
      lines.append("one\ntwo\n");
      std::string order;
      const auto done = [&order](char name) {
        return [&order, name](const auto& got) {
          EXPECT_TRUE(got) << got.error().message();
          order += name;
        };
      };
      co_await yield();
      ends->near.read_until(text, "\n", 8, done('a'));
      ends->near.read_line(lines, 8, done('b'));
      ends->near.read_until(lines, "two", 8, done('c'));
      co_await yield();
      EXPECT_EQ(order, "") << "they wait behind it";
      if (canceled) front.cancel();
      co_await front.join();
      for (int n = 0; n < 10 && order.size() < 3; ++n) co_await yield();
      EXPECT_EQ(order, "abc");
      ends->near.cancel();
      co_await until([&] { return order.size() == 3; });
    });
  }
}

TEST_P(waiting_in_line, is_over_when_a_stop_closes_the_listener_whether_somebody_waits_or_not) {
  tcp::listener idle = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
  tcp::listener asked = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
  std::error_code told;
  rt().post(here_color, [&] {
    asked.accept([&](const result<tcp::stream>& got) { told = got.error(); });
    rt().stop();
  });
  EXPECT_EQ(rt().run(), 0);
  EXPECT_EQ(told, errc::canceled);
  EXPECT_FALSE(idle.is_open());
  EXPECT_FALSE(asked.is_open());
}

TEST_P(waiting_in_line, takes_a_connection_that_a_batch_has_left_behind) {
  in_color([&]() -> task<> {
    door d = narrow_door();
    auto first = spawn_in(here_color, [&]() -> task<> { EXPECT_TRUE(co_await d.at.accept(here_color)); });
    co_await yield();
    std::deque<tcp::stream> coming;
    for (int n = 0; n < 3; ++n) tcp::connect(*d.at.local_address(), [&](result<tcp::stream> made) { coming.push_back(std::move(*made)); });
    co_await until([&] { return coming.size() == 3; });
    co_await first.join();
    EXPECT_TRUE(co_await d.at.accept(here_color));
    EXPECT_TRUE(co_await d.at.accept(here_color));
  });
}

}  // namespace
}  // namespace tartan
