// RPC over TLS: from the first byte, and begun in the middle of a connection (RFC 9289).
#include <gtest/gtest.h>
#include <judge.h>
#include <tartan/rpc/server.h>
#include <tartan/tartan.h>
#include <tartan/tls/client.h>
#include <tartan/tls/self_signed.h>
#include <tartan/tls/server.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "io/machine_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using test::here_color;

struct echoing {
  static void judge_null() {}
  static judge::content judge_echo(judge::content given) { return given; }
};

/// Serves one procedure with types; the judge's program has more, which need no TLS of their own.
struct echo_only {
  struct echo {
    using of = echo_only;
    using argument = judge::content;
    using result = judge::content;
    static constexpr std::uint32_t number = 1;
  };
  static constexpr std::uint32_t program = 400200;
  static constexpr std::uint32_t version = 1;

  template <class Handler>
  static void dispatch(Handler& h, rpc::call&& c) {
    if (c.procedure() == 0) return c.take_answer().success();
    rpc::run<echo>(std::move(c), [&h](judge::content given) { return h.judge_echo(std::move(given)); });
  }
};

class rpc_over_tls : public test::on_machine, public testing::WithParamInterface<test::place> {
 protected:
  [[nodiscard]] test::place where() const override { return GetParam(); }

  [[nodiscard]] rpc::programs all() {
    rpc::programs made;
    made.add<echo_only>(served_);
    return made;
  }
  [[nodiscard]] rpc::stream_upgrade accepting() {
    return [this](any_stream plain) -> task<result<any_stream>> {
      auto sealed = co_await server_.accept(std::move(plain));
      if (!sealed) co_return sealed.error();
      co_return any_stream{*std::move(sealed)};
    };
  }
  [[nodiscard]] rpc::stream_upgrade connecting() {
    return [this](any_stream plain) -> task<result<any_stream>> {
      auto sealed = co_await client_.connect(std::move(plain), "localhost");
      if (!sealed) co_return sealed.error();
      co_return any_stream{*std::move(sealed)};
    };
  }
  /// Calls with much and with little data.
  static task<> echo_over(const rpc::connection& c) {
    for (const std::size_t size : {std::size_t{5}, std::size_t{200'000}}) {
      const judge::content given{std::string(size, 'x')};
      const auto back = co_await c.call<echo_only::echo>(given);
      EXPECT_TRUE(back && *back == given) << size;
    }
  }

  test::temporary_folder folder_;
  tls::identity identity_ = tls::self_signed(folder_.path().string(), {"localhost"});
  tls::server server_{tls::server_settings{.identities = {identity_}}};
  tls::client client_{tls::client_settings{.authorities = identity_.certificate}};

 private:
  echoing served_;
};
INSTANTIATE_TEST_SUITE_P(on, rpc_over_tls, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(rpc_over_tls, is_sealed_from_the_first_byte) {
  rpc::server site{rt(), all()};
  const address at = site.listen("127.0.0.1:0", accepting());
  in_color([&]() -> task<> {
    auto plain = co_await tcp::connect(at);
    auto sealed = co_await client_.connect(any_stream{*std::move(plain)}, "localhost");
    EXPECT_TRUE(sealed);
    {
      const rpc::connection c{any_stream{*std::move(sealed)}};
      co_await echo_over(c);
    }
    co_await site.close(std::chrono::seconds{1});
  });
}

TEST_P(rpc_over_tls, is_begun_between_two_messages) {
  rpc::server_settings with;
  with.authenticate = [this](const rpc::call_info& info) {
    rpc::authentication decided;
    if (info.credentials.flavor == rpc::auth_flavor::tls) {
      const std::string_view text = "STARTTLS";
      const auto bytes = std::as_bytes(std::span{text});
      decided.verifier.body.assign(bytes.begin(), bytes.end());
      decided.upgrade = accepting();
    }
    return decided;
  };
  rpc::server site{rt(), all(), with};
  const address at = site.listen("127.0.0.1:0");
  in_color([&]() -> task<> {
    auto plain = co_await tcp::connect(at);
    {
      const rpc::connection c{any_stream{*std::move(plain)}};
      co_await echo_over(c);
      rpc::opaque_auth verifier;
      rpc::call_options probe;
      probe.credentials.flavor = rpc::auth_flavor::tls;
      probe.reply_verifier = &verifier;
      EXPECT_TRUE(co_await c.call_raw(echo_only::program, 1, 0, {}, std::move(probe)));
      EXPECT_EQ(verifier.body.size(), 8u);
      auto how = connecting();
      EXPECT_TRUE(co_await c.replace_stream(std::move(how)));
      co_await echo_over(c);
    }
    co_await site.close(std::chrono::seconds{1});
  });
}

}  // namespace
}  // namespace tartan
