// Calls over datagrams: sent again, and run once.

#include <gtest/gtest.h>

#include <string>
#include <tartan/core/yield.h>
#include <tartan/time/sleep.h>
#include <vector>

#include "rpc/message.h"
#include "rpc/rpc_fixture.h"

namespace tartan::rpc {
namespace {

using test::kiosk_v1;

/// A client over datagrams, and a peer that the test writes by hand. Simulated: the times are exact.
class rpc_datagrams : public tartan::test::on_machine, public testing::WithParamInterface<tartan::test::place> {
 protected:
  [[nodiscard]] tartan::test::place where() const override { return GetParam(); }

  struct peer {
    udp::socket on;

    [[nodiscard]] address at() const { return on.local_address().value(); }
    /// The next call's xid, and its sender.
    task<std::pair<std::uint32_t, address>> hear() {
      std::array<std::byte, 2000> room;
      const auto got = co_await on.receive_from(room);
      const buf::slice all = buf::slice::copy_of(std::span{room}.first(got->bytes));
      const message_head head = read_head({&all, 1});
      co_return {std::get<call_header>(head.what).xid, got->from};
    }
    task<> answer(std::uint32_t xid, address to) {
      buf::chain message;
      write(message, reply_header{.xid = xid});
      const std::string flat = message.to_string();
      EXPECT_TRUE(co_await on.send_to(flat, to));
    }
  };

  peer a_peer() { return {udp::bind(rt(), "127.0.0.1:0", {.color = tartan::test::here_color})}; }
  connection client(rpc::settings with = {}) {
    return connection{udp::bind(rt(), "127.0.0.1:0", {.color = tartan::test::here_color}), std::move(with)};
  }
  static call_options to(address at) {
    call_options with;
    with.to = at;
    return with;
  }
  [[nodiscard]] std::chrono::milliseconds since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(rt().now() - begin);
  }
};
INSTANTIATE_TEST_SUITE_P(on, rpc_datagrams,
                         testing::ValuesIn(tartan::test::places_on(tartan::test::machine::simulated)),
                         tartan::test::place_name);

TEST_P(rpc_datagrams, are_sent_five_times_each_after_twice_as_long) {
  in_color([&]() -> task<> {
    peer silent = a_peer();
    const connection c = client();
    const auto begin = rt().now();
    std::vector<std::int64_t> heard;
    auto listening = spawn_in(tartan::test::here_color, [&]() -> task<> {
      for (int n = 0; n < 5; ++n) {
        static_cast<void>(co_await silent.hear());
        heard.push_back((since(begin).count() + 10) / 1000);
      }
    });
    const auto got = co_await c.call_with<kiosk_v1::null>(to(silent.at()));
    EXPECT_EQ(got.error(), tartan::errc::timed_out);
    EXPECT_EQ(since(begin).count() / 1000, 62);
    co_await listening.join();
    EXPECT_EQ(heard, (std::vector<std::int64_t>{0, 2, 6, 14, 30}));
  });
}

TEST_P(rpc_datagrams, are_sent_again_with_the_same_number_until_a_reply_comes) {
  in_color([&]() -> task<> {
    peer slow = a_peer();
    const connection c = client();
    auto answering = spawn_in(tartan::test::here_color, [&]() -> task<> {
      const auto first = co_await slow.hear();
      const auto second = co_await slow.hear();
      EXPECT_EQ(first.first, second.first);
      co_await slow.answer(second.first, second.second);
      co_await slow.answer(second.first, second.second);  // too many
    });
    EXPECT_TRUE(co_await c.call_with<kiosk_v1::null>(to(slow.at())));
    co_await answering.join();
  });
}

TEST_P(rpc_datagrams, believe_no_reply_from_elsewhere) {
  in_color([&]() -> task<> {
    peer asked = a_peer();
    peer forger = a_peer();
    const connection c = client();
    auto answering = spawn_in(tartan::test::here_color, [&]() -> task<> {
      const auto call = co_await asked.hear();
      co_await forger.answer(call.first, call.second);
    });
    call_options soon = to(asked.at());
    soon.timeout = std::chrono::seconds{1};
    const auto got = co_await c.call_with<kiosk_v1::null>(std::move(soon));
    EXPECT_EQ(got.error(), tartan::errc::timed_out);
    co_await answering.join();
  });
}

TEST_P(rpc_datagrams, run_a_repeated_call_once) {
  in_color([&]() -> task<> {
    test::kiosk served;
    auto all = std::make_shared<programs>();
    all->add<kiosk_v1>(served);
    udp::socket on = udp::bind(rt(), "127.0.0.1:0", {.color = tartan::test::here_color});
    const address at = on.local_address().value();
    const connection server{std::move(on), {}, all};
    peer by_hand = a_peer();
    buf::chain message;
    write(message, call_header{.xid = 7, .program = 400123, .version = 1, .procedure = 3});
    EXPECT_TRUE(xdr::encode(message, xdr::text<16>{"x"}));
    const std::string flat = message.to_string();
    EXPECT_TRUE(co_await by_hand.on.send_to(flat, at));
    EXPECT_TRUE(co_await by_hand.on.send_to(flat, at));
    co_await until([&] { return served.waiting.size() == 1; });
    for (int n = 0; n < 10; ++n) co_await moment();
    EXPECT_EQ(served.calls, 1) << "the second one came while the first was in progress";
    served.waiting[0].second("answer");
    std::array<std::byte, 200> room;
    const auto first = co_await by_hand.on.receive_from(room);
    EXPECT_TRUE(co_await by_hand.on.send_to(flat, at));
    const auto again = co_await by_hand.on.receive_from(room);
    EXPECT_EQ(again->bytes, first->bytes) << "answered as before";
    EXPECT_EQ(served.calls, 1);
    served.waiting.clear();
  });
}

TEST_P(rpc_datagrams, run_a_call_again_that_was_not_answered) {
  in_color([&]() -> task<> {
    test::kiosk served;
    auto all = std::make_shared<programs>();
    all->add<kiosk_v1>(served);
    udp::socket on = udp::bind(rt(), "127.0.0.1:0", {.color = tartan::test::here_color});
    const address at = on.local_address().value();
    const connection server{std::move(on), {}, all};
    peer by_hand = a_peer();
    buf::chain message;
    write(message, call_header{.xid = 7, .program = 400123, .version = 1, .procedure = 3});
    EXPECT_TRUE(xdr::encode(message, xdr::text<16>{"x"}));
    const std::string flat = message.to_string();
    std::array<std::byte, 200> room;
    for (int n = 1; n <= 2; ++n) {
      EXPECT_TRUE(co_await by_hand.on.send_to(flat, at));
      co_await until([&] { return served.waiting.size() == 1; });
      served.waiting.clear();  // SYSTEM_ERR: not remembered
      EXPECT_TRUE(co_await by_hand.on.receive_from(room));
      EXPECT_EQ(served.calls, n);
    }
  });
}

TEST_P(rpc_datagrams, ignore_what_is_no_message) {
  in_color([&]() -> task<> {
    test::kiosk served;
    auto all = std::make_shared<programs>();
    all->add<kiosk_v1>(served);
    udp::socket on = udp::bind(rt(), "127.0.0.1:0", {.color = tartan::test::here_color});
    const address at = on.local_address().value();
    const connection server{std::move(on), {}, all};
    peer by_hand = a_peer();
    EXPECT_TRUE(co_await by_hand.on.send_to("no message", at));
    EXPECT_TRUE(co_await by_hand.on.send_to("", at));
    const connection c = client();
    EXPECT_TRUE(co_await c.call_with<kiosk_v1::null>(to(at)));
  });
}

}  // namespace
}  // namespace tartan::rpc
