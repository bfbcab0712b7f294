// libtirpc as the judge: its client calls Tartan's server, and Tartan's client calls its server.
#include <gtest/gtest.h>
#include <judge.h>
#include <tartan/rpc/server.h>
#include <tartan/tartan.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/temporary_folder.h"
#include "tests/workers.h"

namespace tartan {
namespace {

constexpr std::uint32_t nobody = rpc::auth_flavor::none;

/// The program, with the same answers as those of tirpc/server.c.
struct judge_service {
  void judge_null() {}
  void judge_null_2() {}
  judge::content judge_echo(judge::content given) { return given; }
  judge::everything judge_count(judge::everything given) {
    for (judge::everything* each = &given; each != nullptr; each = each->next ? &*each->next : nullptr) ++each->count;
    return given;
  }
  void judge_fail(judge::failure what, const rpc::call_info& /*info*/, rpc::reply<std::int32_t> to) {
    switch (what) {
      case judge::failure::NO_MEMORY:
        return to.fail(rpc::accept_status::system_error);
      case judge::failure::BAD_ARGUMENTS:
        return to.fail(rpc::accept_status::garbage_arguments);
      case judge::failure::NO_PROCEDURE:
        return to.fail(rpc::accept_status::procedure_unavailable);
      case judge::failure::NO_PROGRAM:
      case judge::failure::OTHER_VERSIONS:
        return to.fail(rpc::accept_status::program_unavailable);
      case judge::failure::TOO_WEAK:
        return to.deny(rpc::auth_status::too_weak);
      case judge::failure::BAD_CREDENTIALS:
        return to.deny(rpc::auth_status::bad_credentials);
    }
  }
  judge::caller judge_who(const rpc::call_info& info) {
    judge::caller seen;
    seen.flavor = info.credentials.flavor;
    if (const auto user = rpc::sys_credentials_of(info.credentials)) {
      seen.machine = user->machine;
      seen.user = user->user;
      seen.group = user->group;
      seen.groups = user->groups;
    }
    return seen;
  }
  std::int32_t judge_add(judge::pair given) { return given.first + given.second; }
};

process started(std::vector<std::string> arguments) {
  auto made =
      process::spawn({.arguments = std::move(arguments), .input = child_stream::pipe, .output = child_stream::pipe});
  EXPECT_TRUE(made) << made.error().message();
  return made ? std::move(*made) : process{};
}

task<std::string> output_of(process& child) {
  buf::chain all;
  while (co_await child.output.read_some(all, 4096)) {
  }
  co_return all.to_string();
}

class rpc_judges : public test::on_workers {
 protected:
  void run(std::function<task<>()> f) {
    runtime rt{settings()};
    rt_ = &rt;
    spawn(rt, std::move(f)).detach();
    rt.run_until_idle();
  }
  [[nodiscard]] runtime& rt() { return *rt_; }
  [[nodiscard]] std::string socket_path() const { return (folder_ / "socket").string(); }

  /// Has libtirpc's client call this program's server.
  void serve_and_be_judged(std::string kind);
  /// Calls f with a connection to libtirpc's server.
  void call_judge(std::string kind, std::function<task<>(rpc::connection)> f);

 private:
  test::temporary_folder folder_;
  runtime* rt_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(on, rpc_judges, testing::ValuesIn(test::worker_counts()), test::worker_name);

void rpc_judges::serve_and_be_judged(std::string kind) {
  judge_service service;
  run([&]() -> task<> {
    rpc::programs all;
    all.add<judge::JUDGE_V1>(service).add<judge::JUDGE_V2>(service);
    rpc::server site{rt(), std::move(all)};
    std::string where = socket_path();
    if (kind == "tcp") where = std::to_string(site.listen("127.0.0.1:0").port());
    if (kind == "udp") where = std::to_string(site.listen_udp("127.0.0.1:0").port());
    if (kind == "unix") site.listen("unix:" + where);
    process client = started({TARTAN_JUDGE_CLIENT, kind, where});
    const std::string said = co_await output_of(client);
    EXPECT_TRUE(said.find(" passed, 0 failed\n") != std::string::npos) << said;
    EXPECT_EQ(said.find("wrong"), std::string::npos) << said;
    const auto end = co_await client.wait();
    EXPECT_TRUE(end && end->success());
    co_await site.close(std::chrono::seconds{10});
  });
}

TEST_P(rpc_judges, accept_what_a_server_answers_over_tcp) {
  serve_and_be_judged("tcp");
}
TEST_P(rpc_judges, accept_what_a_server_answers_over_udp) {
  serve_and_be_judged("udp");
}
TEST_P(rpc_judges, accept_what_a_server_answers_over_a_unix_socket) {
  serve_and_be_judged("unix");
}

task<rpc::connection> connected(runtime& rt, std::string kind, std::uint16_t tcp_port, std::uint16_t udp_port,
                                std::string path) {
  if (kind == "udp") {
    udp::socket made = udp::bind(rt, "127.0.0.1:0");
    EXPECT_TRUE(made.connect(address::loopback(udp_port)));
    co_return rpc::connection{std::move(made)};
  }
  if (kind == "tcp") {
    auto made = co_await tcp::connect(address::loopback(tcp_port));
    co_return rpc::connection{any_stream{std::move(made.value())}};
  }
  auto made = co_await local::connect(address::unix_path(path).value());
  co_return rpc::connection{any_stream{std::move(made.value())}};
}

void rpc_judges::call_judge(std::string kind, std::function<task<>(rpc::connection)> f) {
  run([&]() -> task<> {
    process server = started({TARTAN_JUDGE_SERVER, socket_path()});
    buf::chain said;
    const auto line = co_await server.output.read_line(said, 100);
    if (!line) {
      ADD_FAILURE() << "the server does not start";
      co_return;
    }
    std::istringstream words{std::string{said.take_slice(line->whole).text()}};
    std::string name;
    std::uint16_t tcp_port = 0;
    std::uint16_t udp_port = 0;
    words >> name >> tcp_port >> name >> udp_port;
    co_await f(co_await connected(rt(), kind, tcp_port, udp_port, socket_path()));
    server.input.close();
    const auto end = co_await server.wait();
    EXPECT_TRUE(end && end->success());
  });
}

std::string text_of(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t n = 0; n < size; ++n) text[n] = static_cast<char>(n * 7 + n / 256);
  return text;
}

judge::everything some_of_everything() {
  judge::everything third;
  judge::everything second;
  second.number = -5;
  second.count = 1;
  second.name = "second";
  second.how = judge::mood::BUSY;
  second.next = third;
  second.form.set_until(~std::uint64_t{0});
  judge::everything first;
  first.number = std::numeric_limits<std::int32_t>::min();
  first.count = 4'000'000'000;
  first.place = -1;
  first.total = 0x0102030405060708;
  first.ratio = 0.1F;
  first.weight = -1e300;
  first.is_there = true;
  first.how = judge::mood::SOUR;
  first.form.set_why(judge::mood::SOUR, "lemons");
  first.name = std::string(judge::NAME_MAX_BYTES, 'n');
  first.tag = {std::byte{0}, std::byte{255}, std::byte{2}, std::byte{3}, std::byte{4}};
  first.blob = std::string("\0\1\2\3\4\5\6", 7);
  first.marks = {1, -1, 2147483647, std::numeric_limits<std::int32_t>::min(), 0, 7, 8, 9};
  first.grid = {0, 1, 0xffffffff};
  first.next = second;
  return first;
}

task<> check_values(rpc::connection over, std::size_t most) {
  const judge::JUDGE_V1::client client{over};
  EXPECT_TRUE(co_await client.judge_null());
  for (const std::size_t size : {0u, 1u, 2u, 3u, 4u, 5u, 400u, 1023u, 4096u, 8000u, 65536u, 300001u}) {
    if (size > most) break;
    const std::string text = text_of(size);
    const auto got = co_await client.judge_echo(judge::content{text});
    EXPECT_TRUE(got && *got == text) << size;
  }
  const judge::everything all = some_of_everything();
  const auto counted = co_await client.judge_count(all);
  judge::everything expected = all;
  for (judge::everything* each = &expected; each != nullptr; each = each->next ? &*each->next : nullptr) ++each->count;
  EXPECT_TRUE(counted && *counted == expected);
  const judge::JUDGE_V2::client second{over};
  EXPECT_EQ((co_await second.judge_add({40, 2})).value(), 42);
}

task<> check_failures(rpc::connection over) {
  const judge::JUDGE_V1::client client{over};
  rpc::refusal why;
  rpc::call_options with;
  const auto fail = [&](judge::failure how) -> task<std::error_code> {
    rpc::call_options options;
    options.why = &why;
    const auto got = co_await client.judge_fail(how, std::move(options));
    co_return got.error();
  };
  EXPECT_EQ(co_await fail(judge::failure::NO_MEMORY), rpc::errc::system_error);
  EXPECT_EQ(co_await fail(judge::failure::BAD_ARGUMENTS), rpc::errc::bad_arguments);
  EXPECT_EQ(co_await fail(judge::failure::NO_PROCEDURE), rpc::errc::procedure_unavailable);
  EXPECT_EQ(co_await fail(judge::failure::NO_PROGRAM), rpc::errc::program_unavailable);
  EXPECT_EQ(co_await fail(judge::failure::TOO_WEAK), rpc::errc::authentication);
  EXPECT_EQ(why.status, rpc::auth_status::too_weak);
  EXPECT_EQ(co_await fail(judge::failure::BAD_CREDENTIALS), rpc::errc::authentication);
  EXPECT_EQ(why.status, rpc::auth_status::bad_credentials);
  EXPECT_EQ(co_await fail(judge::failure::OTHER_VERSIONS), rpc::errc::program_mismatch);
  EXPECT_EQ(why.low, 3u);
  EXPECT_EQ(why.high, 7u);

  rpc::call_options asks;
  asks.why = &why;
  const auto version = co_await over.call_raw(judge::JUDGE_V1::program, 9, 0, {}, std::move(asks));
  EXPECT_EQ(version.error(), rpc::errc::program_mismatch);
  EXPECT_EQ(why.low, 1u);
  EXPECT_EQ(why.high, 2u);
  const auto procedure = co_await over.call_raw(judge::JUDGE_V1::program, 1, 77, {});
  EXPECT_EQ(procedure.error(), rpc::errc::procedure_unavailable);
  const auto program = co_await over.call_raw(judge::JUDGE_V1::program + 1, 1, 0, {});
  EXPECT_EQ(program.error(), rpc::errc::program_unavailable);
  const auto arguments = co_await over.call_raw(judge::JUDGE_V1::program, 1, 2, {});
  EXPECT_EQ(arguments.error(), rpc::errc::bad_arguments);
}

task<> check_users(rpc::connection over) {
  const judge::JUDGE_V1::client client{over};
  const auto none = co_await client.judge_who();
  EXPECT_EQ(none.value().flavor, nobody);
  rpc::sys_credentials user{.machine = "host.example", .user = 1000, .group = 100};
  for (std::uint32_t n = 0; n < 16; ++n) user.groups.push_back(n * 250'000'000);
  rpc::call_options with;
  with.credentials = rpc::to_auth(user);
  const auto seen = co_await client.judge_who(std::move(with));
  EXPECT_EQ(seen.value().flavor, rpc::auth_flavor::sys);
  EXPECT_EQ(seen->machine, user.machine);
  EXPECT_EQ(seen->user, user.user);
  EXPECT_EQ(seen->group, user.group);
  EXPECT_EQ(seen->groups, user.groups);
}

/// libtirpc answers one after the other; that the calls do not wait for each other is this client's part.
task<> check_many_at_once(rpc::connection over) {
  std::vector<join_handle<bool>> calls;
  for (std::size_t n = 0; n < 100; ++n) {
    calls.push_back(spawn([over, n]() -> task<bool> {
      const std::string text = text_of(n);
      const auto got = co_await judge::JUDGE_V1::client{over}.judge_echo(judge::content{text});
      co_return got && *got == text;
    }));
  }
  for (auto& each : calls) EXPECT_TRUE(co_await each.join());
}

task<> check_all(rpc::connection over) {
  co_await check_values(over, 300'001);
  co_await check_failures(over);
  co_await check_users(over);
  co_await check_many_at_once(over);
}

TEST_P(rpc_judges, are_understood_over_tcp) {
  call_judge("tcp", check_all);
}
TEST_P(rpc_judges, are_understood_over_a_unix_socket) {
  call_judge("unix", check_all);
}
TEST_P(rpc_judges, are_understood_over_udp) {
  call_judge("udp", [](rpc::connection over) -> task<> {
    co_await check_values(over, 8000);
    co_await check_failures(over);
    co_await check_users(over);
  });
}

/// rpcinfo, where tests/rpc/rpcinfo has found it: asks a server which versions of a program it has.
class rpcinfo : public rpc_judges {
 protected:
  static std::vector<std::string> question(const std::string& transport, std::uint16_t port) {
    const std::string where = "127.0.0.1." + std::to_string(port / 256) + "." + std::to_string(port % 256);
    return {std::getenv("TARTAN_RPCINFO"), "-a", where, "-T", transport, "400123"};
  }
};
std::vector<std::pair<std::string, std::uint16_t>> addresses_of(rpc::server& site) {
  return {{"tcp", site.listen("127.0.0.1:0").port()}, {"udp", site.listen_udp("127.0.0.1:0").port()}};
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(rpcinfo);
INSTANTIATE_TEST_SUITE_P(on, rpcinfo,
                         testing::ValuesIn(std::getenv("TARTAN_RPCINFO") != nullptr ? test::worker_counts()
                                                                                    : std::vector<unsigned>{}),
                         test::worker_name);

TEST_P(rpcinfo, finds_both_versions_of_a_program) {
  judge_service service;
  run([&]() -> task<> {
    rpc::programs all;
    all.add<judge::JUDGE_V1>(service).add<judge::JUDGE_V2>(service);
    rpc::server site{rt(), std::move(all)};
    const std::vector<std::pair<std::string, std::uint16_t>> places = addresses_of(site);
    for (const auto& [transport, port] : places) {
      process asking = started(question(transport, port));
      const std::string said = co_await output_of(asking);
      EXPECT_EQ(said,
                "program 400123 version 1 ready and waiting\n"
                "program 400123 version 2 ready and waiting\n")
          << transport;
      const auto end = co_await asking.wait();
      EXPECT_TRUE(end && end->success());
    }
    co_await site.close(std::chrono::seconds{10});
  });
}

}  // namespace
}  // namespace tartan
