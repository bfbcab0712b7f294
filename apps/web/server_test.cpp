/// The server as a whole: beginnings, ends, limits; what it does when a call fails.
#include "web/server_fixture.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "tests/web/failing_disk.h"
#include "tests/web/failing_memory.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::a_server;
using test::ask_for_page;
using test::get;
using test::head_from;
using test::hear;
using test::heard;
using test::pass;
using test::reload;
using test::rest_of;
using test::send;

INSTANTIATE_TEST_SUITE_P(on, a_server, testing::Values(1u, 2u, 4u));

TEST_P(a_server, that_closes_loses_nothing_to_bytes_that_come_late) {
  for (const std::size_t largest : {large - 1, large}) {  // from the disk, and from memory
    with_.pages.largest_page = largest;
    play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
      co_await send(c, "HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n");  // then it is in memory, if it may be
      std::string came = co_await head_from(c);
      co_await send(c, get("/large", "Connection: close\r\n"));
      came = co_await head_from(c);
      co_await send(c, "\r\n");
      co_await pass(1s);  // it is there
      const heard all = co_await rest_of(c);
      EXPECT_EQ(came.append(all.text).size(), came.find("\r\n\r\n") + 4 + large);
      EXPECT_EQ(all.end, tartan::errc::end_of_stream);
    });
  }
}

TEST_P(a_server, that_ends_loses_nothing_to_a_request_that_comes_late) {
  play([this](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await send(c, get("/large"));
    std::string came = co_await head_from(c);
    co_await send(c, get("/page"));
    co_await pass(1s);
    drain(s);
    co_await pass(1s);
    const heard all = co_await rest_of(c);
    came += all.text;
    EXPECT_EQ(static_cast<std::size_t>(std::count(came.begin(), came.end(), 'x')), large);
    EXPECT_TRUE(came.ends_with("a page"));
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  });
}

TEST_P(a_server, that_ends_while_nothing_is_asked_loses_nothing_of_the_answer_before) {
  play([this](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await send(c, get("/page"));
    std::array<std::byte, 1> first;
    EXPECT_TRUE(co_await c.read_exactly(first));
    co_await pass(1s);  // it has answered, and waits
    drain(s);
    co_await pass(10ms);
    co_await send(c, get("/page"));
    co_await pass(10ms);
    const heard all = co_await rest_of(c);
    EXPECT_TRUE(all.text.ends_with("a page")) << all.text;
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  });
}

TEST_P(a_server, knows_what_time_it_is_when_it_has_written) {
  with_.pages.recheck = 500ms;
  with_.pages.largest_page = large;  // nothing comes from the disk while time counts
  network_.partial_percent = 0;      // it reads both requests at once
  play([this](tartan::tcp::stream& c, server&) -> tartan::task<> {
    std::string came;
    co_await send(c, get("/large") + get("/page"));
    co_await hear(c, came, "a page");
    co_await send(c, get("/large") + get("/page", "Connection: close\r\n"));
    came = co_await head_from(c);
    co_await pass(3s);
    write("page", "another");
    EXPECT_TRUE((co_await rest_of(c)).text.ends_with("another"));
  });
}

TEST_P(a_server, gives_its_time_for_each_piece_of_a_page) {
  constexpr std::size_t size = 1 << 20;
  write("page", std::string(size, 'x'));
  with_.pages.cache.bytes = std::size_t{1} << 30;  // that is a page of its own then, if it may be that large
  with_.times.write = 1s;
  for (const std::size_t largest : {size, size - 1}) {
    with_.pages.largest_page = largest;
    play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
      co_await send(c, get("/page"));
      std::string came = co_await head_from(c);
      std::size_t left = came.find("\r\n\r\n") + 4 + size - came.size();
      for (std::string room(32 * 1024, ' '); left > 0;) {
        room.resize(std::min(room.size(), left));
        const auto got = co_await c.read_exactly(std::as_writable_bytes(std::span{room}));
        EXPECT_TRUE(got) << got.error() << ", " << left << " bytes are missing";
        if (!got) break;
        left -= *got;
        co_await pass(100ms);
      }
    });
  }
}

TEST_P(a_server, lets_an_upload_that_it_has_refused_read_the_answer) {
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const std::string body(5'000'000, 'x');
    co_await send(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n");
    EXPECT_TRUE(co_await c.write(body));
    EXPECT_TRUE(c.shutdown_send());
    const heard all = co_await rest_of(c);
    EXPECT_TRUE(all.text.starts_with("HTTP/1.1 413 "));
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  });
}

TEST_P(a_server, does_not_drop_bytes_for_ever) {
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await send(c, "no request\r\n");
    std::string came = co_await head_from(c);
    int seconds = 0;
    for (; seconds < 100 && co_await c.write("x"); ++seconds) co_await pass(1s);
    EXPECT_GE(seconds, 30);
    EXPECT_LE(seconds, 33);
  });
}

TEST_P(a_server, does_not_listen_long_to_who_speaks_no_tls) {
  write("make", "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=a -keyout key -out certificate >made 2>&1");
  ASSERT_EQ(std::system(("cd '" + folder_.path().string() + "' && sh make").c_str()), 0);
  with_.hosts[0].certificate = folder_ / "certificate";
  with_.hosts[0].key = folder_ / "key";
  with_.listen.clear();
  with_.listen_tls = {"127.0.0.1:0"};
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await send(c, "no TLS at all\r\n");
    int heard = 0;
    for (; heard < 100 && co_await c.write("x"); ++heard) co_await pass(100ms);
    EXPECT_LE(heard, 20);
  });
}

/// The clock and the bytes come at about the same time: whichever is first, the client hears that it was too slow.
TEST_P(a_server, ends_a_head_that_goes_on_when_its_time_is_up) {
  network_.least_latency = network_.most_latency = 1ms;
  with_.times.header = 1s;
  for (auto late = -2ms + 0us; late < 4ms; late += 100us) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      co_await send(c, "GET / HTTP/1.1\r\n");
      co_await pass(1s + late);
      co_await send(c, "Host: a\r\n");
      const auto heard_in_time = co_await tartan::with_timeout(1s, rest_of(c));
      EXPECT_TRUE(heard_in_time && heard_in_time->text.starts_with("HTTP/1.1 408 ")) << late.count();
    });
  }
}

TEST_P(a_server, that_ends_waits_a_second_for_who_has_just_come) {
  for (const bool in_time : {true, false}) {
    play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
      co_await pass(1s);
      drain(s);
      co_await pass(in_time ? 900ms : 1100ms);
      co_await send(c, "DELETE /page HTTP/1.1\r\nHost: a\r\n\r\n");  // needs no disk
      const std::string text = (co_await rest_of(c)).text;
      EXPECT_EQ(text.starts_with("HTTP/1.1 405 "), in_time) << text;
      EXPECT_EQ(text.find("\r\nConnection: close\r\n") != std::string::npos, in_time) << text;
    });
  }
}

TEST_P(a_server, that_ends_waits_a_second_for_a_head_that_has_begun) {
  for (const bool in_time : {true, false}) {
    play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
      const std::string asked = "DELETE /page HTTP/1.1\r\nHost: a\r\n\r\n";  // needs no disk
      co_await send(c, asked.substr(0, 20));
      co_await pass(1s);
      drain(s);
      co_await pass(in_time ? 900ms : 1100ms);
      co_await send(c, asked.substr(20));
      const std::string text = (co_await rest_of(c)).text;
      EXPECT_TRUE(text.starts_with(in_time ? "HTTP/1.1 405 " : "HTTP/1.1 408 ")) << text;
    });
  }
}

TEST_P(a_server, that_ends_tells_how_many_it_cuts_off) {
  for (const std::chrono::milliseconds limit : {0ms, 500ms, 2000ms}) {
    for (const bool is_answered : {true, false}) {
      with_.times.drain = limit;
      testing::internal::CaptureStderr();
      play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
        auto silent = co_await tartan::tcp::connect(*c.peer_address());  // who asks nothing is not counted
        co_await send(c, get(is_answered ? "/page" : "/large"));
        std::string came = co_await head_from(c);
        if (is_answered) co_await hear(c, came, "a page");
        drain(s);
        co_await pass(limit + 1s);
        const heard rest = co_await rest_of(c);
        came.append(rest.text);
        if (is_answered) {
          EXPECT_TRUE(came.ends_with("a page") && rest.end == tartan::errc::end_of_stream) << limit.count();
        } else {
          EXPECT_LT(came.size(), large) << limit.count();
        }
      });
      const char* const said = is_answered ? "" : "tartan-web: the time to drain was over before all was answered: connections that were cut off: 1\n";
      EXPECT_EQ(testing::internal::GetCapturedStderr(), said) << limit.count();
    }
  }
}

/// It asks whom it cuts off: a list of those, and one of what they say.
TEST_P(a_server, that_ends_without_memory_cuts_off_all_the_same) {
  with_.times.drain = 2s;
  for (const std::size_t others : {0u, 1u}) {
    std::size_t allocations = 0;
    testing::internal::CaptureStderr();
    play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
      co_await send(c, get("/large"));
      std::string came = co_await head_from(c);
      drain(s);
      co_await pass(1999ms);
      auto until_then = pass(500ms);
      {
        const test::failing_memory fails{{}, others};
        co_await std::move(until_then);
        allocations = fails.count();
      }
      EXPECT_LT(came.append((co_await rest_of(c)).text).size(), large);
    });
    EXPECT_GT(allocations, others);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
}

TEST_P(a_server, answers_what_the_disk_refuses_and_goes_on) {
  for (const char* name : {"0", "1", "2"}) write(name, "a page");
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const std::pair<test::disk_call, int> failures[] = {
        {test::disk_call::openat2, EMFILE}, {test::disk_call::fstat, EIO}, {test::disk_call::pread, EIO}};
    for (const auto& [call, error] : failures) {
      const test::failing_disk fails{call, error};
      const std::string path = "/" + std::to_string(static_cast<unsigned>(call));  // new to the server
      for (const bool refused : {true, false}) {
        co_await send(c, get(path));
        std::string came = co_await head_from(c);
        EXPECT_TRUE(came.starts_with(!refused ? "HTTP/1.1 200 " : error == EMFILE ? "HTTP/1.1 503 " : "HTTP/1.1 500 ")) << came;
        co_await hear(c, came, !refused ? "a page" : error == EMFILE ? "Unavailable\n" : "Error\n");
      }
    }
  });
}

TEST_P(a_server, sends_its_own_page_for_an_error) {
  write("sorry.html", "sorry!");
  const test::files_changed old{-60s};  // so that it has a tag
  with_.hosts[0].error_pages = {{http::status::not_found, "/sorry.html"}, {http::status::unavailable, "/large"}, {http::status::forbidden, "/nothing"}};
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const std::string head = "HTTP/1.1 404 Not Found\r\nServer: tartan\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 6\r\nDate: ";
    for (const char* fields : {"", "If-None-Match: *\r\n", "Range: bytes=0-1\r\n"}) {
      std::string came;
      co_await send(c, get("/nothing", fields));
      co_await hear(c, came, "sorry!");
      EXPECT_TRUE(came.starts_with(head)) << came;
      EXPECT_EQ(came.find("ETag"), std::string::npos);
      EXPECT_EQ(came.find("Last-Modified"), std::string::npos);
    }
    std::string came;
    co_await send(c, "HEAD /nothing HTTP/1.1\r\nHost: a\r\n\r\n" + get("/.."));
    co_await hear(c, came, "403 Forbidden\n");  // whose page is not there
    EXPECT_TRUE(came.starts_with(head)) << came;
    EXPECT_EQ(came.find("sorry!"), std::string::npos);
    came.clear();
    co_await send(c, get("/sorry.html"));
    co_await hear(c, came, "sorry!");
    EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ") && came.find("ETag") != std::string::npos) << came;
    came.clear();
    co_await send(c, "HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n" + get("/nothing"));
    co_await hear(c, came, "sorry!");
    EXPECT_EQ(came.find("xx"), std::string::npos);
    const test::failing_disk fails{test::disk_call::openat2, EMFILE};
    co_await send(c, get("/new", "Connection: close\r\n"));
    const std::string text = (co_await rest_of(c)).text;
    EXPECT_TRUE(text.starts_with("HTTP/1.1 503 ")) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), 'x'), static_cast<std::ptrdiff_t>(large));
  });
}

TEST_P(a_server, gives_up_whom_it_has_no_memory_for_and_goes_on) {
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const auto at = *c.peer_address();
    {
      const test::failing_memory fails{test::allocations::of(sizeof(connection))};
      auto given_up = co_await tartan::tcp::connect(at);
      EXPECT_EQ((co_await rest_of(*given_up)).text, "");
    }
    auto next = co_await tartan::tcp::connect(at);
    co_await send(*next, get("/page", "Connection: close\r\n"));
    EXPECT_TRUE((co_await rest_of(*next)).text.ends_with("a page"));
  });
}

tartan::task<> expect_nothing(tartan::tcp::stream& from, std::chrono::milliseconds so_long = 500ms) {
  std::array<std::byte, 1> first;
  EXPECT_FALSE(co_await tartan::with_timeout(so_long, from.read_exactly(first)));
}

tartan::task<> answer_within(tartan::tcp::stream& from, std::chrono::milliseconds limit) {
  std::array<std::byte, 1> first;
  EXPECT_TRUE(co_await tartan::with_timeout(limit, from.read_exactly(first)));
}

TEST_P(a_server, has_as_many_connections_as_it_is_told) {
  with_.max_connections = 1;
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    const auto at = *c.peer_address();
    std::string came;
    co_await ask_for_page(c);
    auto second = co_await tartan::tcp::connect(at);
    co_await send(*second, get("/page"));
    co_await expect_nothing(*second);
    settings next = with_;
    next.max_connections = 3;
    co_await reload(s, next);
    co_await hear(*second, came, "a page");
    next.max_connections = 1;
    co_await reload(s, next);
    auto third = co_await tartan::tcp::connect(at);
    co_await send(*third, get("/page"));
    second->close();
    co_await pass(200ms);  // c is still there
    co_await ask_for_page(c);
    co_await expect_nothing(*third);
    c.close();
    auto fourth = co_await tartan::tcp::connect(at);  // in the line behind the third, which goes
    third->close();
    co_await ask_for_page(*fourth);
  });
}

TEST_P(a_server, that_is_full_gives_the_place_of_who_is_idle_longest_to_who_waits) {
  with_.max_connections = 3;
  for (const std::chrono::milliseconds before : {100ms, 3000ms}) {  // the first one alone has waited for a second; all have
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      const auto at = *c.peer_address();
      auto silent = co_await tartan::tcp::connect(at);
      co_await pass(100ms);
      co_await ask_for_page(c);
      co_await pass(500ms);
      auto other = co_await tartan::tcp::connect(at);
      co_await ask_for_page(*other);
      co_await pass(before);
      auto next = co_await tartan::tcp::connect(at);
      co_await ask_for_page(*next);
      const heard all = co_await rest_of(*silent);
      EXPECT_EQ(all.end, tartan::errc::end_of_stream);
      EXPECT_EQ(all.text, "");
      co_await ask_for_page(c);
      co_await ask_for_page(*other);
    });
  }
}

TEST_P(a_server, that_is_full_of_busy_clients_closes_behind_an_answer) {
  with_.max_connections = 1;
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    auto other = co_await tartan::tcp::connect(*c.peer_address());
    co_await send(*other, get("/page"));
    std::string came;
    for (int n = 0; n < 20 && came.find("Connection: close") == std::string::npos; ++n) {
      came.clear();
      co_await send(c, get("/page"));
      co_await hear(c, came, "a page");
      co_await pass(100ms);
      EXPECT_TRUE(n >= 9 || came.find("Connection: close") == std::string::npos) << "after " << n << " tenths of a second";
    }
    EXPECT_NE(came.find("Connection: close"), std::string::npos);
    EXPECT_EQ((co_await rest_of(c)).text, "");
    came.clear();
    co_await hear(*other, came, "a page");
  });
}

TEST_P(a_server, that_is_full_lets_one_go_for_one_who_comes) {
  with_.max_connections = 2;
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    auto other = co_await tartan::tcp::connect(*c.peer_address());
    auto third = co_await tartan::tcp::connect(*c.peer_address());
    co_await send(*third, get("/page"));
    int told = 0;
    for (int tenths = 0; tenths < 15 && told == 0; ++tenths) {
      for (tartan::tcp::stream* const each : {&c, &*other}) {
        std::string came;
        co_await send(*each, get("/page"));
        co_await hear(*each, came, "a page");
        if (came.find("Connection: close") != std::string::npos) ++told;
      }
      co_await pass(100ms);
    }
    EXPECT_EQ(told, 1);
  });
}

TEST_P(a_server, that_is_full_does_not_wait_for_who_goes_on_sending) {
  with_.max_connections = 1;
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    auto next = co_await tartan::tcp::connect(*c.peer_address());
    co_await send(*next, get("/page"));
    EXPECT_EQ((co_await rest_of(c)).end, tartan::errc::end_of_stream);
    for (int n = 0; n < 10; ++n) {
      static_cast<void>(co_await c.write("x"));
      co_await pass(50ms);
    }
    co_await answer_within(*next, 1ms);
  });
}

TEST_P(a_server, that_is_full_does_not_wait_for_who_has_had_its_last_answer) {
  with_.max_connections = 1;
  write("page", std::string(20'000, 'x') + "a page");
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await ask_for_page(c);
    co_await pass(900ms);
    std::string came;
    co_await send(c, get("/page", "Connection: close\r\n"));
    co_await hear(c, came, "a page");
    co_await pass(200ms);
    auto next = co_await tartan::tcp::connect(*c.peer_address());
    co_await send(*next, get("/page"));
    co_await answer_within(*next, 500ms);
  });
}

tartan::task<> read(tartan::tcp::stream& from, std::size_t bytes) {
  std::string room(bytes, ' ');
  EXPECT_TRUE(co_await from.read_exactly(std::as_writable_bytes(std::span{room})));
}

// A long answer may take an hour.
TEST_P(a_server, that_is_full_rather_tells_one_that_sends_nothing_to_close) {
  with_.max_connections = 2;
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await send(c, get("/large"));
    co_await read(c, 1'000);
    auto other = co_await tartan::tcp::connect(*c.peer_address());
    auto third = co_await tartan::tcp::connect(*c.peer_address());
    co_await send(*third, get("/page"));
    std::string came;
    int tenths = 0;
    for (; tenths < 30 && came.find("Connection: close") == std::string::npos; ++tenths) {
      came.clear();
      co_await send(*other, get("/page"));
      co_await hear(*other, came, "a page");
      co_await read(c, 1'000);
      co_await pass(100ms);
    }
    EXPECT_LT(tenths, 16);
    came.clear();
    co_await hear(*third, came, "a page");
  });
}

TEST_P(a_server, that_is_full_tells_another_one_if_the_first_does_not_end) {
  with_.max_connections = 2;
  network_.partial_percent = 0;
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await send(c, get("/large"));
    co_await read(c, 1'000);
    auto other = co_await tartan::tcp::connect(*c.peer_address());
    for (int n = 0; n < 100; ++n) co_await send(*other, get("/large"));  // always one that is being sent
    auto third = co_await tartan::tcp::connect(*c.peer_address());
    co_await send(*third, get("/page"));
    std::string came;
    std::array<std::byte, 50'000> room;
    for (std::size_t reads = 0; reads < 200; ++reads) {
      const auto got = co_await other->read_some(room);
      if (!got) break;
      came.append(reinterpret_cast<const char*>(room.data()), *got);
      co_await read(c, 1'000);
      co_await pass(50ms);
    }
    EXPECT_NE(came.find("Connection: close"), std::string::npos) << "the other one is told again and again";
  });
}

TEST_P(a_server, that_is_full_gives_up_who_takes_long_for_what_others_take_at_once) {
  with_.max_connections = 1;
  with_.times.header = with_.times.idle = with_.times.write = 1h;
  const std::string all = "POST /page HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345";
  for (const std::string& asked : {all.substr(0, 20), all, get("/large")}) {  // a head, a body, and an answer that is not read
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      co_await send(c, asked);
      if (asked == get("/large")) static_cast<void>(co_await head_from(c));
      co_await pass(100ms);
      auto other = co_await tartan::tcp::connect(*c.peer_address());
      co_await send(*other, get("/page"));
      co_await expect_nothing(*other, 9s);
      co_await answer_within(*other, 3s);  // the first one may have to be told so
    });
  }
}

TEST_P(a_server, asks_whether_the_disk_has_to_be_waited_for_only_of_what_lies_there) {
  write("kept", std::string(20'000, 'x'));
  with_.pages.open_files = 0;  // else one stays open for some seconds, of the real time
  play_on_the_kernel([&](tartan::tcp::stream& client, server&) -> tartan::task<> {
    for (const auto& [path, bytes] : {std::pair<std::string, std::size_t>{"/kept", 20'000}, {"/large", large}}) {
      const test::failing_disk counted{test::disk_call::preadv2, 0, 0};
      std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + (bytes == large ? "Connection: close\r\n\r\n" : "\r\n");
      co_await send(client, std::move(request));
      std::string came = co_await head_from(client);
      const std::size_t all = came.find("\r\n\r\n") + 4 + bytes;
      std::string rest(all - came.size(), ' ');
      EXPECT_TRUE(co_await client.read_exactly(std::as_writable_bytes(std::span{rest})));
      EXPECT_EQ(counted.calls() != 0, bytes == large) << path;
    }
  });
}

}  // namespace
}  // namespace web
