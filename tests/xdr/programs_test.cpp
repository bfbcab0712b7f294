// Clients and servers that tartan-xdr makes of kiosk.x, over a pair of sockets.
#include <gtest/gtest.h>
#include <kiosk.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <tartan/io/local.h>
#include <tartan/rpc/connection.h>
#include <tartan/rpc/error.h>
#include <tartan/rpc/procedure.h>
#include <tartan/tartan.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace tartan::xdr::test {
namespace {

/// Each procedure is written in one of the ways that there are.
struct handler {
  kiosk::answer kiosk_ask(const kiosk::label& who) {
    kiosk::answer a;
    if (who == "bob") {
      a.set_found({.who = who, .row = 3});
    } else {
      a.set_void(2);
    }
    return a;
  }
  task<result<std::int32_t>> kiosk_add(std::int32_t a, std::int32_t b) {
    co_await yield();
    if (a < 0) co_return make_error_code(rpc::errc::bad_arguments);
    co_return a + b;
  }
  void kiosk_forget() { ++forgotten; }
  result<kiosk::label> null(const optional<kiosk::argument>& what) {
    return kiosk::label{what ? std::to_string(what->client) : "none"};
  }
  void call_(kiosk::seat one, rpc::reply<kiosk::seat> to) {
    ++one.row;
    to(one);
  }

  void kiosk_null() { ++forgotten; }
  text<> kiosk_shout(text<> what, const rpc::call_info& info) { return what + std::to_string(info.version); }

  kiosk::seat look() { return {.who = "nobody"}; }

  int forgotten = 0;
};

class generated_programs : public testing::Test {
 protected:
  /// Runs f with a connection to the handler.
  void play(std::function<task<>(rpc::connection)> f) {
    runtime rt;
    bool is_done = false;
    spawn(rt, [&]() -> task<> {
      auto ends = local::pair(rt, color{}, color{});
      if (!ends) {
        ADD_FAILURE() << ends.error().message();
        co_return;
      }
      auto all = std::make_shared<rpc::programs>();
      all->add<kiosk::KIOSK_V1>(served_).add<kiosk::KIOSK_V2>(served_).add<kiosk::inner::EMPTY_V1>(served_);
      const rpc::connection server{any_stream{std::move(ends->second)}, {}, std::move(all)};
      co_await f(rpc::connection{any_stream{std::move(ends->first)}});
      is_done = true;
    });
    rt.run_until_idle();
    EXPECT_TRUE(is_done);
  }

  handler served_;
};

TEST_F(generated_programs, answer_typed_calls) {
  play([](rpc::connection c) -> task<> {
    const kiosk::KIOSK_V1::client client{c};
    const auto bob = co_await client.kiosk_ask("bob");
    EXPECT_TRUE(bob && bob->found() != nullptr && bob->found()->row == 3);
    const auto eve = co_await client.kiosk_ask("eve");
    EXPECT_TRUE(eve && eve->found() == nullptr && eve->status() == 2);
    const auto none = co_await client.null({});
    EXPECT_TRUE(none && *none == "none");
    // Named, not temporaries: gcc 12 destroys an aggregate twice that is made in an expression that awaits.
    const optional<kiosk::argument> argument{{.client = 5}};
    const auto some = co_await client.null(argument);
    EXPECT_TRUE(some && *some == "5");
    const kiosk::seat eighth{.who = "x", .row = 8};
    const auto next = co_await client.call_(eighth);
    EXPECT_TRUE(next && next->row == 9);
  });
}

TEST_F(generated_programs, take_several_arguments) {
  play([](rpc::connection c) -> task<> {
    const kiosk::KIOSK_V1::client client{c};
    const auto sum = co_await client.kiosk_add(2, 3);
    EXPECT_TRUE(sum && *sum == 5);
    const auto refused = co_await client.kiosk_add(-1, 3);
    EXPECT_FALSE(refused);
  });
}

TEST_F(generated_programs, serve_versions_beside_each_other) {
  play([](rpc::connection c) -> task<> {
    const auto loud = co_await kiosk::KIOSK_V2::client{c}.kiosk_shout("hey");
    EXPECT_TRUE(loud && *loud == "hey2");
    const auto seen = co_await kiosk::inner::EMPTY_V1::client{c}.look();
    EXPECT_TRUE(seen && seen->who == "nobody");
  });
}

struct null_of_v1 {
  using of = kiosk::KIOSK_V1;
  using argument = void;
  using result = void;
  static constexpr std::uint32_t number = 0;
};
struct unknown_of_v1 : null_of_v1 {
  static constexpr std::uint32_t number = 6;
};

TEST_F(generated_programs, answer_procedure_0_even_if_it_is_not_declared) {
  play([this](rpc::connection c) -> task<> {
    EXPECT_TRUE(co_await c.call<null_of_v1>());
    EXPECT_EQ(served_.forgotten, 0);
    EXPECT_TRUE(co_await kiosk::KIOSK_V2::client{c}.kiosk_null());
    EXPECT_EQ(served_.forgotten, 1);
  });
}

TEST_F(generated_programs, refuse_procedures_that_there_are_not) {
  play([](rpc::connection c) -> task<> {
    const auto refused = co_await c.call<unknown_of_v1>();
    EXPECT_EQ(refused.error(), rpc::errc::procedure_unavailable);
  });
}

TEST_F(generated_programs, call_back_with_results) {
  int called = 0;
  play([&](rpc::connection c) -> task<> {
    const kiosk::KIOSK_V1::client client{c};
    client.kiosk_add(2, 3, [&](result<std::int32_t> sum) { called += sum ? *sum : 0; });
    client.kiosk_forget([&](result<> done) { called += done ? 100 : 0; });
    EXPECT_TRUE(co_await client.kiosk_forget());  // replies come in the order of the calls here
    EXPECT_TRUE(co_await client.kiosk_add(0, 0));
  });
  EXPECT_EQ(called, 105);
  EXPECT_EQ(served_.forgotten, 2);
}

TEST_F(generated_programs, say_what_they_are_called) {
  EXPECT_STREQ(kiosk::KIOSK_V1::name, "KIOSK_PROG");
  EXPECT_EQ(kiosk::KIOSK_V1::program, 400123U);
  EXPECT_EQ(kiosk::KIOSK_V2::version, 2U);
  EXPECT_STREQ(kiosk::KIOSK_V1::KIOSK_ASK::name, "KIOSK_ASK");
  EXPECT_EQ(kiosk::KIOSK_V1::NULL_::number, 4U);
  EXPECT_TRUE((std::is_same_v<kiosk::KIOSK_V1::KIOSK_ADD::argument, std::tuple<std::int32_t, std::int32_t>>));
  EXPECT_TRUE((std::is_same_v<kiosk::KIOSK_V1::KIOSK_FORGET::argument, void>));
  EXPECT_TRUE((std::is_same_v<kiosk::KIOSK_V1::NULL_::argument, optional<kiosk::argument>>));
}

}  // namespace
}  // namespace tartan::xdr::test
