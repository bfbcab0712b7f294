#include "response.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <limits>
#include <new>
#include <string>

#include "http_date.h"
#include "tests/web/failing_memory.h"

namespace web {
namespace {

constexpr std::string_view date = "Sun, 06 Nov 1994 08:49:37 GMT";

page sample() {
  struct stat s{};
  s.st_size = 5;
  s.st_mtim.tv_sec = 784111777;
  page made;
  made.head = page_head("a/b.html", s, 784111778);
  made.body = "hello";
  return made;
}

TEST(response, of_a_page_has_everything_in_order) {
  std::string out;
  append_page(out, sample(), {date, true, false, true});
  EXPECT_EQ(out,
            "HTTP/1.1 200 OK\r\nServer: tartan\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 5\r\n"
            "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nhello");
}

TEST(response, to_head_is_the_same_without_the_body) {
  std::string with;
  std::string without;
  append_page(with, sample(), {date, true, false, true});
  append_page(without, sample(), {date, true, false, false});
  EXPECT_EQ(without + "hello", with);
}

TEST(response, says_whether_the_connection_goes_on) {
  const auto end = [](bool keep_alive, bool http_1_0) {
    std::string out;
    append_page(out, sample(), {date, keep_alive, http_1_0, false});
    return out.substr(out.find(date, out.find("Date:")) + date.size());
  };
  EXPECT_EQ(end(true, false), "\r\n\r\n");
  EXPECT_EQ(end(true, true), "\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(end(false, false), "\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(end(false, true), "\r\nConnection: close\r\n\r\n");
}

TEST(response, of_a_status_has_a_short_body) {
  std::string out;
  append_status(out, status::method_not_allowed, {date, false, false, true});
  EXPECT_EQ(out,
            "HTTP/1.1 405 Method Not Allowed\r\nServer: tartan\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 23\r\n"
            "Allow: GET, HEAD\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\n\r\n405 Method Not Allowed\n");
}

TEST(response, that_redirects_adds_the_slash) {
  std::string out;
  append_redirect(out, {"/a b", "/a%20b", "?x=1"}, {date, true, false, true});
  EXPECT_NE(out.find("\r\nLocation: /a%20b/?x=1\r\n"), std::string::npos) << out;
}

TEST(page, has_the_type_of_its_extension) {
  EXPECT_EQ(content_type("a/b.css"), "text/css; charset=utf-8");
  EXPECT_EQ(content_type("a/b.min.JS"), "text/javascript; charset=utf-8");
  EXPECT_EQ(content_type("picture.svg"), "image/svg+xml");
  EXPECT_EQ(content_type("a.html/b"), "application/octet-stream");
  EXPECT_EQ(content_type(".html"), "application/octet-stream");
  EXPECT_EQ(content_type("a."), "application/octet-stream");
}

TEST(page, modified_in_the_future_does_not_say_when) {
  struct stat s{};
  s.st_mtim.tv_sec = 1000;
  EXPECT_NE(page_head("a", s, 1000).find("Last-Modified"), std::string::npos);
  EXPECT_EQ(page_head("a", s, 999).find("Last-Modified"), std::string::npos);
}

TEST(page, of_any_year_has_a_version_and_a_date_if_there_is_one) {
  struct stat s{};
  for (const std::int64_t seconds : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-62'135'596'801}, std::int64_t{-62'135'596'800},
                                     std::int64_t{-9'300'000'000}, std::int64_t{9'300'000'000}, std::numeric_limits<std::int64_t>::max()}) {
    s.st_mtim.tv_sec = s.st_ctim.tv_sec = seconds;
    EXPECT_EQ(file_version::of(s).modified.seconds, seconds);
    const bool dated = seconds >= -62'135'596'800 && seconds <= 1000;
    EXPECT_EQ(page_head("a", s, 1000).find("Last-Modified") != std::string::npos, dated) << seconds;
  }
  s.st_mtim.tv_sec = -62'135'596'800;
  EXPECT_NE(page_head("a", s, 1000).find("Mon, 01 Jan 0001 00:00:00 GMT"), std::string::npos);
}

TEST(http_date, is_written_as_the_standard_has_it) {
  EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(951782400), "Tue, 29 Feb 2000 00:00:00 GMT");
  EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(date_clock, without_memory_for_its_text_tries_again) {
  date_clock clock;
  {
    const test::failing_memory fails{{}};
    EXPECT_THROW(static_cast<void>(clock.text()), std::bad_alloc);
  }
  EXPECT_EQ(clock.text().size(), date.size());
}

}  // namespace
}  // namespace web
