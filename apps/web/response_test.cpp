#include "web/response.h"

#include <gtest/gtest.h>
#include <tartan/http/date.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "tests/web/failing_memory.h"

namespace web {
namespace {

constexpr std::string_view date = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::int64_t in_1994 = 784'111'777;  // that date

file_version modified_at(std::int64_t seconds) {
  file_version made;
  made.modified.seconds = made.changed.seconds = seconds;
  made.size = 5;
  return made;
}

page sample() {
  page made;
  made.body = page_body{"hello"};
  made.size = 5;
  describe(made, "a/b.html", {modified_at(784111777)}, 784111779);
  return made;
}

/// Of a page that was modified then, at some time.
std::string head_at(std::int64_t modified, std::time_t now, bool certain = true) {
  page made;
  describe(made, "a", {modified_at(modified), certain}, now);
  return made.head;
}

TEST(response, of_a_page_has_everything_in_order) {
  std::string out;
  append_page(out, sample(), {date, true, false, true});
  EXPECT_EQ(out,
            "HTTP/1.1 200 OK\r\nServer: tartan\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 5\r\n"
            "Accept-Ranges: bytes\r\nETag: \"2ebc98a1.0-0-5\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nhello");
}

TEST(response, that_the_client_has_the_page_says_by_what_it_is_known) {
  std::string out;
  append_not_modified(out, sample(), {date, true, false, true});
  EXPECT_EQ(out,
            "HTTP/1.1 304 Not Modified\r\nServer: tartan\r\nETag: \"2ebc98a1.0-0-5\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n");
}

TEST(response, that_a_range_cannot_be_had_says_how_large_the_page_is) {
  std::string out;
  append_not_satisfiable(out, sample(), {date, true, false, true});
  EXPECT_TRUE(out.starts_with("HTTP/1.1 416 Range Not Satisfiable\r\n")) << out;
  EXPECT_NE(out.find("\r\nContent-Range: bytes */5\r\n"), std::string::npos) << out;
}

TEST(response, with_one_part_is_that_part) {
  std::string out;
  std::vector<std::string> frame;
  const std::array part{http::byte_range{1, 3}};
  append_parts(out, sample(), part, "b", {date, true, false, true}, frame);
  EXPECT_EQ(out,
            "HTTP/1.1 206 Partial Content\r\nServer: tartan\r\nContent-Type: text/html; charset=utf-8\r\nContent-Range: bytes 1-3/5\r\n"
            "Content-Length: 3\r\nETag: \"2ebc98a1.0-0-5\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n");
  EXPECT_EQ(frame, (std::vector<std::string>{"", ""}));
}

TEST(response, with_a_part_of_a_sibling_says_how_it_is_coded) {
  page coded;
  coded.size = 5;
  describe(coded, "a/b.html", {modified_at(784111777), true, http::coding::gzip}, 784111779);
  std::string out;
  std::vector<std::string> frame;
  append_parts(out, coded, std::array{http::byte_range{1, 3}}, "", {date, true, false, true}, frame);
  EXPECT_NE(out.find("\r\nContent-Range: bytes 1-3/5\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\nETag: \"2ebc98a1.0-0-5.gz\"\r\n"), std::string::npos)
      << out;
}

TEST(response, with_several_parts_separates_them) {
  std::string out;
  std::vector<std::string> frame;
  const std::array parts{http::byte_range{4, 1}, http::byte_range{0, 2}};
  append_parts(out, sample(), parts, "b", {date, true, false, true}, frame);
  EXPECT_TRUE(out.ends_with("\r\n\r\n")) << out;
  const std::vector<std::string> around{"--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Range: bytes 4-4/5\r\n\r\n",
                                        "\r\n--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Range: bytes 0-1/5\r\n\r\n", "\r\n--b--\r\n"};
  EXPECT_EQ(frame, around);
  const std::string length = "\r\nContent-Length: " + std::to_string(around[0].size() + 1 + around[1].size() + 2 + around[2].size()) + "\r\n";
  EXPECT_NE(out.find("\r\nContent-Type: multipart/byteranges; boundary=b" + length), std::string::npos) << out;
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
  append_status(out, http::status::method_not_allowed, {date, false, false, true});
  EXPECT_EQ(out,
            "HTTP/1.1 405 Method Not Allowed\r\nServer: tartan\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 23\r\n"
            "Allow: GET, HEAD\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\n\r\n405 Method Not Allowed\n");
}

TEST(response, that_redirects_adds_the_slash) {
  std::string out;
  append_redirect(out, "/a%20b/?x=1", {date, true, false, true});
  EXPECT_NE(out.find("\r\nLocation: /a%20b/?x=1\r\n"), std::string::npos) << out;
}

TEST(response, that_is_no_page_has_what_its_host_adds_to_each) {
  const response_form form{date, true, false, true, "\r\nX-More: a"};
  std::string all;
  append_status(all, http::status::not_found, form);
  append_redirect(all, "/b/", form);
  append_not_satisfiable(all, sample(), form);
  append_error_page(all, http::status::not_found, sample(), form);
  std::size_t answers = 0;
  for (std::size_t at = 0; (at = all.find("\r\nX-More: a\r\nDate: ", at)) != std::string::npos; ++at) ++answers;
  EXPECT_EQ(answers, 4u) << all;
}

TEST(response, that_is_no_page_has_nothing_that_describes_one) {
  const std::string tls = "\r\nstrict-transport-security: max-age=1";
  const std::string policies = "\r\nContent-Security-Policy: a\r\ncontent-security-policy-report-only: b:c\r\nExpires-Not: x\r\nX-Content-: ";
  EXPECT_EQ(headers_of_any_answer("\r\nContent-Language: de\r\nexpires: 0" + tls + policies + "\r\ncontent-disposition: a", false), tls + policies);
  EXPECT_EQ(headers_of_any_answer(tls + policies + tls, true), policies);
  EXPECT_EQ(headers_of_any_answer("", true), "");
}

TEST(page, has_the_type_of_its_extension) {
  EXPECT_EQ(content_type("a/b.css"), "text/css; charset=utf-8");
  EXPECT_EQ(content_type("a/b.min.JS"), "text/javascript; charset=utf-8");
  EXPECT_EQ(content_type("picture.svg"), "image/svg+xml");
  EXPECT_EQ(content_type("a.html/b"), "application/octet-stream");
  EXPECT_EQ(content_type(".html"), "application/octet-stream");
  EXPECT_EQ(content_type("a."), "application/octet-stream");
  EXPECT_EQ(content_type("no_extension"), "application/octet-stream");
  for (const char* each : {"woff2", "avif", "webp", "mjs", "wasm", "webmanifest", "map", "ico", "mp4", "webm", "mp3", "ogg", "flac", "pdf", "zip", "gz", "xml",
                           "rss", "atom", "csv", "md", "txt", "ttf", "jsonld"}) {
    EXPECT_NE(content_type(std::string{"a."} + each), "application/octet-stream") << each;
  }
}

TEST(content_type, goes_by_what_was_set_first) {
  const type_map more{{"css", "text/x-mine"}, {"new", "a/new"}};
  EXPECT_EQ(content_type("b.css", more), "text/x-mine");
  EXPECT_EQ(content_type("b.New", more), "a/new");
  EXPECT_EQ(content_type("new", more), "application/octet-stream");
  EXPECT_EQ(content_type("b.js", more), "text/javascript; charset=utf-8");
  const page_options with{more, ""};  // outlives the page, which points into it
  page made;
  describe(made, "b.new", {modified_at(784111777)}, 784111779, with);
  EXPECT_EQ(made.type, "a/new");
}

TEST(page, says_how_long_it_may_be_kept_if_it_was_set) {
  const page_options with{{}, "max-age=60"};
  page made;
  describe(made, "b.css", {modified_at(784111777)}, 784111779, with);
  EXPECT_NE(made.head.find("\r\nCache-Control: max-age=60\r\n"), std::string::npos) << made.head;
  EXPECT_NE(made.known_by.find("\r\nCache-Control: max-age=60"), std::string::npos) << made.known_by;
  describe(made, "b.css", {modified_at(784111777)}, 784111779);
  EXPECT_EQ(made.head.find("Cache-Control"), std::string::npos) << made.head;
}

TEST(page, has_what_the_rules_say_that_fit_it) {
  const page_options with{.cache_control = "no-cache",
                          .headers = "\r\nX-A: 1\r\nX-AB: 2",
                          .rules = {{.path = "/assets/", .cache_control = "immutable"},
                                    {.extensions = {"js", "css"}, .headers = "\r\nx-a: 3"},
                                    {.path = "/assets/old", .extensions = {"js"}, .cache_control = "max-age=1", .headers = "\r\nX-C: 4\r\nX-A: 5"}}};
  const auto lines_of = [&with](const char* path) {
    page made;
    describe(made, path, {modified_at(784111777), false}, 784111779, with);
    return made.known_by;
  };
  EXPECT_EQ(lines_of("index.html"), "\r\nCache-Control: no-cache\r\nX-A: 1\r\nX-AB: 2");
  EXPECT_EQ(lines_of("/assets/a.png"), "\r\nCache-Control: immutable\r\nX-A: 1\r\nX-AB: 2");
  EXPECT_EQ(lines_of("my/assets/a.png"), "\r\nCache-Control: no-cache\r\nX-A: 1\r\nX-AB: 2");
  EXPECT_EQ(lines_of("a.CSS"), "\r\nCache-Control: no-cache\r\nX-AB: 2\r\nx-a: 3");
  EXPECT_EQ(lines_of("assets/old.js"), "\r\nCache-Control: max-age=1\r\nX-AB: 2\r\nX-C: 4\r\nX-A: 5");
}

TEST(response, of_a_page_for_an_error_says_nothing_by_which_it_could_be_kept) {
  std::string out;
  append_error_page(out, http::status::not_found, sample(), {date, true, false, true});
  EXPECT_EQ(out,
            "HTTP/1.1 404 Not Found\r\nServer: tartan\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 5\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nhello");
  out.clear();
  append_error_page(out, http::status::unavailable, sample(), {date, false, false, false});
  EXPECT_TRUE(out.starts_with("HTTP/1.1 503 Service Unavailable\r\n") && out.ends_with("\r\nConnection: close\r\n\r\n")) << out;
}

// In the second of its date it may be changed again, and have the same.
TEST(page, modified_a_moment_ago_or_in_the_future_does_not_say_when) {
  EXPECT_NE(head_at(in_1994, in_1994 + 2).find("Last-Modified"), std::string::npos);
  EXPECT_EQ(head_at(in_1994, in_1994 + 1).find("Last-Modified"), std::string::npos);
  EXPECT_EQ(head_at(in_1994, in_1994 - 1).find("Last-Modified"), std::string::npos);
}

TEST(page, that_is_not_certain_has_neither_date_nor_tag) {
  EXPECT_NE(head_at(in_1994, in_1994 + 1000, true).find("ETag"), std::string::npos);
  EXPECT_EQ(head_at(in_1994, in_1994 + 1000, false).find("ETag"), std::string::npos);
  EXPECT_EQ(head_at(in_1994, in_1994 + 1000, false).find("Last-Modified"), std::string::npos);
}

/// Nix, and images that are to be the same whenever they are built, date each file 0 or 1.
TEST(page, from_before_1980_has_a_tag_and_no_date) {
  constexpr std::int64_t first_of_1980 = 315'532'800;
  for (const std::int64_t seconds : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, first_of_1980 - 1}) {
    const std::string head = head_at(seconds, in_1994);
    EXPECT_EQ(head.find("Last-Modified"), std::string::npos) << seconds;
    EXPECT_NE(head.find("ETag"), std::string::npos) << seconds;
  }
  EXPECT_NE(head_at(first_of_1980, in_1994).find("Last-Modified: Tue, 01 Jan 1980 00:00:00 GMT"), std::string::npos);
}

TEST(page, of_any_year_has_a_version_and_a_date_if_there_is_one) {
  struct stat s{};
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t seconds : {least, -62'135'596'801, -9'300'000'000, in_1994, 9'300'000'000, most}) {
    s.st_mtim.tv_sec = s.st_ctim.tv_sec = seconds;
    EXPECT_EQ(file_version::of(s).modified.seconds, seconds);
    EXPECT_EQ(head_at(seconds, in_1994 + 2).find("Last-Modified") != std::string::npos, seconds == in_1994) << seconds;
  }
}

TEST(date_clock, without_memory_for_its_text_tries_again) {
  http::date_clock clock;
  {
    const test::failing_memory fails{{}};
    EXPECT_THROW(static_cast<void>(clock.text()), std::bad_alloc);
  }
  EXPECT_EQ(clock.text().size(), date.size());
}

}  // namespace
}  // namespace web
