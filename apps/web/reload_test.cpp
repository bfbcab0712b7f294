/// The server with other settings than before. INSTANTIATE_TEST_SUITE_P is in server_test.cpp.
#include "web/server_fixture.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/web/failing_memory.h"
#include "web/tls_client_fixture.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::a_server;
using test::ask_for_page;
using test::get;
using test::head_from;
using test::hear;
using test::pass;
using test::reload;
using test::rest_of;
using test::send;

TEST_P(a_server, takes_new_settings_between_two_answers) {
  const tartan::test::temporary_folder other;
  std::ofstream{other / "page"} << "another";
  constexpr std::size_t size = 2 * large;  // it is sent in pieces, each with its time
  write("larger", std::string(size, 'x'));
  settings next = with_;
  next.hosts[0].root = other.path();
  next.times.write = 100ms;
  with_.pages.recheck = 1h;
  network_.partial_percent = 0;  // a connection that waits for the rest of a head hears of the reload before the answer
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    auto idle = co_await tartan::tcp::connect(*c.peer_address());
    std::string came;
    co_await send(*idle, get("/page"));
    co_await hear(*idle, came, "a page");
    co_await send(c, get("/larger"));
    std::string answer = co_await head_from(c);
    co_await reload(s, next);
    std::string first(large, ' ');
    EXPECT_TRUE(co_await c.read_exactly(std::as_writable_bytes(std::span{first})));
    co_await pass(1s);
    co_await send(*idle, get("/page", "Connection: close\r\n"));
    EXPECT_TRUE((co_await rest_of(*idle)).text.ends_with("another"));
    co_await send(c, get("/page", "Connection: close\r\n"));
    const std::string text = answer + first + (co_await rest_of(c)).text;
    EXPECT_EQ(std::count(text.begin(), text.end(), 'x'), static_cast<std::ptrdiff_t>(size)) << "as it was when it was asked for";
    EXPECT_TRUE(text.ends_with("another"));
  });
}

TEST_P(a_server, stays_as_it_is_if_new_settings_cannot_be_had) {
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    settings next = with_;
    next.hosts[0].root = folder_ / "nothing";
    next.hosts[0].root_at.text = "file:3: host.root: ";
    testing::internal::CaptureStderr();
    co_await reload(s, next);
    EXPECT_TRUE(testing::internal::GetCapturedStderr().starts_with("tartan-web: all is as it was: file:3: host.root: cannot read the folder '"));
    co_await send(c, get("/page", "Connection: close\r\n"));
    EXPECT_TRUE((co_await rest_of(c)).text.ends_with("a page"));
  });
}

TEST_P(a_server, does_not_send_clients_to_tls_that_it_does_not_speak) {
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    settings next = with_;
    next.hosts[0].https_only = true;
    next.hosts[0].https_only_at.text = "FILE: ";
    testing::internal::CaptureStderr();
    co_await reload(s, next);
    EXPECT_TRUE(testing::internal::GetCapturedStderr().starts_with("tartan-web: all is as it was: FILE: needs a port for TLS"));
    co_await send(c, get("/page", "Connection: close\r\n"));
    EXPECT_TRUE((co_await rest_of(c)).text.ends_with("a page"));
  });
}

TEST_P(a_server, refuses_a_user_that_the_next_start_would_refuse) {
  play([&](tartan::tcp::stream&, server& s) -> tartan::task<> {
    settings next = with_;
    next.user = "no such user";
    next.at.user.text = "FILE: ";
    testing::internal::CaptureStderr();
    co_await reload(s, next);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "tartan-web: all is as it was: FILE: there is no user 'no such user'\n");
  });
}

TEST_P(a_server, says_that_clients_can_be_sent_to_tls_when_there_is_a_port_for_it) {
  play([&](tartan::tcp::stream&, server& s) -> tartan::task<> {
    settings next = with_;
    test::use_tls(next, folder_.path());
    next.hosts[0].https_only = true;
    next.hosts[0].https_only_at.text = "FILE: ";
    testing::internal::CaptureStderr();
    co_await reload(s, next);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "tartan-web: all is as it was: FILE: needs listen-tls, which needs a new start\n");
  });
}

TEST_P(a_server, refuses_a_certificate_that_the_next_start_would_refuse) {
  play([&](tartan::tcp::stream&, server& s) -> tartan::task<> {
    settings next = with_;
    test::use_tls(next, folder_.path());
    next.hosts[0].certificate = folder_ / "nothing";
    next.hosts[0].certificate_at.text = "FILE: ";
    testing::internal::CaptureStderr();
    co_await reload(s, next);
    EXPECT_TRUE(testing::internal::GetCapturedStderr().starts_with("tartan-web: all is as it was: FILE: cannot use the certificate '"));
  });
}

/// The doors for TLS stay until then.
TEST_P(a_server, does_not_send_clients_to_tls_at_the_next_start) {
  test::use_tls(with_, folder_.path());
  play([&](tartan::tcp::stream&, server& s) -> tartan::task<> {
    settings next = with_;
    next.listen_tls.clear();
    next.hosts[0].https_only = true;
    next.hosts[0].https_only_at.text = "FILE: ";
    testing::internal::CaptureStderr();
    co_await reload(s, next);
    EXPECT_TRUE(testing::internal::GetCapturedStderr().starts_with("tartan-web: all is as it was: FILE: needs a port for TLS"));
  });
}

TEST_P(a_server, tells_what_needs_a_new_start) {
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    settings next = with_;
    next.listen = {"127.0.0.1:1"};
    next.workers = 7;
    next.hosts[0].with.listings = true;
    testing::internal::CaptureStderr();
    co_await reload(s, next);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "tartan-web: not changed before the next start: listen, workers\n");
    co_await send(c, get("/", "Connection: close\r\n"));
    EXPECT_TRUE((co_await rest_of(c)).text.starts_with("HTTP/1.1 200 "));
  });
}

TEST_P(a_server, keeps_what_it_has_in_memory_if_nothing_has_changed) {
  with_.pages.recheck = 1h;
  settings next = with_;
  next.hosts[0].with.pages.cache_control = "no-cache";
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await ask_for_page(c);
    write("page", "another");
    settings moved = with_;  // a line was added above
    moved.hosts[0].root_at.text = "file:4: host.root: ";
    moved.at.listen.text = "file:2: listen: ";
    co_await reload(s, moved);
    co_await ask_for_page(c);
    co_await reload(s, next);
    std::string came;
    co_await send(c, get("/page"));
    co_await hear(c, came, "another");
  });
}

/// Whatever it lacks memory for.
TEST_P(a_server, takes_new_settings_for_all_connections_or_for_none) {
  const tartan::test::temporary_folder other;
  std::ofstream{other / "page"} << "another";
  with_.pages.shelves = 4;
  settings next = with_;
  next.hosts[0].root = other.path();
  std::function<settings()> read = [&next] { return next; };
  bool has_failed = true;
  int reloaded = 0;
  for (std::size_t n = 0; has_failed; ++n) {
    std::string all;
    testing::internal::CaptureStderr();
    play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
      std::vector<tartan::tcp::stream> open;
      for (int m = 0; m < 40; ++m) {
        auto one = co_await tartan::tcp::connect(*c.peer_address());
        open.push_back(std::move(*one));
      }
      co_await pass(1ms);
      auto running = tartan::spawn(s.reload(read));
      {
        const test::failing_memory fails{{}, n};
        co_await running.join();
        has_failed = fails.count() > n;
      }
      open.push_back(std::move(*co_await tartan::tcp::connect(*c.peer_address())));
      for (tartan::tcp::stream& each : open) {
        co_await send(each, get("/page", "Connection: close\r\n"));
        const std::string came = (co_await rest_of(each)).text;
        all.push_back(came.ends_with("another") ? 'n' : came.ends_with("a page") ? 'o' : '?');
      }
    });
    const bool is_as_it_was = testing::internal::GetCapturedStderr().starts_with("tartan-web: all is as it was: ");
    EXPECT_EQ(all, std::string(41, is_as_it_was ? 'o' : 'n')) << n;
    if (!is_as_it_was) ++reloaded;
  }
  EXPECT_GT(reloaded, 0);
}

TEST_P(a_server, says_what_is_new_behind_a_reload_that_has_failed) {
  with_.access_log = folder_ / "log";
  play([&](tartan::tcp::stream&, server& s) -> tartan::task<> {
    settings next = with_;
    next.hosts[0].root = folder_ / "nothing";
    testing::internal::CaptureStderr();
    co_await reload(s, next);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(said.starts_with("tartan-web: the access log is opened anew, all else is as it was: cannot")) << said;
  });
}

TEST_P(a_server, serves_another_folder_that_has_taken_the_place_of_its_own) {
  std::filesystem::create_directory(folder_ / "first");
  std::filesystem::create_directory(folder_ / "second");
  write("first/page", "a page");
  write("second/page", "another");
  std::filesystem::create_directory_symlink("first", folder_ / "now");
  with_.hosts[0].root = folder_ / "now";
  with_.pages.recheck = 1h;
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await ask_for_page(c);
    std::filesystem::remove(folder_ / "now");
    std::filesystem::create_directory_symlink("second", folder_ / "now");
    co_await reload(s, with_);
    std::string came;
    co_await send(c, get("/page"));
    co_await hear(c, came, "another");
  });
}

}  // namespace
}  // namespace web
