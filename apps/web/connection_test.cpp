/// What a connection does, where that depends on which worker it is on: one is enough to tell.
#include "web/server_fixture.h"

#include <tartan/time/with_timeout.h>

#include <algorithm>
#include <filesystem>

#include "tests/web/failing_disk.h"
#include "tests/web/failing_memory.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::a_server;
using test::get;
using test::head_from;
using test::hear;
using test::heard;
using test::pass;
using test::rest_of;
using test::send;

/// With more workers, a connection may go to one that has no buffer yet, or has not the page.
class a_server_of_one_worker : public a_server {};
INSTANTIATE_TEST_SUITE_P(on, a_server_of_one_worker, testing::Values(1u));

TEST_P(a_server_of_one_worker, has_a_page_that_is_asked_for_checked_before_it_is_old) {
  const test::files_changed long_ago{-60s};
  play([this](tartan::tcp::stream& c, server&) -> tartan::task<> {
    for (int n = 0; n < 5; ++n) {
      co_await pass(n == 0 ? 0ms : n == 1 ? 500ms : 130ms);
      std::string came;
      co_await send(c, get("/page"));
      co_await hear(c, came, " page");
      EXPECT_EQ(came.ends_with("a new page"), n == 4) << came;
      write("page", "a new page");
    }
  });
}

/// Whether the peer may send a line end behind the last answer: the server waits for it.
tartan::task<bool> may_go_on(tartan::tcp::stream& c, std::string_view status = "HTTP/1.1 200 ") {
  const heard all = co_await rest_of(c);
  EXPECT_TRUE(all.text.starts_with(status)) << all.text;
  EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  co_await pass(10ms);
  const auto sent = co_await c.write("\r\n");
  co_return sent.has_value();
}

/// The same behind the answer to this, when the page is in memory.
tartan::task<bool> may_go_on_after(tartan::tcp::stream& c, std::string request, std::string_view status = "HTTP/1.1 200 ") {
  std::string came;
  co_await send(c, get("/page"));
  co_await hear(c, came, "a page");
  co_await send(c, std::move(request));
  co_return co_await may_go_on(c, status);
}

TEST_P(a_server_of_one_worker, closes_at_once_if_the_peer_has_said_that_nothing_comes) {
  for (const std::string& request : {get("/page", "Connection: close\r\n"), std::string{"GET /page HTTP/1.0\r\n\r\n"}}) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      const bool may = co_await may_go_on_after(c, request);
      EXPECT_FALSE(may) << "the server waits for this peer";
    });
  }
}

TEST_P(a_server_of_one_worker, closes_at_once_after_a_long_head_too) {
  network_.partial_percent = 0;
  for (const std::size_t longer : {read_buffer::first, read_buffer::first + 500}) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      const bool may = co_await may_go_on_after(c, get("/page", "Connection: close\r\nX: " + std::string(longer, 'x') + "\r\n"));
      EXPECT_FALSE(may) << "the server waits for this peer";
    });
  }
}

TEST_P(a_server_of_one_worker, waits_for_the_peer_after_another_method) {
  for (const char* const more : {"Content-Length: 1\r\n\r\nx", "\r\n"}) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      const bool may = co_await may_go_on_after(c, std::string{"POST /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"} + more, "HTTP/1.1 405 ");
      EXPECT_TRUE(may) << "a line end behind the body was answered with a reset";
    });
  }
}

/// What comes back for what is sent piece by piece, each behind a while in which the server may answer.
tartan::task<std::string> answers_to(tartan::tcp::stream& c, std::vector<std::string> pieces, std::size_t expected) {
  std::string came;
  for (std::string& each : pieces) {
    EXPECT_EQ(came, "") << "before all had come";
    co_await send(c, std::move(each));
    std::array<std::byte, 500> room;
    const auto got = co_await tartan::with_timeout(500ms, c.read_some(room));
    if (got) came.append(reinterpret_cast<const char*>(room.data()), *got);
  }
  while (came.size() < expected) {
    std::array<std::byte, 500> room;
    const auto got = co_await c.read_some(room);
    if (!got) break;
    came.append(reinterpret_cast<const char*>(room.data()), *got);
  }
  co_return came;
}

TEST_P(a_server_of_one_worker, answers_when_the_body_has_come) {
  network_.partial_percent = 0;
  const std::string post = "POST /page HTTP/1.1\r\nHost: a\r\n";
  const struct {
    std::vector<std::string> pieces;
    std::string_view answer;
  } cases[] = {
      {{post + "Content-Length: 4\r\n\r\n", "ab", "cd"}, "HTTP/1.1 405 "},
      {{post + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", "0\r\n\r\n"}, "HTTP/1.1 405 "},
      {{post + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", "y\r\n"}, "HTTP/1.1 400 "},
      {{get("/page", "Content-Length: 4\r\n"), "ab", "cd"}, "HTTP/1.1 200 "},
      {{get("/page", "If-None-Match: *\r\nContent-Length: 4\r\n"), "ab", "cd"}, "HTTP/1.1 304 "},
      {{get("/page", "Content-Length: 4\r\nRange: bytes=1-2\r\n"), "ab", "cd"}, "HTTP/1.1 206 "},
      {{post + "Content-Length: 4\r\nExpect: 100-continue\r\n\r\n"}, "HTTP/1.1 405 "},
      {{get("/page", "Content-Length: 4\r\nExpect: 100-continue\r\n")}, "HTTP/1.1 100 "},
  };
  for (const auto& each : cases) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      const std::string came = co_await answers_to(c, each.pieces, 1);
      EXPECT_TRUE(came.starts_with(each.answer)) << came;
      c.close();
    });
  }
}

TEST_P(a_server_of_one_worker, sends_what_is_long_as_it_is_whatever_was_sent_before) {
  const std::string middle = std::string(5'000, 'm') + "the end";
  const std::string sent = std::string(20'000, 's') + "the end";    // by the kernel
  const std::string other = std::string(30'000, 'o') + "the end";
  const std::string longer = std::string(300'000, 'l') + "the end";
  write("sent", sent);
  write("other", other);
  write("middle", middle);
  write("longer", longer);
  write("error", middle);
  with_.hosts[0].error_pages[http::status::not_found] = "/error";
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    for (const std::string& first : {get("/middle", "Range: bytes=0-1,4-5\r\n"), get("/longer", "Range: bytes=0-1,4-5\r\n"), get("/page")}) {
      for (const auto& [path, body] : {std::pair{"/middle", &middle}, std::pair{"/sent", &sent}, std::pair{"/other", &other}, std::pair{"/longer", &longer},
                                        std::pair{"/nothing", &middle}}) {
        std::string came;
        co_await send(c, first);
        co_await hear(c, came, first == get("/page") ? "a page" : "--\r\n");
        came.clear();
        for (int n = 0; n < 2; ++n) {
          co_await send(c, get(path) + get(path));
          for (int answers = 0; answers < 2; ++answers) {
            co_await hear(c, came, "the end");
            const std::size_t head = came.find("\r\n\r\n") + 4;
            const std::size_t end = came.find("the end") + 7;
            EXPECT_TRUE(came.starts_with("HTTP/1.1 ")) << came.substr(0, 100);
            EXPECT_TRUE(std::string_view{came}.substr(head, end - head) == *body) << path;
            came.erase(0, end);
          }
        }
        EXPECT_EQ(came, "");
      }
    }
  });
}

/// The answer to one request, the last on this connection.
tartan::task<std::string> last_answer(tartan::tcp::stream& c, std::string fields) {
  co_await send(c, get("/file", fields.append("Connection: close\r\n")));
  heard all = co_await rest_of(c);
  co_return std::move(all.text);
}

/// Of a response.
std::string value_of(const std::string& response, const std::string& name) {
  const std::size_t at = response.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t value = at + name.size() + 4;
  return response.substr(value, response.find('\r', value) - value);
}

TEST_P(a_server_of_one_worker, sends_the_rest_of_the_sibling_that_the_client_has_a_part_of) {
  const test::files_changed long_ago{-60s};
  write_old("file", "not coded");
  for (const std::string& coded : {std::string{"as if by gzip"}, std::string(large, 'z')}) {
    write_old("file.gz", coded);
    const std::string gzip = "Accept-Encoding: gzip\r\n";
    std::string tag;
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> { tag = value_of(co_await last_answer(c, gzip), "ETag"); });
    ASSERT_TRUE(tag.ends_with(".gz\"")) << tag;
    const struct {
      std::string fields;
      std::string_view status;
      std::string body;
    } cases[] = {
        {gzip + "Range: bytes=2-\r\nIf-Range: " + tag, "206 ", coded.substr(2)},
        {gzip + "Range: bytes=2-\r\nIf-Match: " + tag, "206 ", coded.substr(2)},
        {gzip + "Range: bytes=2-\r\nIf-None-Match: " + tag, "304 ", ""},
        {gzip + "Range: bytes=0-1,4-5\r\nIf-Range: " + tag, "200 ", coded},
        {"Range: bytes=2-\r\nIf-Range: " + tag, "200 ", "not coded"},
        {"Range: bytes=2-\r\nIf-Match: " + tag, "412 ", "412 Precondition Failed\n"},
    };
    for (const auto& each : cases) {
      play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
        const std::string came = co_await last_answer(c, each.fields + "\r\n");
        EXPECT_EQ(came.substr(9, 4), each.status) << each.fields;
        EXPECT_TRUE(came.substr(came.find("\r\n\r\n") + 4) == each.body) << each.fields;
        const bool has_body = each.body.size() != 0 && each.fields.starts_with("Accept");
        EXPECT_EQ(value_of(came, "Content-Encoding"), has_body ? "gzip" : "") << each.fields;
      });
    }
  }
}

TEST_P(a_server_of_one_worker, sends_to_tls_those_who_come_without_if_it_is_told_to) {
  with_.sockets = {};
  with_.hosts[0].https_only = true;
  with_.hosts[0].names = {"a.example"};
  EXPECT_THROW(play([](tartan::tcp::stream&, server&) -> tartan::task<> { co_return; }), std::invalid_argument);
}

TEST_P(a_server_of_one_worker, hides_what_has_a_dot_first) {
  write(".env", "a secret");
  for (const bool shown : {false, true}) {
    with_.hosts[0].with.dot_files = shown;
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      co_await send(c, get("/.env", "Connection: close\r\n"));
      const heard all = co_await rest_of(c);
      EXPECT_TRUE(all.text.starts_with(shown ? "HTTP/1.1 200 " : "HTTP/1.1 404 ")) << all.text;
    });
  }
}

TEST_P(a_server_of_one_worker, waits_for_the_peer_if_more_has_come) {
  network_.partial_percent = 0;
  for (const std::size_t whole : {read_buffer::first, read_buffer::usual}) {  // reads that are full to their end
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      const std::size_t others = get("/page", "Connection: close\r\nX: \r\n").size();
      const bool full = co_await may_go_on_after(c, get("/page", "Connection: close\r\nX: " + std::string(whole - others, 'x') + "\r\n"));
      EXPECT_TRUE(full) << "what may not have been read was answered with a reset";
    });
  }
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const bool more = co_await may_go_on_after(c, get("/page", "Connection: close\r\n") + "\r\n");
    EXPECT_TRUE(more);
  });
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const bool body = co_await may_go_on_after(c, get("/page", "Connection: close\r\nContent-Length: 2\r\n"), "HTTP/1.1 408 ");
    EXPECT_TRUE(body) << "what comes late of a body was answered with a reset";
  });
}

TEST_P(a_server_of_one_worker, waits_for_the_peer_if_it_has_been_sent_much) {
  write("page", std::string(9'000, 'x') + "a page");
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const bool may = co_await may_go_on_after(c, "HEAD /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(may) << "what the client had not read was left to the kernel";
  });
}

TEST_P(a_server_of_one_worker, waits_for_the_peer_if_the_disk_had_to_be_asked) {
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await send(c, get("/page", "Connection: close\r\n"));
    const bool may = co_await may_go_on(c);
    EXPECT_TRUE(may);
  });
}

TEST_P(a_server_of_one_worker, waits_for_the_peer_if_all_it_has_been_sent_is_much) {
  write("page", std::string(3'000, 'x') + "a page");
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    for (int n = 0; n < 2; ++n) {
      std::string came;
      co_await send(c, get("/page"));
      co_await hear(c, came, "a page");
    }
    const bool may = co_await may_go_on_after(c, get("/page", "Connection: close\r\n"));
    EXPECT_TRUE(may) << "what the client had not read of the answers before was left to the kernel";
  });
}

TEST_P(a_server_of_one_worker, waits_for_the_peer_if_the_disk_had_to_be_asked_for_the_request_before) {
  network_.partial_percent = 0;  // it reads both at once
  write("other", "another");
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const bool may = co_await may_go_on_after(c, get("/other") + get("/page", "Connection: close\r\n"));
    EXPECT_TRUE(may);
  });
}

TEST_P(a_server_of_one_worker, that_ends_waits_for_the_peer) {
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    std::string came;
    co_await send(c, get("/page"));
    co_await hear(c, came, "a page");
    co_await send(c, "GET /page HTTP/1.1\r\n");
    co_await pass(10ms);
    drain(s);
    co_await pass(10ms);
    co_await send(c, "Host: a\r\nConnection: close\r\n\r\n");
    const bool may = co_await may_go_on(c);
    EXPECT_TRUE(may);
  });
}

TEST_P(a_server_of_one_worker, has_one_buffer_for_all_connections_that_wait_for_their_peers) {
  constexpr std::size_t bytes = 40'000;
  write("middle", std::string(bytes, 'x'));
  with_.pages.recheck = 1h;
  play_on_the_kernel([](tartan::tcp::stream& c, server&) -> tartan::task<> {  // a simulated network allocates, too
    auto other = co_await tartan::tcp::connect(*c.peer_address());
    std::array<std::byte, 1000> room;
    const auto ask = [&room](tartan::tcp::stream& peer) -> tartan::task<> {
      co_await send(peer, get("/middle"));
      std::string head = co_await head_from(peer);
      for (std::size_t left = bytes - (head.size() - head.find("\r\n\r\n") - 4); left != 0;) {
        left -= (co_await peer.read_some(std::span{room}.first(std::min(room.size(), left)))).value_or(left);
      }
    };
    co_await ask(c);  // reads it from the disk
    co_await ask(c);
    const test::failing_memory counts{{.least = bytes / 2}, test::failing_memory::never};
    for (int n = 0; n < 10; ++n) {
      co_await ask(c);
      co_await ask(*other);
    }
    EXPECT_EQ(counts.count(), 0u);
  });
}

TEST_P(a_server_of_one_worker, has_no_buffer_for_each_connection_that_was_answered) {
  const std::string text = std::string(3'000, 'x') + "a page";
  write("page", text);
  write("large", std::string(20'000'000, 'x'));
  with_.pages.open_files = 0;  // none is kept open, which would be waited for
  with_.pages.recheck = 1h;
  play_on_the_kernel([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    std::string came;
    for (int n = 0; n < 2; ++n) {  // it is read from the disk; the buffer grows
      came.clear();
      co_await send(c, get("/page"));
      co_await hear(c, came, "a page");
    }
    std::vector<tartan::tcp::stream> others;
    const test::failing_memory counts{{.least = text.size(), .most = read_buffer::usual - 1}, test::failing_memory::never};
    for (int n = 0; n < 10; ++n) {
      auto other = co_await tartan::tcp::connect(*c.peer_address());
      others.push_back(std::move(*other));
      came.clear();
      came.reserve(2 * text.size());
      if (n == 5) {  // this one takes long, and keeps none meanwhile
        co_await send(others.back(), get("/large"));
        co_await hear(others.back(), came, "\r\n\r\n");
        continue;
      }
      co_await send(others.back(), get("/page"));
      co_await hear(others.back(), came, "a page");
    }
    EXPECT_EQ(counts.count(), 0u);
  });
}

/// The library has to be asked for the file, which has become old, and gives it with its open descriptor; the sibling is at hand.
TEST_P(a_server_of_one_worker, sends_a_small_sibling_of_a_large_file) {
  const test::files_changed long_ago{-60s};
  const std::string coded(5000, 'z');
  write_old("large", std::string(large, 'x'));
  write_old("large.gz", coded);
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    std::string came;
    co_await send(c, get("/large"));
    co_await hear(c, came, std::string(large, 'x'));
    for (const auto later : {400ms, 750ms}) {
      co_await pass(later);
      came.clear();
      co_await send(c, get("/large", "Accept-Encoding: gzip\r\n"));
      co_await hear(c, came, "\r\n\r\n");
      EXPECT_EQ(value_of(came, "Content-Length"), std::to_string(coded.size()));
      co_await hear(c, came, coded);
    }
  });
}

/// It has been asked for before, so that this answer waits for no library; but the disk may take its time.
TEST_P(a_server_of_one_worker, waits_for_the_peer_behind_a_short_part_of_a_large_file) {
  for (const bool is_closed_by_1_0 : {false, true}) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      std::string came;
      const std::string part = "Range: bytes=0-1\r\n";
      co_await send(c, get("/large", part));
      co_await hear(c, came, "\r\n\r\nxx");
      std::string last = is_closed_by_1_0 ? "GET /large HTTP/1.0\r\n" + part + "\r\n" : get("/large", part + "Connection: close\r\n");
      co_await send(c, std::move(last));
      const bool may = co_await may_go_on(c, "HTTP/1.1 206 ");
      EXPECT_TRUE(may);
    });
  }
}

/// The worker has the page and its open file, and the page counts as checked.
TEST_P(a_server_of_one_worker, never_sends_a_large_file_with_another_length) {
  with_.pages.recheck = 1h;
  write_old("coded", "as it is");
  write_old("coded.gz", std::string(large, 'z'));
  with_.hosts[0].error_pages[http::status::not_found] = "/sorry";
  const struct {
    const char* path;
    const char* name;
    const char* fields;
  } cases[] = {{"/large", "large", ""}, {"/coded", "coded.gz", "Accept-Encoding: gzip\r\n"}, {"/nothing", "sorry", ""}};
  play_on_the_kernel([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    for (const auto& each : cases) {
      for (const std::size_t size : {large, large, large - 1000, large + 1000}) {
        write_old(each.name, std::string(size - 1, 'y') + "!");  // in place: it is the same open file
        std::string came;
        co_await send(c, get(each.path, each.fields));
        co_await hear(c, came, "!");
        EXPECT_EQ(value_of(came, "Content-Length"), std::to_string(size));
        EXPECT_EQ(came.size() - came.find("\r\n\r\n") - 4, size);
      }
    }
  });
}

/// Nobody asks the library meanwhile, which would close it.
TEST_P(a_server_of_one_worker, keeps_a_large_file_open_while_it_is_sent_again_and_again) {
  with_.pages.recheck = 1h;
  write("large", std::string(large, 'x') + "!");
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    for (int n = 0; n < 6; ++n) {
      std::string came;
      co_await send(c, get("/large"));
      co_await hear(c, came, "!");
      EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ")) << came.substr(0, 20) << " after " << 4 * n << " s";
      if (n == 0) std::filesystem::remove(folder_ / "large");
      co_await pass(4s);
    }
  });
}

TEST_P(a_server_of_one_worker, keeps_the_buffer_of_connections_that_end) {
  const std::string text = std::string(3'000, 'x') + "a page";
  write("page", text);
  with_.pages.recheck = 1h;
  play_on_the_kernel([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    std::string came;
    came.reserve(2 * text.size());
    const auto ask = [&](tartan::tcp::stream& peer, const char* fields, const char* behind = "") -> tartan::task<> {
      came.clear();
      co_await send(peer, get("/page", fields) + behind);
      co_await hear(peer, came, "a page");
    };
    co_await ask(c, "");
    co_await ask(c, "");
    const test::failing_memory counts{{.least = text.size(), .most = read_buffer::usual - 1}, test::failing_memory::never};
    for (int n = 0; n < 10; ++n) {
      auto other = co_await tartan::tcp::connect(*c.peer_address());
      co_await ask(*other, "Connection: close\r\n", n % 2 == 0 ? "" : "\r\n");  // at once, and after the peer
    }
    EXPECT_EQ(counts.count(), 0u);
  });
}

}  // namespace
}  // namespace web
