// Authentication, streams that are replaced under a live connection, and descriptors that travel with messages.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <tartan/core/yield.h>

#include "rpc/message.h"
#include "rpc/rpc_fixture.h"

namespace tartan::rpc {
namespace {

using test::kiosk_v1;
using rpc_upgrades = test::with_connection;
INSTANTIATE_TEST_SUITE_P(on, rpc_upgrades, testing::ValuesIn(tartan::test::both_machines()), tartan::test::place_name);

/// As a handshake: the client speaks first.
task<result<any_stream>> begin_handshake(any_stream plain) {
  const result<std::size_t> sent = co_await plain.write("client\n");
  std::string heard;
  const result<std::size_t> got = co_await plain.read_until(heard, "\n", 100);
  EXPECT_TRUE(sent && got);
  EXPECT_EQ(heard, "server\n");
  co_return plain;
}
/// Anything else than the client's line fails, at its first wrong byte.
task<result<any_stream>> end_handshake(any_stream plain) {
  const std::string_view expected = "client\n";
  std::string heard;
  while (heard.size() < expected.size()) {
    std::array<char, 1> next{};
    const result<std::size_t> got = co_await plain.read_some(next);
    if (!got) co_return got.error();
    heard.push_back(next[0]);
    if (!expected.starts_with(heard)) co_return std::make_error_code(std::errc::protocol_error);
  }
  const result<std::size_t> sent = co_await plain.write("server\n");
  if (!sent) co_return sent.error();
  co_return plain;
}

/// AUTH_TLS, with that handshake.
authentication on_tls_flavor(const call_info& info) {
  authentication decided;
  if (info.credentials.flavor != auth_flavor::tls) return decided;
  for (const char each : std::string_view{"STARTTLS"}) decided.verifier.body.push_back(static_cast<std::byte>(each));
  decided.upgrade = end_handshake;
  return decided;
}

call_options with_flavor(std::uint32_t flavor) {
  call_options with;
  with.credentials.flavor = flavor;
  return with;
}

TEST_P(rpc_upgrades, replace_the_stream_between_two_messages) {
  with.authenticate = on_tls_flavor;
  play([&](connection& client, connection&) -> task<> {
    EXPECT_TRUE(co_await client.call<kiosk_v1::null>());
    opaque_auth verifier;
    call_options ask = with_flavor(auth_flavor::tls);
    ask.reply_verifier = &verifier;
    EXPECT_TRUE(co_await client.call_with<kiosk_v1::null>(std::move(ask)));
    EXPECT_EQ(verifier.body.size(), 8u);
    stream_upgrade how = begin_handshake;
    EXPECT_TRUE(co_await client.replace_stream(std::move(how)));
    const auto back = co_await client.call<kiosk_v1::echo>(xdr::data<>{"sealed"});
    EXPECT_EQ(back.value(), "sealed");
  });
}

TEST_P(rpc_upgrades, send_what_is_called_meanwhile_on_the_new_stream) {
  with.authenticate = on_tls_flavor;
  play([&](connection& client, connection&) -> task<> {
    EXPECT_TRUE(co_await client.call_with<kiosk_v1::null>(with_flavor(auth_flavor::tls)));
    bool is_called = false;
    stream_upgrade how = [&](any_stream plain) -> task<result<any_stream>> {
      client.call_back<kiosk_v1::echo>(
          [&](result<xdr::data<>> got) {
            EXPECT_EQ(got.value(), "x");
            is_called = true;
          },
          {}, xdr::data<>{"x"});
      co_await tartan::yield();
      co_await tartan::yield();
      co_return co_await begin_handshake(std::move(plain));
    };
    EXPECT_TRUE(co_await client.replace_stream(std::move(how)));
    co_await until([&] { return is_called; });
  });
}

TEST_P(rpc_upgrades, end_the_connection_at_bytes_that_came_before_its_answer) {
  with.authenticate = on_tls_flavor;
  play([&](connection& client, connection& server) -> task<> {
    // A second call is on its way before the first is answered: it could come from anybody, and must not run in the sealed stream.
    client.call_back<kiosk_v1::null>([](result<>) {}, with_flavor(auth_flavor::tls));
    client.call_back<kiosk_v1::echo>([](result<xdr::data<>> got) { EXPECT_FALSE(got); }, {}, xdr::data<>{"injected"});
    const std::error_code why = co_await server.ended();
    // They came with the first call, or a moment later, and then they are no handshake.
    EXPECT_TRUE(why == errc::malformed || why == std::errc::protocol_error) << why.message();
    EXPECT_EQ(served.calls, 0);
  });
}

TEST_P(rpc_upgrades, end_the_connection_if_the_upgrade_fails) {
  play([&](connection& client, connection&) -> task<> {
    stream_upgrade how = [](any_stream) -> task<result<any_stream>> {
      co_return std::make_error_code(std::errc::protocol_error);
    };
    const auto replaced = co_await client.replace_stream(std::move(how));
    EXPECT_EQ(replaced.error(), std::errc::protocol_error);
    EXPECT_EQ(co_await client.ended(), std::errc::protocol_error);
  });
}

TEST_P(rpc_upgrades, run_no_procedure_for_credentials_that_are_refused) {
  with.authenticate = [](const call_info& info) {
    authentication decided;
    const result<sys_credentials> who = sys_credentials_of(info.credentials);
    if (!who || who->user != 1000) decided.status = auth_status::too_weak;
    return decided;
  };
  play([&](connection& client, connection&) -> task<> {
    refusal why;
    call_options nobody;
    nobody.why = &why;
    const auto refused = co_await client.call_with<kiosk_v1::echo>(std::move(nobody), xdr::data<>{"x"});
    EXPECT_EQ(refused.error(), errc::authentication);
    EXPECT_EQ(why.status, auth_status::too_weak);
    EXPECT_EQ(served.calls, 0);
    call_options user;
    user.credentials = to_auth({.stamp = 1, .machine = "here", .user = 1000, .group = 100, .groups = {4, 27}});
    const auto back = co_await client.call_with<kiosk_v1::echo>(std::move(user), xdr::data<>{"x"});
    EXPECT_TRUE(back);
    EXPECT_EQ(served.calls, 1);
  });
}

/// Answers with a descriptor, and keeps those that come.
struct passing : test::with_connection {
  /// Of the inode behind each descriptor, so that copies are known.
  static ino_t inode_of(int descriptor) {
    struct stat about{};
    EXPECT_EQ(::fstat(descriptor, &about), 0);
    return about.st_ino;
  }
  static tartan::detail::file_descriptor opened(const char* path) {
    return tartan::detail::file_descriptor{::open(path, O_RDONLY | O_CLOEXEC)};
  }
};
using rpc_descriptors = passing;
INSTANTIATE_TEST_SUITE_P(on, rpc_descriptors, testing::ValuesIn(tartan::test::places_on(tartan::test::machine::kernel)),
                         tartan::test::place_name);

TEST_P(rpc_descriptors, travel_with_the_messages_they_belong_to) {
  with.passes_descriptors = true;
  const ino_t null = inode_of(opened("/dev/null").get());
  const ino_t zero = inode_of(opened("/dev/zero").get());
  in_color([&]() -> task<> {
    auto ends = local::pair(rt(), test::here_color, test::here_color);
    auto all = std::make_shared<programs>();
    all->add(400123, 1, [&](call&& c) {
      descriptors back;
      for (auto& each : c.passed()) back.push_back(std::move(each));
      reply_token to = c.take_answer();
      to.success(buf::chain{}, std::move(back));
    });
    const connection client{any_stream{std::move(ends->first)}, with};
    const connection server{any_stream{std::move(ends->second)}, with, all};
    std::vector<join_handle<>> calls;
    for (int n = 0; n < 20; ++n) {
      calls.push_back(spawn_in(test::here_color, [&, n]() -> task<> {
        descriptors back;
        call_options these;
        these.returned = &back;
        if (n % 3 != 0) these.passed.push_back(opened("/dev/null"));
        if (n % 3 == 2) these.passed.push_back(opened("/dev/zero"));
        EXPECT_TRUE(co_await client.call_with<kiosk_v1::null>(std::move(these)));
        EXPECT_EQ(back.size(), static_cast<std::size_t>(n % 3));
        if (!back.empty()) {
          EXPECT_EQ(inode_of(back.front().get()), null);
        }
        if (back.size() == 2) {
          EXPECT_EQ(inode_of(back.back().get()), zero);
        }
      }));
    }
    for (auto& each : calls) co_await each.join();
  });
}

TEST_P(rpc_descriptors, that_are_announced_and_do_not_come_end_the_connection) {
  with.passes_descriptors = true;
  in_color([&]() -> task<> {
    auto ends = local::pair(rt(), test::here_color, test::here_color);
    const connection server{any_stream{std::move(ends->second)}, with, all()};
    buf::chain message;
    write(message, call_header{.xid = 7, .program = 400123, .version = 1});
    const std::string flat = message.to_string();
    const std::string mark{'\x80', '\0', '\0', static_cast<char>(flat.size())};
    EXPECT_TRUE(co_await ends->first.write(std::string(4, '\0') + mark + flat));
    EXPECT_EQ(co_await server.ended(), errc::malformed);
  });
}

}  // namespace
}  // namespace tartan::rpc
