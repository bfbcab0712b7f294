/// Who comes to a full house, where the others speak TLS, or are far too many.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "web/server_fixture.h"
#include "tests/web/failing_disk.h"
#include "tests/web/failing_memory.h"
#include "web/tls_client_fixture.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::a_server;
using test::get;
using test::heard;
using test::pass;
using test::rest_of;
using test::send;

class a_full_house : public a_server {
 protected:
  /// The first byte of what comes.
  [[nodiscard]] static tartan::task<bool> is_answered_within(tartan::tcp::stream& from, std::chrono::milliseconds limit) {
    std::array<std::byte, 1> first;
    const auto got = co_await tartan::with_timeout(limit, from.read_exactly(first));
    co_return got.has_value();
  }
};
INSTANTIATE_TEST_SUITE_P(on, a_full_house, testing::Values(1u, 2u, 4u));

TEST_P(a_full_house, that_is_far_too_full_since_a_reload_has_room_for_the_next_one_soon) {
  with_.max_connections = 300;
  settings next = with_;
  next.max_connections = 2;
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    const auto at = *c.peer_address();
    std::vector<tartan::tcp::stream> others;
    for (int n = 0; n < 250; ++n) {
      auto other = co_await tartan::tcp::connect(at);
      others.push_back(std::move(*other));
    }
    co_await pass(2s);
    std::function<settings()> read = [&next] { return next; };  // gcc 12 destroys a temporary in a co_await twice
    auto running = tartan::spawn(s.reload(std::move(read)));
    co_await running.join();
    auto last = co_await tartan::tcp::connect(at);
    co_await send(*last, get("/page"));
    const bool is_answered = co_await is_answered_within(*last, 300ms);  // it is asked for who may go after 100
    EXPECT_TRUE(is_answered);
    for (int n = 0; n < 250; ++n) co_await rest_of(others[static_cast<std::size_t>(n)]);
  });
}

TEST_P(a_full_house, that_ends_answers_who_waits_for_a_place) {
  with_.max_connections = 1;
  for (const std::chrono::milliseconds waited : {50ms, 99ms, 100ms, 101ms, 150ms}) {  // after 100 it asks who may go
    for (const bool is_left : {false, true}) {
      play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
        auto other = co_await tartan::tcp::connect(*c.peer_address());
        co_await send(*other, "DELETE /page HTTP/1.1\r\nHost: a\r\n\r\n");  // needs no disk
        co_await pass(waited);
        drain(s);
        if (is_left) c.close();
        const auto all = co_await tartan::with_timeout(20ms, rest_of(*other));
        EXPECT_TRUE(all && all->text.starts_with("HTTP/1.1 405 ") && all->end == tartan::errc::end_of_stream) << waited.count();
        if (is_left) co_return;
        co_await send(c, get("/page"));  // it came first, and has a second as well
        EXPECT_TRUE((co_await rest_of(c)).text.ends_with("a page")) << waited.count();
      });
    }
  }
}

class a_full_house_of_one_worker : public a_full_house {};
INSTANTIATE_TEST_SUITE_P(on, a_full_house_of_one_worker, testing::Values(1u));

/// What coroutines live in comes from areas of 1 MiB. With the present one used up, the next one, which fails here, is needed by those with
/// which the door waits.
#if !defined(__clang__)  // whose frames, larger without optimization, find room in what a connection's have left: then there is nothing that could fail
TEST_P(a_full_house_of_one_worker, gives_up_who_comes_if_there_is_no_memory_to_make_room) {
  with_.max_connections = 1;
  for (const std::size_t which : {std::size_t{0}, test::failing_memory::never}) {
    std::size_t asked = 0;
    testing::internal::CaptureStderr();
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      const auto at = *c.peer_address();
      co_await pass(2s);
      {
        test::use_up_frames();
        const test::failing_memory fails{test::allocations::of_areas(), which};
        auto other = co_await tartan::tcp::connect(at);
        co_await pass(2s);
        asked = fails.count();
      }
      auto next = co_await tartan::tcp::connect(at);
      co_await send(*next, get("/page"));
      const bool is_answered = co_await is_answered_within(*next, 10s);
      EXPECT_TRUE(is_answered) << which;
    });
    EXPECT_NE(asked, 0u);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), which == 0 ? "tartan-web: connections that had to be given up: 1 (std::bad_alloc)\n" : "");
  }
}
#else
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(a_full_house_of_one_worker);
#endif

/// One that speaks TLS, whose clients read nothing before they are told to.
class a_full_house_with_tls : public a_full_house {
 protected:
  static constexpr std::size_t buffer = 20'000;
  static constexpr std::size_t farewell = 23;  // bytes of a record that says that nothing more comes, at least

  a_full_house_with_tls() {
    test::use_tls(with_, folder_.path());
    with_.times.idle = with_.times.write = with_.times.header = 1h;
    network_.partial_percent = 0;
    network_.stream_buffer = buffer;
  }

  void set_page(std::size_t bytes) {
    size_ = bytes;
    write("page", std::string(bytes, 'x'));
  }

  /// All that comes for the page, and how it ends. `meanwhile`: before the client reads any of it.
  heard get_page(const std::string& fields, const std::function<tartan::task<>(tartan::address)>& meanwhile) {
    heard all;
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      test::tls_client client{c};
      co_await client.handshake();
      co_await pass(1s);  // who has just come is not asked to go
      co_await client.send(get("/page", fields));
      co_await meanwhile(*c.peer_address());
      all = co_await rest_of(c);
      sealed_ = all.text.size();
      all.text = client.open(all.text, is_ended_);
    });
    return all;
  }

  /// Of such a size that its answer fits what the network keeps, and the farewell does not.
  void set_page_that_fills_the_buffer(const std::string& fields) {
    with_.max_connections = 2;
    with_.times.idle = 1s;
    set_page(buffer - 1'000);
    get_page(fields, [](tartan::address) -> tartan::task<> { co_return; });
    EXPECT_TRUE(is_ended_);
    set_page(size_ + buffer - (sealed_ - farewell) - farewell / 2);
    with_.times.idle = 1h;
  }

  void expect_whole(const heard& all) const {
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
    EXPECT_EQ(static_cast<std::size_t>(std::count(all.text.begin(), all.text.end(), 'x')), size_);
  }

  const test::files_changed long_ago_{-60s};  // the tag is always as long
  std::size_t size_ = 0;
  std::size_t sealed_ = 0;  ///< bytes that came
  bool is_ended_ = false;   ///< with a farewell
};
INSTANTIATE_TEST_SUITE_P(on, a_full_house_with_tls, testing::Values(1u, 2u, 4u));

TEST_P(a_full_house_with_tls, does_not_wait_for_who_takes_no_farewell) {
  const std::pair<std::string, std::chrono::milliseconds> cases[] = {
      {"", 2s},  // it is asked to go, as it is idle
      {"Connection: close\r\n", 200ms},  // the server's farewell has begun, and is cut short
      {"Connection: close\r\n", 2s},     // and has taken too long already
  };
  for (const auto& [fields, later] : cases) {
    set_page_that_fills_the_buffer(fields);
    with_.max_connections = 1;
    const heard all = get_page(fields, [&](tartan::address at) -> tartan::task<> {
      co_await pass(later);
      auto next = co_await tartan::tcp::connect(at);
      test::tls_client waits{*next};
      co_await waits.begin_handshake();
      const bool is_answered = co_await is_answered_within(*next, 500ms);
      EXPECT_TRUE(is_answered) << fields << later.count();
    });
    expect_whole(all);
    EXPECT_FALSE(is_ended_) << "there was no room for it";
  }
}

tartan::task<std::string> next_answer(tartan::tcp::stream& c, test::tls_client& client) {
  co_await client.send(get("/short"));
  std::string came;
  while (came.find("a short one") == std::string::npos) {
    std::array<std::byte, 5000> room;
    const auto got = co_await c.read_some(room);
    if (!got) break;
    bool is_ended = false;
    came += client.open({reinterpret_cast<const char*>(room.data()), *got}, is_ended);
  }
  co_return came;
}

TEST_P(a_full_house_with_tls, rather_ends_a_farewell_than_a_conversation) {
  set_page_that_fills_the_buffer("Connection: close\r\n");
  write("short", "a short one");
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    test::tls_client busy{c};
    co_await busy.handshake();
    auto other = co_await tartan::tcp::connect(*c.peer_address());
    test::tls_client reads_nothing{*other};
    co_await reads_nothing.handshake();
    co_await reads_nothing.send(get("/page", "Connection: close\r\n"));
    std::optional<tartan::tcp::stream> next;
    for (int tenths = 0; tenths < 20; ++tenths) {
      const std::string came = co_await next_answer(c, busy);
      EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ") && came.find("Connection: close") == std::string::npos) << tenths << came;
      co_await pass(100ms);
      if (tenths != 11) continue;
      next.emplace(*co_await tartan::tcp::connect(*c.peer_address()));
      test::tls_client waits{*next};
      co_await waits.begin_handshake();
    }
    const bool is_answered = co_await is_answered_within(*next, 1ms);
    EXPECT_TRUE(is_answered);
  });
}

/// It took longer than the server lingers, counted from the answer.
TEST_P(a_full_house_with_tls, lingers_behind_a_farewell_that_took_long) {
  set_page_that_fills_the_buffer("Connection: close\r\n");
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    test::tls_client client{c};
    co_await client.handshake();
    co_await pass(1s);
    co_await client.send(get("/page", "Connection: close\r\n"));
    co_await pass(40s);
    heard all = co_await rest_of(c);
    for (int n = 0; n < 3; ++n) {  // what comes late is not answered with a reset
      co_await pass(500ms);
      const auto sent = co_await c.write("x");
      EXPECT_TRUE(sent) << n;
    }
    all.text = client.open(all.text, is_ended_);
    expect_whole(all);
    EXPECT_TRUE(is_ended_);
  });
}

TEST_P(a_full_house_with_tls, says_farewell_to_who_reads_late_if_nobody_waits) {
  set_page_that_fills_the_buffer("Connection: close\r\n");
  const heard all = get_page("Connection: close\r\n", [](tartan::address) -> tartan::task<> { co_await pass(10s); });
  expect_whole(all);
  EXPECT_TRUE(is_ended_);
}

}  // namespace
}  // namespace web
