#pragma once
/// For tests: a program, as tartan-xdr makes them, and a connection to it.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tartan/core/channel.h>
#include <tartan/core/spawn.h>
#include <tartan/io/local.h>
#include <tartan/io/tcp.h>
#include <tartan/io/udp.h>
#include <tartan/rpc/connection.h>
#include <tartan/rpc/procedure.h>
#include <tartan/rpc/server.h>
#include <tartan/xdr/types.h>
#include <utility>
#include <vector>

#include "io/machine_fixture.h"

namespace tartan::rpc::test {

struct kiosk_v1 {
  static constexpr std::uint32_t program = 400123;
  static constexpr std::uint32_t version = 1;

  struct null {
    using of = kiosk_v1;
    using argument = void;
    using result = void;
    static constexpr std::uint32_t number = 0;
  };
  struct echo {
    using of = kiosk_v1;
    using argument = xdr::data<>;
    using result = xdr::data<>;
    static constexpr std::uint32_t number = 1;
  };
  struct add {
    using of = kiosk_v1;
    using argument = std::tuple<std::int32_t, std::int32_t>;
    using result = std::int32_t;
    static constexpr std::uint32_t number = 2;
  };
  /// Is answered when the test says so.
  struct wait {
    using of = kiosk_v1;
    using argument = xdr::text<16>;
    using result = xdr::text<16>;
    static constexpr std::uint32_t number = 3;
  };
  /// Not served.
  struct missing {
    using of = kiosk_v1;
    using argument = void;
    using result = void;
    static constexpr std::uint32_t number = 9;
  };

  template <class Handler>
  static void dispatch(Handler& h, call&& c) {
    switch (c.procedure()) {
      case 0:
        return run<null>(std::move(c), [] {});
      case 1:
        return run<echo>(std::move(c), [&h](xdr::data<>&& all) { return h.echo(std::move(all)); });
      case 2:
        return run<add>(std::move(c), [&h](std::int32_t a, std::int32_t b) { return h.add(a, b); });
      case 3:
        return run<wait>(std::move(c), [&h](xdr::text<16>&& what, const call_info& info, reply<xdr::text<16>> to) {
          h.wait(std::move(what), info, std::move(to));
        });
      default:
        return std::move(c).no_such_procedure();
    }
  }
};

/// The same program, another version, and another program: what nobody serves.
struct kiosk_v7 : kiosk_v1 {
  static constexpr std::uint32_t version = 7;
  struct null : kiosk_v1::null {
    using of = kiosk_v7;
  };
};
struct elsewhere_v1 : kiosk_v1 {
  static constexpr std::uint32_t program = 400124;
  struct null : kiosk_v1::null {
    using of = elsewhere_v1;
  };
};

/// Color: all of its functions in that of the connections, which tests put in one.
struct kiosk {
  xdr::data<> echo(xdr::data<> all) {
    ++calls;
    return all;
  }
  task<result<std::int32_t>> add(std::int32_t a, std::int32_t b) {
    co_await tartan::yield();
    if (a == 0) co_return make_error_code(errc::bad_arguments);
    if (a < 0) throw std::runtime_error{"a test"};
    co_return a + b;
  }
  void wait(xdr::text<16> what, const call_info& info, reply<xdr::text<16>> to) {
    ++calls;
    last = info;
    waiting.emplace_back(std::move(what), std::move(to));
  }

  int calls = 0;
  call_info last;
  std::vector<std::pair<xdr::text<16>, reply<xdr::text<16>>>> waiting;
};

using tartan::test::here_color;
using tartan::test::machine;
using tartan::test::on_machine;
using tartan::test::place;

/// Two ends of a connection in one color.
class with_connection : public on_machine, public testing::WithParamInterface<place> {
 protected:
  [[nodiscard]] place where() const override { return GetParam(); }

  kiosk served;
  rpc::settings with;

  [[nodiscard]] std::shared_ptr<const programs> all() {
    auto made = std::make_shared<programs>();
    made->add<kiosk_v1>(served);
    return made;
  }

  /// Runs f(the client's end, the server's end), and then closes both.
  void play(std::function<task<>(connection&, connection&)> f) {
    in_color([this, f]() -> task<> {
      auto ends = local::pair(rt(), here_color, here_color);
      if (!ends) {
        ADD_FAILURE();
        co_return;
      }
      connection client{any_stream{std::move(ends->first)}, with};
      connection server{any_stream{std::move(ends->second)}, with, all()};
      co_await f(client, server);
      served.waiting.clear();
    });
  }
};

}  // namespace tartan::rpc::test
