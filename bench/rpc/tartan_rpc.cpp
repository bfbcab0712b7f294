// RPC by Tartan, both sides: calls with types, decoded and encoded; echoed bytes by reference.
// A window of n calls is n coroutines, each of which has one call outstanding.

#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <tartan/rpc/procedure.h>
#include <tartan/rpc/server.h>
#include <tartan/tartan.h>
#include <tartan/tls/client.h>
#include <tartan/tls/self_signed.h>
#include <tartan/tls/server.h>
#include <tartan/xdr/types.h>
#include <utility>

#include "bench/rpc/place.h"

namespace {

using namespace tartan;

struct bench_v1 {
  static constexpr std::uint32_t program = bench::rpc_program;
  static constexpr std::uint32_t version = bench::rpc_version;

  struct null {
    using of = bench_v1;
    using argument = void;
    using result = void;
    static constexpr std::uint32_t number = bench::rpc_null;
  };
  struct echo {
    using of = bench_v1;
    using argument = xdr::data<>;
    using result = xdr::data<>;
    static constexpr std::uint32_t number = bench::rpc_echo;
  };

  template <class Handler>
  static void dispatch(Handler& /*h*/, rpc::call&& c) {
    switch (c.procedure()) {
      case bench::rpc_null:
        return rpc::run<null>(std::move(c), [] {});
      case bench::rpc_echo:
        return rpc::run<echo>(std::move(c), [](xdr::data<>&& all) { return std::move(all); });
      default:
        return std::move(c).no_such_procedure();
    }
  }
};

rpc::stream_upgrade sealed(std::shared_ptr<tls::server> with) {
  return [with](any_stream under) -> task<result<any_stream>> {
    auto made = co_await with->accept(std::move(under));
    if (!made) co_return made.error();
    co_return any_stream{std::move(*made)};
  };
}

/// Until its input ends.
int serve(runtime& rt, const bench::rpc_request& asked) {
  bench_v1 nothing;
  rpc::programs all;
  all.add<bench_v1>(nothing);
  rpc::server site{rt, std::move(all)};
  const std::string folder = std::filesystem::temp_directory_path() / ("bench-rpc-" + std::to_string(getpid()));
  if (asked.kind == "unix") {
    site.listen("unix:" + asked.where);
  } else if (asked.kind == "tcp") {
    site.listen("127.0.0.1:" + asked.where);
  } else {
    std::filesystem::create_directory(folder);
    const tls::server_settings with{.identities = {tls::self_signed(folder, {"localhost"})}};
    site.listen("127.0.0.1:" + asked.where, sealed(std::make_shared<tls::server>(with)));
    std::filesystem::remove_all(folder);
  }
  bench::say_ready();
  spawn(rt, [&rt]() -> task<> {
    auto watch = descriptor_watch::of(STDIN_FILENO);
    if (watch) static_cast<void>(co_await watch->readable());
    rt.stop();
  }).detach();
  return rt.run();
}

task<any_stream> connected(const bench::rpc_request& asked) {
  if (asked.kind == "unix") {
    co_return any_stream{(co_await local::connect(address::unix_path(asked.where).value())).value()};
  }
  const auto port = static_cast<std::uint16_t>(std::atoi(asked.where.c_str()));
  any_stream plain{(co_await tcp::connect(address::loopback(port))).value()};
  if (asked.kind == "tcp") co_return plain;
  tls::client secure{{.verify = false}};
  co_return any_stream{(co_await secure.connect(std::move(plain), "localhost")).value()};
}

task<> call_again(rpc::connection over, const bench::rpc_request& asked, bench::rpc_clock& clock) {
  const xdr::data<> bytes{std::string(bench::echo_bytes, 'x')};
  do {
    if (asked.echoes) {
      const auto got = co_await over.call<bench_v1::echo>(bytes);
      if (got.value().size() != bench::echo_bytes) std::abort();
    } else {
      (co_await over.call<bench_v1::null>()).value();
    }
  } while (clock.count(1));
}

int call(runtime& rt, const bench::rpc_request& asked) {
  bench::rpc_clock clock{asked};
  spawn(rt, [&]() -> task<> {
    const rpc::connection over{co_await connected(asked)};
    std::vector<join_handle<>> all;
    for (unsigned n = 0; n < asked.window; ++n) {
      all.push_back(spawn_in(over.where(), call_again, over, std::cref(asked), std::ref(clock)));
    }
    for (auto& each : all) co_await each.join();
    rt.stop();
  }).detach();
  const int status = rt.run();
  clock.print();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::rpc_request asked{argc, argv};
  runtime rt{options{.workers = 1}};
  return asked.serves ? serve(rt, asked) : call(rt, asked);
}
