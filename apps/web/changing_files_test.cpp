/// Large files to which somebody does something while they are sent: no client gets a byte that was not where it is said to be.
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web/document_root.h"
#include "web/server_fixture.h"
#include "tests/web/failing_disk.h"
#include "web/tls_client_fixture.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::disk_call;
using test::failing_disk;
using test::get;
using test::head_from;
using test::heard;
using test::placed_text;
using test::rest_of;
using test::send;

class a_server_of_changing_files : public test::a_server {
 protected:
  a_server_of_changing_files() {
    write("large", all_);
    with_.pages.open_files = 0;  // else one stays open for some seconds, of the real time where a test has that
  }

  /// What came of the body when something was done to the file behind the head of the response.
  template <class F>
  [[nodiscard]] tartan::task<std::string> body_of(tartan::tcp::stream& c, F do_something) const {
    co_await send(c, get("/large", "Connection: close\r\n"));
    std::string came = co_await head_from(c);
    do_something(folder_ / "large");
    const heard rest = co_await rest_of(c);
    came += rest.text;
    EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ")) << came.substr(0, 100);
    co_return came.substr(came.find("\r\n\r\n") + 4);
  }
  /// The same of a new connection of a server whose clients read slowly, with the file as it was.
  template <class F>
  [[nodiscard]] std::string body_when(F do_something) {
    write("large", all_);
    std::string body;
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> { body = co_await body_of(c, do_something); });
    return body;
  }
  /// And the head of the one whose body does not come.
  [[nodiscard]] static tartan::task<> expect_the_answer_before(tartan::tcp::stream& c) {
    co_await send(c, get("/nothing") + get("/large", "Range: bytes=5-400\r\n"));
    for (int n = 0; n < 4; ++n) {  // that nobody will read, for which a close would reset
      co_await send(c, get("/page"));
      co_await test::pass(900ms);
    }
    const heard rest = co_await rest_of(c);
    EXPECT_EQ(rest.end, tartan::errc::end_of_stream) << rest.end.message();
    EXPECT_NE(rest.text.find("HTTP/1.1 404 "), std::string::npos) << rest.text;
    EXPECT_TRUE(rest.text.ends_with("\r\n\r\n")) << rest.text;
  }
  void expect_a_part(std::string_view body) const {
    EXPECT_LT(body.size(), all_.size());
    EXPECT_TRUE(all_.starts_with(body)) << "other bytes among " << body.size();
  }

  const std::string all_ = placed_text(8 * large);  // more than the network keeps for a client
};
INSTANTIATE_TEST_SUITE_P(on, a_server_of_changing_files, testing::Values(1u, 2u));

TEST_P(a_server_of_changing_files, ends_the_response_of_one_that_is_cut) {
  for (const std::size_t left : {0u, 1u, 100u, 70'000u, 500'001u}) {
    expect_a_part(body_when([&](const std::string& path) { std::filesystem::resize_file(path, left); }));
  }
}

/// By the kernel's sockets, which keep what they were given: had they a reference to the file, they would send zeros.
TEST_P(a_server_of_changing_files, has_given_the_kernel_none_of_one_that_is_cut) {
  const std::string all = placed_text(16 << 20);
  for (const std::size_t left : {100u, 70'000u, 8'388'700u}) {
    write("large", all);
    play_on_the_kernel([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      const std::string body = co_await body_of(c, [&](const std::string& path) { std::filesystem::resize_file(path, left); });
      EXPECT_LT(body.size(), all.size());
      EXPECT_TRUE(all.starts_with(body)) << "other bytes among " << body.size();
    });
  }
}

TEST_P(a_server_of_changing_files, ends_the_response_of_one_that_is_written_anew) {
  expect_a_part(body_when([&](const std::string& path) {
    std::ofstream{path} << std::string(all_.size(), 'x');
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() + 1h);  // where the system's clock ticks slowly
  }));
}

TEST_P(a_server_of_changing_files, ends_the_response_of_one_that_is_written_anew_and_longer) {
  expect_a_part(body_when([&](const std::string& path) { std::ofstream{path} << std::string(2 * all_.size(), 'x'); }));
  expect_a_part(body_when([&](const std::string& path) {
    std::filesystem::resize_file(path, 0);
    std::filesystem::resize_file(path, 2 * all_.size());
  }));
}

TEST_P(a_server_of_changing_files, sends_all_that_was_promised_of_one_that_grows) {
  EXPECT_TRUE(body_when([](const std::string& path) { std::ofstream{path, std::ios::app} << "a new line"; }) == all_);
}

TEST_P(a_server_of_changing_files, sends_all_of_one_whose_name_another_one_takes) {
  EXPECT_TRUE(body_when([&](const std::string& path) {
                write("new", "another");
                std::filesystem::rename(folder_ / "new", path);
              }) == all_);
}

/// The look at what is in memory fails; the first bytes have been sent.
TEST_P(a_server_of_changing_files, ends_the_response_of_one_that_cannot_be_read_on) {
  std::optional<failing_disk> in_memory;
  std::optional<failing_disk> at_all;
  expect_a_part(body_when([&](const std::string&) {
    in_memory.emplace(disk_call::preadv2, EAGAIN, 1'000'000);
    at_all.emplace(disk_call::pread, EIO, 1'000'000);
  }));
}

/// Nobody can tell whether what was read, at hand or by a blocking thread, counts.
TEST_P(a_server_of_changing_files, ends_the_response_of_one_that_cannot_be_looked_at) {
  for (const unsigned times : {0u, 1'000'000u}) {
    const failing_disk in_memory{disk_call::preadv2, EAGAIN, times};
    std::optional<failing_disk> looks;
    expect_a_part(body_when([&](const std::string&) { looks.emplace(disk_call::statx, EIO, 1'000'000); }));
  }
}

/// What stands before its response has nothing to do with it.
TEST_P(a_server_of_changing_files, sends_what_was_asked_for_before_one_that_cannot_be_read) {
  with_.pages.open_files = 64;
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await send(c, get("/large", "Range: bytes=0-0\r\n"));  // from now on it is open, and its page is known
    std::string came;
    co_await test::hear(c, came, "\r\n\r\na");
    const failing_disk in_memory{disk_call::preadv2, EAGAIN, 1'000'000};
    const failing_disk at_all{disk_call::pread, EIO, 1'000'000};
    co_await expect_the_answer_before(c);
  });
}

TEST_P(a_server_of_changing_files, sends_what_was_asked_for_before_one_that_cannot_be_looked_at) {
  with_.pages.open_files = 64;
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await send(c, get("/large", "Range: bytes=0-0\r\n"));
    std::string came;
    co_await test::hear(c, came, "\r\n\r\na");
    const failing_disk looks{disk_call::statx, EIO, 1'000'000};
    co_await expect_the_answer_before(c);
  });
}

/// 60 KB a second are less than 256 KB in one, wherever they come from.
TEST_P(a_server_of_changing_files, gives_no_more_time_to_a_slow_reader_for_what_the_disk_is_asked_for) {
  with_.times.write = 1s;
  for (const unsigned times : {0u, 1'000'000u}) {
    const failing_disk asked{disk_call::preadv2, EAGAIN, times};
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      co_await send(c, get("/large"));
      std::vector<std::byte> room(60'000);
      std::size_t came = 0;
      while (came < all_.size()) {
        const auto got = co_await c.read_some(room);
        if (!got) break;
        came += *got;
        co_await test::pass(950ms);
      }
      EXPECT_LT(came, all_.size()) << times;
    });
  }
}

class a_server_of_changing_files_over_tls : public a_server_of_changing_files {
 protected:
  a_server_of_changing_files_over_tls() { test::use_tls(with_, folder_.path()); }

  /// As body_when; `is_ended`: the server has said that this is all.
  template <class F>
  [[nodiscard]] std::string opened_body_when(F do_something, bool& is_ended) {
    write("large", all_);
    std::string text;
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      test::tls_client client{c};
      co_await client.handshake();
      co_await client.send(get("/large", "Connection: close\r\n"));
      std::string sealed(1000, ' ');
      EXPECT_TRUE(co_await c.read_exactly(std::as_writable_bytes(std::span{sealed})));
      do_something(folder_ / "large");
      const heard rest = co_await rest_of(c);
      text = client.open(sealed + rest.text, is_ended);
    });
    EXPECT_TRUE(text.starts_with("HTTP/1.1 200 ")) << text.substr(0, 100);
    return text.substr(text.find("\r\n\r\n") + 4);
  }
};
INSTANTIATE_TEST_SUITE_P(on, a_server_of_changing_files_over_tls, testing::Values(1u, 2u));

TEST_P(a_server_of_changing_files_over_tls, ends_the_response_of_one_that_is_cut) {
  for (const std::size_t left : {0u, 100u, 70'000u, 500'001u}) {
    bool is_ended = false;
    expect_a_part(opened_body_when([&](const std::string& path) { std::filesystem::resize_file(path, left); }, is_ended));
    EXPECT_FALSE(is_ended);
  }
}

/// From memory; from the disk; from both in turn; a half of each piece.
TEST_P(a_server_of_changing_files_over_tls, sends_all_of_one_that_stays_wherever_it_is) {
  const std::pair<int, unsigned> cases[] = {{EAGAIN, 0}, {EAGAIN, 3}, {EAGAIN, 1'000'000}, {0, 1'000'000}};
  for (const auto& [error, times] : cases) {
    const failing_disk asked{disk_call::preadv2, error, times, 1};
    bool is_ended = false;
    EXPECT_TRUE(opened_body_when([](const std::string&) {}, is_ended) == all_) << error << ", " << times;
    EXPECT_TRUE(is_ended);
  }
}

/// Three on one shelf, of which there is room for two.
TEST_P(a_server_of_changing_files, reads_one_into_memory_that_was_left_on_the_disk_when_there_is_room) {
  constexpr std::size_t bytes = 900'000;
  constexpr std::size_t shelves = 4;
  with_.pages.shelves = shelves;
  with_.pages.open_files = 64;
  with_.pages.cache.bytes = shelves * 2'000'000;
  with_.pages.largest_page = bytes;
  with_.pages.recheck = 1h;  // so nobody asks the disk but for this
  std::vector<std::string> paths;
  for (int n = 0; paths.size() < 3; ++n) {
    const std::string path = "/" + std::to_string(n);
    if (std::hash<std::string_view>{}(path) % shelves != 0) continue;
    write(path.c_str() + 1, placed_text(bytes));
    paths.push_back(path);
  }
  const document_root root{folder_.path()};
  int tries_before = 0;  // what may change unseen, for 20 ms, is not looked for ahead, and recheck is long
  while (root.load(paths[2], 0, nullptr).content.tag.empty() && tries_before < 10'000'000) ++tries_before;
  ASSERT_LT(tries_before, 10'000'000) << "the clock of the file system is ahead";
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const auto looks_for = [&](const std::string& path) -> tartan::task<unsigned> {
      const failing_disk counted{disk_call::preadv2, 0, 0};
      co_await send(c, get(path));
      const std::string came = co_await head_from(c);
      std::string rest(came.find("\r\n\r\n") + 4 + bytes - came.size(), ' ');
      EXPECT_TRUE(co_await c.read_exactly(std::as_writable_bytes(std::span{rest})));
      EXPECT_TRUE(placed_text(bytes).ends_with(rest));
      co_return counted.calls();
    };
    for (const std::size_t n : {0u, 1u}) static_cast<void>(co_await looks_for(paths[n]));
    EXPECT_EQ(co_await looks_for(paths[0]), 0u);
    EXPECT_GT(co_await looks_for(paths[2]), 0u);
    EXPECT_GT(co_await looks_for(paths[2]), 0u);
    co_await test::pass(4s);  // as long as it is open, and there is room for half of the shelf
    EXPECT_GT(co_await looks_for(paths[2]), 0u) << "it goes on being sent meanwhile";
    int tries = 0;
    for (unsigned looks = 1; looks != 0 && tries < 1000; ++tries) looks = co_await looks_for(paths[2]);  // as long as the disk takes
    EXPECT_LT(tries, 1000);
  });
}

TEST_P(a_server_of_changing_files, sends_a_new_response_of_what_there_is_now) {
  with_.pages.recheck = 1h;
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    for (const char mark : {'x', 'y', 'z'}) {
      write("large", std::string(large, mark) + "!");
      std::filesystem::last_write_time(folder_ / "large", std::filesystem::file_time_type::clock::now() - std::chrono::hours{mark});
      std::string came;
      co_await send(c, get("/large"));
      co_await test::hear(c, came, "!");
      EXPECT_EQ(came.substr(came.find("\r\n\r\n") + 4), std::string(large, mark) + "!");
    }
  });
}

}  // namespace
}  // namespace web
