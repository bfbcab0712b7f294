#include <gtest/gtest.h>
#include <tartan/buf/chain.h>
#include <tartan/http/response_parser.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace tartan::http {
namespace {

using outcome = response_parser::outcome;

struct answer {
  outcome ended = outcome::incomplete;
  response found;
  std::string error;
};

answer parse(std::string_view bytes, method asked = method::get, const response_limits& limits = {}) {
  response_parser parser{limits};
  parser.reset(asked);
  answer a;
  a.ended = parser.parse(bytes, a.found);
  if (a.ended == outcome::refused) a.error = parser.error();
  a.found.fields = header_lines{a.found.fields.text()};  // the parser does not stay
  return a;
}

answer with(std::string_view fields, std::string_view line = "HTTP/1.1 200 OK", method asked = method::get) {
  static std::string bytes;  // the views stay valid until the next call
  bytes = std::string{line} + "\r\n" + std::string{fields} + "\r\n";
  return parse(bytes, asked);
}

TEST(response_parser, takes_a_usual_response_apart) {
  const std::string_view bytes = "HTTP/1.1 404 Not Found\r\nServer: x\r\nContent-Length: 5\r\nX:\t y \r\n\r\nhello";
  const answer a = parse(bytes);
  ASSERT_EQ(a.ended, outcome::complete);
  EXPECT_EQ(a.found.status, status::not_found);
  EXPECT_EQ(a.found.reason, "Not Found");
  EXPECT_EQ(a.found.body, body_end::length);
  EXPECT_EQ(a.found.content_length, 5u);
  EXPECT_TRUE(a.found.keep_alive);
  EXPECT_FALSE(a.found.http_1_0);
  EXPECT_FALSE(a.found.is_interim());
  EXPECT_EQ(a.found.fields.only("x"), "y");
  EXPECT_EQ(bytes.substr(a.found.head_size), "hello");
}

TEST(response_parser, sees_the_same_in_whatever_pieces_the_bytes_come) {
  const std::string bytes = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer: x\r\nContent-Length: 7\r\n\r\n";
  response_parser parser;
  response found;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_EQ(parser.parse(std::string{bytes}.substr(0, size), found), outcome::incomplete) << size;
  }
  ASSERT_EQ(parser.parse(bytes, found), outcome::complete);
  EXPECT_EQ(found.content_length, 7u);
  EXPECT_TRUE(found.keep_alive);
  EXPECT_EQ(found.fields.noted(), 3u);
  EXPECT_EQ(found.fields.only("transfer"), "x");
}

TEST(response_parser, takes_a_status_with_or_without_words) {
  for (const char* const line :
       {"HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1 200 OK", "HTTP/1.1 200 \xc3\xa4 b", "HTTP/1.9 200 OK"}) {
    EXPECT_EQ(with("", line).ended, outcome::complete) << line;
  }
  EXPECT_EQ(with("", "HTTP/1.1 200").found.reason, "");
  EXPECT_EQ(static_cast<int>(with("", "HTTP/1.1 999 Odd").found.status), 999);
}

TEST(response_parser, refuses_what_is_no_status_line) {
  for (const char* const line : {"HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 2x0 OK", "HTTP/1.1 099 OK",
                                 "HTTP/1.1  200 OK", "HTTP/2.0 200 OK", "http/1.1 200 OK", "200 OK", "<html>", "",
                                 " HTTP/1.1 200 OK", "HTTP/1.1 200 O\x01K", "HTTP/1.x 200 OK"}) {
    EXPECT_EQ(with("", line).ended, outcome::refused) << line;
  }
  EXPECT_EQ(parse("SSH-2.0").ended, outcome::refused) << "it may never end its line";
  EXPECT_EQ(parse("HTTP/1.1 200 OK\n").ended, outcome::refused);
  EXPECT_EQ(parse("HT").ended, outcome::incomplete);
}

TEST(response_parser, refuses_what_is_no_field) {
  for (const char* const line : {"no field", ": x", " X: y", "X : y", "X\xff: y", "X: a\x01", "X: \r y"}) {
    EXPECT_EQ(with(std::string{line} + "\r\n").ended, outcome::refused) << line;
  }
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nX: y\n\r\n").ended, outcome::refused);
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\n\n").ended, outcome::refused);
}

TEST(response_parser, refuses_whatever_leaves_the_end_of_the_body_in_doubt) {
  for (const char* const fields :
       {"Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: \r\n", "Content-Length: +5\r\n", "Content-Length: 5, 5\r\n", "Content-Length: -1\r\n",
        "Content-Length: 99999999999999999999999\r\n", "Content-Length: 2000000000000000\r\n",
        "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, gzip\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: \r\n"}) {
    const answer a = with(fields);
    EXPECT_EQ(a.ended, outcome::refused) << fields;
    EXPECT_FALSE(a.error.empty());
  }
  EXPECT_EQ(with("Transfer-Encoding: chunked\r\n", "HTTP/1.0 200 OK").ended, outcome::refused);
  EXPECT_EQ(with("Content-Length: 5\r\n", "HTTP/1.1 103 Early Hints").ended, outcome::refused);
}

TEST(response_parser, says_where_the_body_ends) {
  EXPECT_EQ(with("Transfer-Encoding: Chunked\r\n").found.body, body_end::chunks);
  EXPECT_EQ(with("Content-Length: 3\r\n").found.body, body_end::length);
  EXPECT_EQ(with("Content-Length: 0\r\n").found.body, body_end::nothing);
  EXPECT_EQ(with("").found.body, body_end::connection);
  for (const char* const line : {"HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified"}) {
    const answer a = with("Content-Length: 3\r\n", line);
    EXPECT_EQ(a.found.body, body_end::nothing) << line;
    EXPECT_EQ(a.found.content_length, 0u) << line;
  }
  EXPECT_EQ(with("Content-Length: 3\r\n", "HTTP/1.1 200 OK", method::head).found.body, body_end::nothing);
  EXPECT_EQ(with("", "HTTP/1.1 200 OK", method::connect).found.body, body_end::nothing);
  EXPECT_EQ(with("", "HTTP/1.1 400 No", method::connect).found.body, body_end::connection);
}

TEST(response_parser, says_whether_the_connection_goes_on) {
  const auto goes_on = [](std::string_view fields, std::string_view line = "HTTP/1.1 200 OK") {
    return with(std::string{fields} + "Content-Length: 0\r\n", line).found.keep_alive;
  };
  EXPECT_TRUE(goes_on(""));
  EXPECT_FALSE(goes_on("Connection: close\r\n"));
  EXPECT_FALSE(goes_on("connection:x , CLOSE\r\n"));
  EXPECT_FALSE(goes_on("", "HTTP/1.0 200 OK"));
  EXPECT_TRUE(goes_on("Connection: Keep-Alive\r\n", "HTTP/1.0 200 OK"));
  EXPECT_FALSE(with("").found.keep_alive) << "the body ends with the connection";
  EXPECT_TRUE(goes_on("", "HTTP/1.1 204 No Content"));
  EXPECT_FALSE(with("Content-Length: 3\r\n", "HTTP/1.1 204 No Content").found.keep_alive) << "a body may follow";
  EXPECT_FALSE(with("Transfer-Encoding: chunked\r\n", "HTTP/1.1 204 No Content").found.keep_alive);
  EXPECT_FALSE(with("", "HTTP/1.1 200 OK", method::connect).found.keep_alive) << "a tunnel";
  EXPECT_TRUE(with("Content-Length: 0\r\n", "HTTP/1.1 407 No", method::connect).found.keep_alive);
}

TEST(response_parser, goes_on_behind_an_interim_response) {
  std::string_view bytes = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
  response_parser parser;
  response found;
  ASSERT_EQ(parser.parse(bytes, found), outcome::complete);
  EXPECT_TRUE(found.is_interim());
  EXPECT_FALSE(found.has_body());
  bytes.remove_prefix(found.head_size);
  parser.reset();
  ASSERT_EQ(parser.parse(bytes, found), outcome::complete);
  EXPECT_EQ(found.status, status::ok);
  EXPECT_FALSE(with("", "HTTP/1.1 101 Switching Protocols").found.is_interim()) << "no HTTP follows";
}

TEST(response_parser, has_limits_that_the_caller_sets) {
  response_limits small;
  small.line = 20;
  small.head = 40;
  small.fields = 2;
  small.body = 10;
  const auto ended = [&](std::string_view bytes) { return parse(bytes, method::get, small).ended; };
  EXPECT_EQ(ended("HTTP/1.1 200 12345678\r\n\r\n"), outcome::refused);
  EXPECT_EQ(ended("HTTP/1.1 200 12345678"), outcome::refused) << "before its end has come";
  EXPECT_EQ(ended("HTTP/1.1 200 1234567\r\n\r\n"), outcome::complete);
  EXPECT_EQ(ended("HTTP/1.1 200 OK\r\nA: b\r\nA: b\r\nA: b\r\n\r\n"), outcome::refused);
  EXPECT_EQ(ended("HTTP/1.1 200 OK\r\nA: " + std::string(40, 'x')), outcome::refused);
  EXPECT_EQ(ended("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"), outcome::refused);
  EXPECT_EQ(ended("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), outcome::complete);
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", method::head, small).ended, outcome::complete) << "no body follows";
  EXPECT_EQ(ended("HTTP/1.1 304 No\r\nContent-Length: 11\r\n\r\n"), outcome::complete);
}

TEST(response_parser, has_no_limits_if_the_caller_sets_none) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  response_limits none;
  none.line = none.head = none.fields = all;
  response_parser parser{none};
  response found;
  buf::slice head;
  buf::chain received;
  const std::string bytes = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n";
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(parser.parse(received, head, found), outcome::incomplete);
    received.append(buf::slice::copy_of(bytes.substr(n, 1)));
  }
  EXPECT_EQ(parser.parse(received, head, found), outcome::complete);
}

TEST(response_parser, reads_a_chain_of_any_pieces) {
  const std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    response_parser parser;
    response found;
    buf::chain received;
    buf::slice head;
    outcome ended = outcome::incomplete;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      received.append(buf::slice::copy_of(bytes.substr(at, piece)));
      if (ended == outcome::incomplete) ended = parser.parse(received, head, found);
    }
    ASSERT_EQ(ended, outcome::complete) << piece;
    EXPECT_EQ(head.size(), found.head_size);
    EXPECT_EQ(found.fields.only("X"), "y");
    EXPECT_EQ(received.to_string(), "hello") << piece;
  }
}

}  // namespace
}  // namespace tartan::http
