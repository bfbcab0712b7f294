#include <tartan/rpc/connection.h>

#include <gtest/gtest.h>

#include <string>
#include <tartan/core/yield.h>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>

#include "rpc/rpc_fixture.h"

namespace tartan::rpc {
namespace {

using test::kiosk_v1;
using rpc_connections = test::with_connection;
INSTANTIATE_TEST_SUITE_P(on, rpc_connections, testing::ValuesIn(tartan::test::both_machines()),
                         tartan::test::place_name);

TEST_P(rpc_connections, call_procedures_of_every_form) {
  play([&](connection& client, connection&) -> task<> {
    EXPECT_TRUE(co_await client.call<kiosk_v1::null>());
    const auto back = co_await client.call<kiosk_v1::echo>(xdr::data<>{"hello"});
    EXPECT_EQ(back.value(), "hello");
    const auto sum = co_await client.call<kiosk_v1::add>(std::int32_t{2}, std::int32_t{3});
    EXPECT_EQ(sum.value(), 5);
  });
}

TEST_P(rpc_connections, answer_in_any_order) {
  play([&](connection& client, connection&) -> task<> {
    std::vector<std::string> came;
    const auto ask = [&](const char* what) -> task<> {
      const auto got = co_await client.call<kiosk_v1::wait>(xdr::text<16>{what});
      came.emplace_back(got.value());
    };
    auto first = spawn_in(test::here_color, ask, "first");
    auto second = spawn_in(test::here_color, ask, "second");
    co_await until([&] { return served.waiting.size() == 2; });
    served.waiting[1].second(served.waiting[1].first);
    co_await second.join();
    served.waiting[0].second(served.waiting[0].first);
    co_await first.join();
    EXPECT_EQ(came, (std::vector<std::string>{"second", "first"}));
  });
}

TEST_P(rpc_connections, answer_a_call_whose_token_is_dropped) {
  play([&](connection& client, connection&) -> task<> {
    auto asked = spawn_in(test::here_color, [&]() -> task<std::error_code> {
      const auto got = co_await client.call<kiosk_v1::wait>(xdr::text<16>{"x"});
      co_return got.error();
    });
    co_await until([&] { return served.waiting.size() == 1; });
    served.waiting.clear();
    EXPECT_EQ(co_await asked.join(), errc::system_error);
  });
}

TEST_P(rpc_connections, call_in_both_directions_at_once) {
  play([&](connection& client, connection& server) -> task<> {
    const auto other = co_await server.call<kiosk_v1::null>();
    EXPECT_EQ(other.error(), errc::program_unavailable) << "the client serves nothing";
    EXPECT_TRUE(co_await client.call<kiosk_v1::null>());
  });
}

TEST_P(rpc_connections, tell_what_a_server_refuses) {
  play([&](connection& client, connection&) -> task<> {
    refusal why;
    call_options first;
    first.why = &why;
    const auto version = co_await client.call_with<test::kiosk_v7::null>(std::move(first));
    EXPECT_EQ(version.error(), errc::program_mismatch);
    EXPECT_EQ(why.low, 1u);
    EXPECT_EQ(why.high, 1u);
    const auto program = co_await client.call<test::elsewhere_v1::null>();
    EXPECT_EQ(program.error(), errc::program_unavailable);
    const auto procedure = co_await client.call<kiosk_v1::missing>();
    EXPECT_EQ(procedure.error(), errc::procedure_unavailable);
    const auto arguments = co_await client.call_raw(400123, 1, 2, buf::chain{});
    EXPECT_EQ(arguments.error(), errc::bad_arguments);
    const auto refused = co_await client.call<kiosk_v1::add>(std::int32_t{0}, std::int32_t{3});
    EXPECT_EQ(refused.error(), errc::bad_arguments) << "by the procedure itself";
    testing::internal::CaptureStderr();
    const auto thrown = co_await client.call<kiosk_v1::add>(std::int32_t{-1}, std::int32_t{3});
    EXPECT_EQ(thrown.error(), errc::system_error);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "tartan: rpc: procedure 2 of program 400123 version 1 failed: a test\n");
    EXPECT_TRUE(co_await client.call<kiosk_v1::null>()) << "the connection goes on";
  });
}

TEST_P(rpc_connections, send_nothing_that_breaks_a_bound) {
  play([&](connection& client, connection&) -> task<> {
    const auto got = co_await client.call<kiosk_v1::wait>(xdr::text<16>{"more than sixteen bytes"});
    EXPECT_EQ(got.error(), xdr::errc::too_long);
    EXPECT_EQ(served.calls, 0);
  });
}

TEST_P(rpc_connections, fail_each_outstanding_call_once_and_then_call_the_end_handler) {
  play([&](connection& client, connection& server) -> task<> {
    std::vector<std::string> order;
    client.on_end([&](std::error_code why) {
      EXPECT_EQ(why, errc::disconnected);
      order.emplace_back("end");
    });
    for (int n = 0; n < 2; ++n) {
      client.call_back<kiosk_v1::wait>(
          [&](result<xdr::text<16>> got) {
            EXPECT_EQ(got.error(), errc::disconnected);
            order.emplace_back("call");
          },
          {}, xdr::text<16>{"x"});
    }
    co_await until([&] { return served.waiting.size() == 2; });
    server.close();
    EXPECT_EQ(co_await client.ended(), errc::disconnected);
    EXPECT_EQ(co_await server.ended(), tartan::errc::closed);
    co_await until([&] { return order.size() == 3; });
    const auto late = co_await client.call<kiosk_v1::null>();
    EXPECT_EQ(late.error(), errc::disconnected);
  });
}

TEST_P(rpc_connections, never_complete_a_callback_inside_the_call) {
  play([&](connection& client, connection& server) -> task<> {
    server.close();
    static_cast<void>(co_await client.ended());
    bool is_called = false;
    client.call_back<kiosk_v1::null>(
        [&](result<> got) {
          EXPECT_EQ(got.error(), errc::disconnected);
          is_called = true;
        },
        {});
    EXPECT_FALSE(is_called);
    co_await until([&] { return is_called; });
  });
}

TEST_P(rpc_connections, end_a_call_whose_time_is_up_and_drop_its_late_reply) {
  play([&](connection& client, connection&) -> task<> {
    call_options soon;
    soon.timeout = std::chrono::milliseconds{20};
    const auto got = co_await client.call_with<kiosk_v1::wait>(std::move(soon), xdr::text<16>{"x"});
    EXPECT_EQ(got.error(), tartan::errc::timed_out);
    const auto limited =
        co_await with_timeout(std::chrono::milliseconds{20}, client.call<kiosk_v1::wait>(xdr::text<16>{"y"}));
    EXPECT_EQ(limited.error(), tartan::errc::timed_out);
    co_await until([&] { return served.waiting.size() == 2; });
    for (auto& [what, to] : served.waiting) to(what);
    EXPECT_TRUE(co_await client.call<kiosk_v1::null>());
  });
}

TEST_P(rpc_connections, end_a_call_that_is_canceled) {
  play([&](connection& client, connection&) -> task<> {
    auto asked = spawn_in(test::here_color, [&]() -> task<std::error_code> {
      const auto got = co_await client.call<kiosk_v1::wait>(xdr::text<16>{"x"});
      co_return got.error();
    });
    co_await until([&] { return served.waiting.size() == 1; });
    asked.cancel();
    EXPECT_EQ(co_await asked.join(), tartan::errc::canceled);
    served.waiting[0].second("late");
    EXPECT_TRUE(co_await client.call<kiosk_v1::null>());
  });
}

TEST_P(rpc_connections, read_no_more_calls_than_may_be_in_progress) {
  with.most_calls = 3;
  play([&](connection& client, connection&) -> task<> {
    int answered = 0;
    for (int n = 0; n < 10; ++n) {
      client.call_back<kiosk_v1::wait>([&](result<xdr::text<16>> got) { answered += got ? 1 : 0; }, {},
                                       xdr::text<16>{"x"});
    }
    co_await until([&] { return served.waiting.size() == 3; });
    for (int n = 0; n < 20; ++n) co_await moment();
    EXPECT_EQ(served.calls, 3);
    while (answered < 10) {
      auto some = std::exchange(served.waiting, {});
      for (auto& [what, to] : some) to(what);
      EXPECT_LE(some.size(), 3u);
      co_await moment();
    }
  });
}

TEST_P(rpc_connections, have_no_more_calls_outstanding_than_they_may) {
  with.most_outstanding = 2;
  play([&](connection& client, connection&) -> task<> {
    std::vector<std::error_code> ends;
    const auto note = [&](result<xdr::text<16>> got) { ends.push_back(got.error()); };
    for (int n = 0; n < 3; ++n) client.call_back<kiosk_v1::wait>(note, {}, xdr::text<16>{"x"});
    co_await until([&] { return ends.size() == 1; });
    EXPECT_EQ(ends[0], tartan::errc::busy) << "a callback is told";
    auto waits = spawn_in(test::here_color, [&]() -> task<> {
      EXPECT_TRUE(co_await client.call<kiosk_v1::null>()) << "a coroutine waits";
    });
    co_await until([&] { return served.waiting.size() == 2; });
    for (auto& [what, to] : served.waiting) to(what);
    co_await waits.join();
  });
}

TEST_P(rpc_connections, refer_to_large_data_in_both_directions) {
  play([&](connection& client, connection&) -> task<> {
    const std::string large(300'000, 'x');
    const auto got = co_await client.call<kiosk_v1::echo>(xdr::data<>{large});
    EXPECT_EQ(got.value().size(), large.size());
    EXPECT_EQ(got.value(), large);
  });
}

TEST_P(rpc_connections, end_at_a_record_that_is_too_long) {
  with.most_record_bytes = 1000;
  play([&](connection& client, connection& server) -> task<> {
    const auto got = co_await client.call<kiosk_v1::echo>(xdr::data<>{std::string(1000, 'x')});
    EXPECT_FALSE(got);
    EXPECT_EQ(co_await server.ended(), errc::too_large);
  });
}

TEST_P(rpc_connections, take_calls_from_other_colors) {
  play([&](connection& client, connection&) -> task<> {
    std::vector<join_handle<>> all;
    for (std::uint64_t n = 0; n < 20; ++n) {
      all.push_back(spawn_in(color{100 + n}, [&, n]() -> task<> {
        for (std::int32_t k = 1; k < 10; ++k) {
          const auto sum = co_await client.call<kiosk_v1::add>(k, static_cast<std::int32_t>(n));
          EXPECT_EQ(sum.value(), k + static_cast<std::int32_t>(n));
        }
      }));
    }
    for (auto& each : all) co_await each.join();
  });
}

TEST_P(rpc_connections, answer_what_is_in_progress_before_they_end) {
  play([&](connection& client, connection& server) -> task<> {
    auto asked = spawn_in(test::here_color, [&]() -> task<std::string> {
      const auto got = co_await client.call<kiosk_v1::wait>(xdr::text<16>{"x"});
      co_return got.value();
    });
    co_await until([&] { return served.waiting.size() == 1; });
    server.drain();
    auto late = spawn_in(test::here_color, [&]() -> task<std::error_code> {
      const auto got = co_await client.call<kiosk_v1::null>();
      co_return got.error();
    });
    for (int n = 0; n < 10; ++n) co_await moment();
    served.waiting[0].second("answered");
    EXPECT_EQ(co_await asked.join(), "answered");
    EXPECT_EQ(co_await server.ended(), tartan::errc::closed);
    EXPECT_TRUE(co_await late.join()) << "it was not read";
  });
}

}  // namespace
}  // namespace tartan::rpc
