// Peers that do not behave, and ends in the middle.

#include <gtest/gtest.h>

#include <string>
#include <tartan/core/yield.h>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>
#include <vector>

#include "rpc/message.h"
#include "rpc/record_reader.h"
#include "rpc/rpc_fixture.h"

namespace tartan::rpc {
namespace {

using test::here_color;
using test::kiosk_v1;

class rpc_peers : public test::with_connection {
 protected:
  /// Runs f(the bytes' end, the connection's other end), which serves `all`.
  void play_bytes(std::shared_ptr<const programs> all, std::function<task<>(local::stream&, connection&)> f) {
    in_color([this, all, f]() -> task<> {
      auto ends = local::pair(rt(), here_color, here_color);
      connection server{any_stream{std::move(ends->second)}, with, all};
      co_await f(ends->first, server);
      served.waiting.clear();
    });
  }
  static std::string call_record(std::uint32_t xid, std::uint32_t procedure, const std::string& arguments = "") {
    buf::chain message;
    write(message, call_header{.xid = xid, .program = 400123, .version = 1, .procedure = procedure});
    buf::chain record;
    write_mark(record, message.size() + arguments.size());
    record.append(std::move(message));
    record.append(arguments);
    return record.to_string();
  }
};
INSTANTIATE_TEST_SUITE_P(on, rpc_peers, testing::ValuesIn(tartan::test::both_machines()), tartan::test::place_name);

/// Those that wait for a time to pass: the clock jumps.
class rpc_waiting_peers : public rpc_peers {};
INSTANTIATE_TEST_SUITE_P(on, rpc_waiting_peers,
                         testing::ValuesIn(tartan::test::places_on(tartan::test::machine::simulated)),
                         tartan::test::place_name);

/// A program whose procedure is a coroutine that looks at everything it was given after it has waited.
struct looking {
  static constexpr std::uint32_t program = 400300;
  static constexpr std::uint32_t version = 1;
  struct looking_up {
    using of = looking;
    using argument = xdr::text<>;
    using result = xdr::text<>;
    static constexpr std::uint32_t number = 1;
  };
  template <class Handler>
  static void dispatch(Handler& h, call&& c) {
    run<looking_up>(std::move(c),
                    [&h](xdr::text<>&& what, const call_info& info) { return h.look(std::move(what), info); });
  }
  static task<xdr::text<>> look_at(const xdr::text<>& what, const call_info& info) {
    co_await tartan::yield();
    co_await tartan::yield();
    co_return what + " of " + std::to_string(info.credentials.body.size());
  }
  task<xdr::text<>> look(const xdr::text<>& what, const call_info& info) { return look_at(what, info); }
};

TEST_P(rpc_peers, lend_a_coroutine_its_arguments_until_it_ends) {
  looking served_here;
  auto all = std::make_shared<programs>();
  all->add<looking>(served_here);
  in_color([&]() -> task<> {
    auto ends = local::pair(rt(), here_color, here_color);
    const connection client{any_stream{std::move(ends->first)}, with};
    const connection server{any_stream{std::move(ends->second)}, with, all};
    call_options signed_by;
    signed_by.credentials.flavor = 77;
    signed_by.credentials.body.resize(300);
    const auto got =
        co_await client.call_with<looking::looking_up>(std::move(signed_by), xdr::text<>{std::string(100, 'x')});
    EXPECT_EQ(got.value(), std::string(100, 'x') + " of 300");
  });
}

TEST_P(rpc_peers, may_be_called_back_by_the_only_call_in_progress) {
  with.most_calls = 1;
  auto all = std::make_shared<programs>();
  int answered = 0;
  // Calls the client before it answers.
  all->add(400123, 1, [&](call&& c) {
    spawn_in(
        here_color,
        [&](connection back, reply_token to) -> task<> {
          const auto got = co_await back.call<kiosk_v1::null>();
          EXPECT_EQ(got.error(), errc::program_unavailable);
          ++answered;
          to.success();
        },
        connection_of(c.info()), c.take_answer())
        .detach();
  });
  in_color([&]() -> task<> {
    auto ends = local::pair(rt(), here_color, here_color);
    const connection client{any_stream{std::move(ends->first)}, with};
    const connection server{any_stream{std::move(ends->second)}, with, all};
    std::vector<join_handle<>> calls;
    for (int n = 0; n < 2; ++n) {
      calls.push_back(spawn_in(here_color, [&]() -> task<> { EXPECT_TRUE(co_await client.call<kiosk_v1::null>()); }));
    }
    for (auto& each : calls) co_await each.join();
    EXPECT_EQ(answered, 2);
  });
}

TEST_P(rpc_peers, may_leave_while_calls_are_parked_and_one_is_never_answered) {
  with.most_calls = 1;
  play_bytes(all(), [&](local::stream& bytes, connection& server) -> task<> {
    const std::string arguments{"\0\0\0\1x\0\0\0", 8};
    EXPECT_TRUE(co_await bytes.write(call_record(1, 3, arguments) + call_record(2, 3, arguments)));
    co_await until([&] { return served.waiting.size() == 1; });
    for (int n = 0; n < 5; ++n) co_await moment();
    server.close();
    EXPECT_EQ(co_await server.ended(), tartan::errc::closed);
    EXPECT_EQ(served.calls, 1);
  });
}

TEST_P(rpc_peers, that_go_on_calling_one_that_waits_for_them_are_disconnected) {
  with.most_calls = 2;
  play_bytes(all(), [&](local::stream& bytes, connection& server) -> task<> {
    server.call_back<kiosk_v1::null>([](result<> got) { EXPECT_EQ(got.error(), tartan::errc::busy); }, {});
    std::string calls;
    for (std::uint32_t n = 0; n < 10; ++n) calls += call_record(n, 3, std::string("\0\0\0\1x\0\0\0", 8));
    static_cast<void>(co_await bytes.write(calls));
    EXPECT_EQ(co_await server.ended(), tartan::errc::busy);
    EXPECT_EQ(served.calls, 2);
  });
}

TEST_P(rpc_peers, of_another_version_that_read_nothing_are_disconnected) {
  with.queue = {.high_bytes = 2000, .low_bytes = 1000};
  play_bytes(all(), [&](local::stream& bytes, connection& server) -> task<> {
    const std::string other{"\x80\0\0\x0c\0\0\0\7\0\0\0\0\0\0\0\3", 16};
    std::string many;
    for (int n = 0; n < 20'000; ++n) many += other;
    static_cast<void>(co_await bytes.write(many));
    EXPECT_EQ(co_await server.ended(), errc::version_mismatch);
  });
}

TEST_P(rpc_peers, of_another_version_are_told_which_one_it_is) {
  play_bytes(all(), [&](local::stream& bytes, connection&) -> task<> {
    EXPECT_TRUE(co_await bytes.write(std::string_view{"\x80\0\0\x0c\0\0\0\7\0\0\0\0\0\0\0\3", 16}));
    std::array<std::byte, 28> answer{};
    EXPECT_TRUE(co_await bytes.read_exactly(answer));
    const std::string text{reinterpret_cast<const char*>(answer.data()), answer.size()};
    const std::string expected{"\x80\0\0\x18\0\0\0\7\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\2", 28};
    EXPECT_EQ(text, expected);
  });
}

TEST_P(rpc_peers, are_not_served_after_the_close) {
  auto all = std::make_shared<programs>();
  int calls = 0;
  connection* own = nullptr;
  all->add(400123, 1, [&](call&& c) {
    ++calls;
    own->close();
    c.answer().success();
  });
  play_bytes(all, [&](local::stream& bytes, connection& server) -> task<> {
    own = &server;
    std::string many;
    for (std::uint32_t n = 0; n < 200; ++n) many += call_record(n, 1);
    static_cast<void>(co_await bytes.write(many));
    EXPECT_EQ(co_await server.ended(), tartan::errc::closed);
    EXPECT_EQ(calls, 1);
  });
}

TEST_P(rpc_peers, end_no_connection_by_what_authentication_throws) {
  with.authenticate = [](const call_info& info) -> authentication {
    if (info.procedure == 1) throw std::runtime_error{"a test"};
    return {};
  };
  testing::internal::CaptureStderr();
  play([&](connection& client, connection&) -> task<> {
    const auto failed = co_await client.call<kiosk_v1::echo>(xdr::data<>{"x"});
    EXPECT_EQ(failed.error(), errc::system_error);
    EXPECT_TRUE(co_await client.call<kiosk_v1::null>());
  });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tartan: rpc: a call failed: a test\n");
}

TEST_P(rpc_peers, replace_a_stream_once_at_a_time) {
  play([&](connection& client, connection&) -> task<> {
    stream_upgrade same = [](any_stream plain) -> task<result<any_stream>> {
      co_await tartan::yield();
      co_return plain;
    };
    auto first = spawn_in(here_color, [&]() -> task<> { EXPECT_TRUE(co_await client.replace_stream(same)); });
    auto second = spawn_in(here_color, [&]() -> task<> {
      const auto replaced = co_await client.replace_stream(same);
      EXPECT_EQ(replaced.error(), tartan::errc::busy);
    });
    co_await first.join();
    co_await second.join();
    EXPECT_TRUE(co_await client.call<kiosk_v1::null>());
  });
}

TEST_P(rpc_waiting_peers, that_are_silent_are_left_after_the_idle_limit) {
  with.idle_limit = std::chrono::milliseconds{30};
  play_bytes(all(), [&](local::stream& bytes, connection& server) -> task<> {
    EXPECT_TRUE(co_await bytes.write(call_record(1, 3, std::string("\0\0\0\1x\0\0\0", 8))));
    co_await until([&] { return served.waiting.size() == 1; });
    static_cast<void>(co_await sleep(std::chrono::milliseconds{100}));  // in progress: not idle
    served.waiting[0].second("y");
    EXPECT_EQ(co_await server.ended(), tartan::errc::timed_out);
    std::array<std::byte, 36> answer{};
    EXPECT_TRUE(co_await bytes.read_exactly(answer)) << "it was answered";
  });
}

TEST_P(rpc_waiting_peers, that_read_nothing_bound_what_is_queued_for_them) {
  with.queue = {.high_bytes = 20'000, .low_bytes = 10'000};
  with.most_outstanding = 1000;
  in_color([&]() -> task<> {
    auto ends = local::pair(rt(), here_color, here_color);
    connection client{any_stream{std::move(ends->first)}, with};
    int ended = 0;
    const xdr::data<> kilobytes{std::string(10'000, 'x')};
    for (int n = 0; n < 200; ++n) {
      call_options soon;
      soon.timeout = std::chrono::milliseconds{50};
      client.call_back<kiosk_v1::echo>(
          [&](result<xdr::data<>> got) {
            EXPECT_EQ(got.error(), tartan::errc::timed_out);
            ++ended;
          },
          std::move(soon), kilobytes);
    }
    co_await until([&] { return ended == 200; });
    // Those that were not sent are forgotten: the peer, which reads at last, sees far fewer.
    std::size_t came = 0;
    std::array<std::byte, 10'000> room;
    for (bool goes_on = true; goes_on;) {
      const auto got = co_await with_timeout(std::chrono::seconds{1}, ends->second.read_some(room));
      goes_on = got.has_value();
      if (got) came += *got;
    }
    EXPECT_LT(came, std::size_t{1'500'000});
  });
}

}  // namespace
}  // namespace tartan::rpc
