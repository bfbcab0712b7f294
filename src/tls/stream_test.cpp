// Sealed streams: what is written comes out at the other end, whatever the network does.

#include <tartan/tls/stream.h>

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <tartan/core/in.h>
#include <tartan/core/yield.h>
#include <tartan/io/stream.h>
#include <tartan/time/with_timeout.h>

#include "tls/bare_peer_fixture.h"
#include "tls/connection_fixture.h"
#include "tls/context.h"
#include "tls/session.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using test::read_all;

static_assert(stream_of_bytes<tls::stream>);

class sealed_streams : public test::tls_ends {};
INSTANTIATE_TEST_SUITE_P(tls, sealed_streams, testing::Bool(), test::network_name);

std::string long_text(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t n = 0; n < bytes; ++n) text[n] = static_cast<char>('a' + n % 23);
  return text;
}

TEST_P(sealed_streams, carry_bytes_both_ways_at_the_same_time_and_end_each_by_itself) {
  tls::server to{serving()};
  tls::client from{trusting()};
  const std::string there = long_text(700'000);
  const std::string back = long_text(300'001);
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    EXPECT_TRUE(both.near && both.far);
    const auto send = [](tls::stream& by, const std::string& text) -> task<> {
      const result<std::size_t> sent = co_await by.write(text);
      EXPECT_EQ(sent.value(), text.size());
      EXPECT_TRUE(co_await by.shutdown_send());
    };
    std::error_code ended_near;
    std::error_code ended_far;
    const auto all = co_await when_all(send(*both.near, there), send(*both.far, back), read_all(*both.near, &ended_near), read_all(*both.far, &ended_far));
    EXPECT_EQ(std::get<2>(all), back);
    EXPECT_EQ(std::get<3>(all), there);
    EXPECT_EQ(ended_near, errc::end_of_stream);
    EXPECT_EQ(ended_far, errc::end_of_stream);
  });
}

TEST_P(sealed_streams, read_lines_and_exact_numbers_of_bytes_as_others_do) {
  tls::server to{serving()};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    const std::string_view first = "one\r\ntw";
    const std::string_view second = "o\nthree--four";
    const std::array parts{std::as_bytes(std::span{first}), std::span<const std::byte>{}, std::as_bytes(std::span{second})};
    EXPECT_EQ((co_await both.near->write(parts)).value(), first.size() + second.size());
    buf::chain lines;
    const result<buf::line> one = co_await both.far->read_line(lines, 100);
    EXPECT_EQ(one.value().length, 3u);
    EXPECT_EQ(lines.take_line(100).value().text(), "one");
    const result<buf::line> two = co_await both.far->read_line(lines, 100);
    EXPECT_EQ(two.value().whole, 4u);
    EXPECT_EQ(lines.take_line(100).value().text(), "two");
    const result<std::size_t> three = co_await both.far->read_until(lines, "--", 100);
    EXPECT_EQ(three.value(), 7u);
    EXPECT_EQ(lines.to_string().substr(0, 7), "three--");
    std::array<std::byte, 5> room{};
    EXPECT_TRUE(co_await both.near->write("12345678"));
    lines = {};
    EXPECT_EQ((co_await both.far->read_exactly(room)).value(), 5u);
    std::string text;
    EXPECT_EQ((co_await both.far->read_until(text, "8", 2)).error(), std::errc::message_size);
    EXPECT_EQ((co_await both.far->read_until(text, "8", 50)).value(), 3u);
  });
}

TEST_P(sealed_streams, take_what_goes_at_once_and_send_the_rest_by_themselves) {
  tls::server to{serving()};
  tls::client from{trusting()};
  const std::string text = long_text(2'000'000);
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    const auto send = [](tls::stream& by, std::string_view rest) -> task<> {
      while (!rest.empty()) {
        const result<std::size_t> went = by.try_write(rest);
        if (went) {
          EXPECT_LE(*went, 64u * 1024);
          rest.remove_prefix(*went);
        } else {
          EXPECT_EQ(went.error(), std::errc::operation_would_block);
          EXPECT_TRUE(co_await by.writable());
        }
      }
      EXPECT_TRUE(co_await by.shutdown_send());
    };
    const auto take = [](tls::stream& by) -> task<std::string> {
      std::string all;
      std::array<std::byte, 3000> room;
      for (;;) {
        const result<std::size_t> got = by.try_read_some(room);
        if (got) {
          all.append(reinterpret_cast<const char*>(room.data()), *got);
        } else if (got.error() == std::errc::operation_would_block) {
          EXPECT_TRUE(co_await by.readable());
        } else {
          EXPECT_EQ(got.error(), errc::end_of_stream);
          co_return all;
        }
      }
    };
    const auto all = co_await when_all(send(*both.near, text), take(*both.far));
    EXPECT_EQ(std::get<1>(all), text);
  });
}

// The server reads only: its alert has no write to go with.
TEST_P(sealed_streams, tell_a_peer_that_what_it_sends_cannot_be_opened) {
  tls::server_settings with = serving();
  with.ticket_life = {};  // tickets would be what the client reads
  tls::server to{with};
  const auto context = tls::detail::new_context(TLS_client_method());
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    tls::detail::owned<SSL> made{SSL_new(context.get())};
    SSL_set_connect_state(made.get());
    tls::detail::session client{std::move(made)};
    auto [served, shaken] = co_await when_all(to.accept(std::move(far)), test::bare_peer::shake_hands(client, near));
    const std::string_view no_record{"\x17\x03\x03\x00\x14 twenty bytes of text", 25};
    EXPECT_TRUE(co_await near.write(no_record));
    std::array<std::byte, 8> room;
    EXPECT_EQ((co_await served.value().read_some(room)).error(), tls::errc::protocol);
    EXPECT_EQ((co_await served.value().write("x")).error(), tls::errc::protocol) << "the first error stays";
    std::size_t got = 0;
    tls::detail::session::need next = tls::detail::session::need::input;
    while (next == tls::detail::session::need::input) {
      const bool goes_on = co_await test::bare_peer::receive(client, near);
      EXPECT_TRUE(goes_on);
      if (!goes_on) co_return;
      next = client.open(room, got);
    }
    EXPECT_EQ(next, tls::detail::session::need::error);
    EXPECT_EQ(client.error().category(), tls::alert_category()) << client.error().message();
  });
}

TEST_P(sealed_streams, tell_an_end_from_a_cut) {
  tls::server to{serving()};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    EXPECT_TRUE(co_await both.near->write("some"));
    EXPECT_TRUE(co_await both.near->under()->shutdown_send());
    std::error_code ended;
    const std::string came = co_await read_all(*both.far, &ended);
    EXPECT_EQ(came, "some");
    EXPECT_EQ(ended, tls::errc::truncated);
    EXPECT_EQ(ended.message(), "the connection was cut without a farewell under TLS");
    EXPECT_TRUE(co_await both.far->write("answer")) << "the other direction is whole";
    std::array<std::byte, 6> room;
    EXPECT_TRUE(co_await both.near->read_exactly(room));
  });
}

TEST_P(sealed_streams, do_nothing_before_the_handshake) {
  tls::server to{serving()};
  play([&](tcp::stream& /*near*/, tcp::stream& far) -> task<> {
    tls::stream made = to.begin(std::move(far));
    std::array<std::byte, 8> room;
    const std::error_code expected = std::make_error_code(std::errc::not_connected);
    EXPECT_EQ((co_await made.read_some(room)).error(), expected);
    EXPECT_EQ((co_await made.write("x")).error(), expected);
    EXPECT_EQ((co_await made.readable()).error(), expected);
    EXPECT_EQ((co_await made.writable()).error(), expected);
    EXPECT_EQ((co_await made.shutdown_send()).error(), expected);
    EXPECT_EQ(made.try_read_some(room).error(), expected);
    EXPECT_EQ(made.try_write("x").error(), expected);
  });
}

TEST_P(sealed_streams, read_on_after_they_have_ended_sending) {
  tls::server to{serving()};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    EXPECT_TRUE(co_await both.near->shutdown_send());
    for (int n = 0; n < 3; ++n) EXPECT_TRUE(co_await both.far->write("12345"));
    EXPECT_TRUE(co_await both.near->shutdown_send()) << "again";
    EXPECT_EQ((co_await both.near->write("x")).error(), std::errc::broken_pipe);
    EXPECT_EQ(both.near->try_write("x").error(), std::errc::broken_pipe);
    std::array<std::byte, 15> room;
    EXPECT_EQ((co_await both.near->read_exactly(room)).value(), 15u);
  });
}

TEST_P(sealed_streams, end_all_reads_when_they_are_canceled) {
  tls::server to{serving()};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    const auto read = [&]() -> task<std::error_code> {
      std::array<std::byte, 8> room;
      co_return (co_await both.far->read_some(room)).error();
    };
    const auto cancel = [&]() -> task<> {
      both.far->cancel();
      co_return;
    };
    const auto all = co_await when_all(read(), read(), read(), cancel());
    EXPECT_EQ(std::get<0>(all), errc::canceled);
    EXPECT_EQ(std::get<1>(all), errc::canceled);
    EXPECT_EQ(std::get<2>(all), errc::canceled);
    EXPECT_TRUE(co_await both.near->write("still there"));
    std::array<std::byte, 11> room;
    EXPECT_TRUE(co_await both.far->read_exactly(room));
  });
}

// Nobody knows how much of it has gone.
TEST_P(sealed_streams, are_broken_by_a_write_that_is_canceled) {
  tls::server to{serving()};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    const std::string much = long_text(20'000'000);
    EXPECT_EQ((co_await with_timeout(20ms, both.near->write(much))).error(), errc::timed_out);
    std::array<std::byte, 8> room;
    EXPECT_EQ((co_await both.near->read_some(room)).error(), std::errc::connection_aborted);
    EXPECT_EQ((co_await both.near->write("x")).error(), std::errc::connection_aborted);
  });
}

TEST_P(sealed_streams, may_be_destroyed_in_another_color) {
  tls::server to{serving()};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    auto elsewhere = std::make_unique<tls::stream>(*std::move(both.far));
    const auto read = [](tls::stream& by) -> task<std::error_code> {
      std::array<std::byte, 8> room;
      co_return (co_await by.read_exactly(room)).error();
    };
    auto waits = spawn_in(test::where, read, std::ref(*elsewhere));
    co_await yield();
    co_await in(color{8}, [&] { elsewhere.reset(); });
    EXPECT_EQ(co_await waits.join(), errc::closed);
  });
}

TEST_P(sealed_streams, may_move_while_a_coroutine_reads_from_them) {
  tls::server to{serving()};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    std::array<std::byte, 8> room;
    tls::stream moved;
    const auto read = [&]() -> task<result<std::size_t>> { co_return co_await both.far->read_exactly(room); };
    const auto move_and_write = [&]() -> task<> {
      EXPECT_TRUE(co_await both.near->write("1234"));
      moved = *std::move(both.far);
      EXPECT_TRUE(co_await both.near->write("5678"));
    };
    const auto got = co_await when_all(read(), move_and_write());
    EXPECT_EQ(std::get<0>(got).value(), 8u);
  });
}

TEST_P(sealed_streams, end_what_waits_when_they_are_closed_or_destroyed_or_canceled) {
  tls::server to{serving()};
  tls::client from{trusting()};
  int how = 0;
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        ends both = co_await seal(from, to, std::move(near), std::move(far));
        const auto wait = [](tls::stream& by) -> task<std::error_code> {
          std::array<std::byte, 8> room;
          co_return (co_await by.read_some(room)).error();
        };
        auto waits = spawn_in(test::where, wait, std::ref(*both.far));
        co_await yield();
        if (how == 0) both.far->close();
        if (how == 1) both.far = result<tls::stream>{tls::stream{}};
        if (how == 2) both.far->cancel();
        const std::error_code ended = co_await waits.join();
        EXPECT_EQ(ended, how == 2 ? make_error_code(errc::canceled) : make_error_code(errc::closed)) << how;
        if (how == 2) {
          EXPECT_TRUE(co_await both.near->write("still there"));
          std::array<std::byte, 11> room;
          EXPECT_TRUE(co_await both.far->read_exactly(room));
        }
        ++how;
      },
      3);
}

// A client's and a server's secrets are all that is drawn at random.
TEST(sealed_streams_of_a_simulation, have_secrets_from_its_seed) {
  test::authority by;
  const tls::identity own = by.identity("DNS:example.org");
  const auto secrets = [&](std::uint64_t seed) {
    tls::server_settings serving;
    serving.identities = {own};
    tls::client_settings trusting;
    trusting.authorities = by.file();
    trusting.key_log = by.path("secrets");
    std::filesystem::remove(trusting.key_log);
    tls::server to{serving};
    tls::client from{trusting};
    simulation world{{.seed = seed}};
    options with;
    with.workers = 1;
    with.poller = world.poller();
    runtime rt{with};
    rt.spawn_in(test::where, [&]() -> task<> {
        auto door = tcp::listen(rt, "127.0.0.1:0", {.color = test::where});
        auto near = co_await tcp::connect(door.local_address().value());
        auto far = co_await door.accept(test::where);
        const auto both = co_await when_all(from.connect(std::move(*near), "example.org"), to.accept(std::move(*far)));
        EXPECT_TRUE(std::get<0>(both) && std::get<1>(both));
      }).detach();
    rt.run_until_idle();
    std::ifstream log{trusting.key_log};
    return std::string{std::istreambuf_iterator<char>{log}, {}};
  };
  const std::string first = secrets(5);
  EXPECT_NE(first.find("CLIENT_HANDSHAKE_TRAFFIC_SECRET"), std::string::npos);
  EXPECT_EQ(first, secrets(5));
  EXPECT_NE(first, secrets(6));
}

TEST_P(sealed_streams, serve_a_function_that_takes_any_stream) {
  tls::server to{serving()};
  tls::client from{trusting()};
  const auto echo = [](any_stream peer) -> task<> {
    std::string line;
    const result<std::size_t> got = co_await peer.read_until(line, "\n", 100);
    EXPECT_TRUE(got);
    EXPECT_TRUE(co_await peer.write(line));
    EXPECT_TRUE(co_await peer.shutdown_send());
  };
  bool is_sealed = false;
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        any_stream asks = std::move(near);
        any_stream answers = std::move(far);
        if (is_sealed) {
          ends both = co_await seal(from, to, std::move(asks), std::move(answers));
          asks = any_stream{*std::move(both.near)};
          answers = any_stream{*std::move(both.far)};
        }
        EXPECT_EQ(asks.as<tls::stream>() != nullptr, is_sealed);
        const auto ask = [](any_stream& by) -> task<std::string> {
          EXPECT_TRUE(co_await by.write("hello\n"));
          co_return co_await read_all(by);
        };
        const auto all = co_await when_all(ask(asks), echo(std::move(answers)));
        EXPECT_EQ(std::get<0>(all), "hello\n");
        is_sealed = true;
      },
      2);
}

}  // namespace
}  // namespace tartan
