#include "web/request_body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "web/received_fixture.h"

namespace web {
namespace {

using outcome = request_body::outcome;
using test::receive;

constexpr std::uint64_t most = 1000;

/// In pieces of so many bytes, up to the end of the body. Gives the outcome, and leaves what is not the body's in `bytes`.
outcome drop(const request& of, std::string& bytes, std::size_t piece) {
  request_body body{most};
  body.begin(of);
  read_buffer in;
  outcome got = body.drop_from(in);
  std::size_t at = 0;
  for (; at < bytes.size() && got == outcome::incomplete; at += std::min(piece, bytes.size() - at)) {
    receive(in, std::string_view{bytes}.substr(at, piece));
    got = body.drop_from(in);
    EXPECT_EQ(body.is_complete(), got == outcome::complete);
  }
  bytes = std::string{in.text()} + bytes.substr(at);
  return got;
}

outcome chunks(std::string bytes, std::size_t piece = 100'000) {
  request of;
  of.chunked = true;
  return drop(of, bytes, piece);
}

TEST(request_body, that_is_not_there_is_complete) {
  std::string bytes = "GET";
  EXPECT_EQ(drop({}, bytes, 10), outcome::complete);
  EXPECT_EQ(bytes, "GET");
}

TEST(request_body, of_a_known_length_is_dropped_unseen) {
  for (const std::size_t piece : {1u, 2u, 100u}) {
    request of;
    of.content_length = 5;
    std::string bytes = "\r\n\r\n!GET";
    EXPECT_EQ(drop(of, bytes, piece), outcome::complete);
    EXPECT_EQ(bytes, "GET");
    bytes = "1234";
    EXPECT_EQ(drop(of, bytes, piece), outcome::incomplete);
  }
}

TEST(request_body, in_chunks_ends_with_the_last_of_them) {
  for (const std::string_view body :
       {"0\r\n\r\n", "1\r\nx\r\n0\r\n\r\n", "0000000a\r\n0\r\n\r\n0\r\n\r\n\r\n000\r\n\r\n", "aB;a=\"b\";c\r\n" /* 171 */,
        "3;\r\nabc\r\n0;x\r\nTrailer: 1\r\nAnother: 2\r\n\r\n", "3 ;a=b\r\nabc\r\n0 \t ; a = b ;c\r\n\r\n", "00000003\t;\r\nabc\r\n0\r\n\r\n"}) {
    for (const std::size_t piece : {1u, 2u, 3u, 5u, 1000u}) {
      request of;
      of.chunked = true;
      std::string bytes{body};
      if (body.starts_with("aB")) bytes += std::string(171, 'x') + "\r\n0\r\n\r\n";
      bytes += "GET";
      EXPECT_EQ(drop(of, bytes, piece), outcome::complete) << body;
      EXPECT_EQ(bytes, "GET") << body;
    }
  }
}

TEST(request_body, in_chunks_is_refused_if_its_end_could_be_seen_elsewhere) {
  for (const std::string_view body :
       {"\r\n", "x\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\n", "1\t\r\n", "1 a;b\r\n", "1 1;b\r\n", " 1 ;b\r\n", "1\r ;b\r\n",
        "1 \v;b\r\n", "1 =;b\r\n", " ;a\r\n", ";a\r\n", "000000001 ;a\r\n", "1 ;a\n", "1 ;\n\r\n", "1 \r\n;a\r\n", "1\n", "1\rx\r\n", "1;a\rb\r\n",
        "1;\n\r\n", "\n", "000000001\r\n", "1\r\nx0\r\n", "1\r\nx\n", "1\r\n\r\n\r\n", "1\r\nx\r\n0\r\n\n", "0\r\na\rb\r\n", "0\r\na: b\n"}) {
    for (const std::size_t piece : {1u, 2u, 1000u}) EXPECT_EQ(chunks(std::string{body}, piece), outcome::refused) << body;
  }
  EXPECT_EQ(chunks("1;" + std::string{"\0\r\n", 3}), outcome::refused);
}

TEST(request_body, in_chunks_is_refused_if_what_comes_behind_them_is_no_header) {
  for (const std::string_view line : {"X", ": x", "X : y", " X: y", "\tfolded: z", "X\xff: a", "{}: a", "GET / HTTP/1.1", "0", "X: a\x01", "X: a\x7f"}) {
    for (const std::string_view before : {"0\r\n", "0\r\nA: b\r\n"}) {
      for (const std::size_t piece : {1u, 2u, 1000u}) {
        EXPECT_EQ(chunks(std::string{before}.append(line).append("\r\n\r\n"), piece), outcome::refused) << line;
      }
    }
  }
  EXPECT_EQ(chunks("0\r\nX:\r\nY:\t\xc3\xa4 \t\r\n\r\n"), outcome::complete);
}

TEST(request_body, in_chunks_has_a_limit) {
  const auto with = [](std::size_t size) { return "00000" + std::string{"0123456789abcdef"[size / 256]} + "00\r\n"; };
  EXPECT_EQ(chunks(with(768)), outcome::incomplete);
  EXPECT_EQ(chunks(with(1024)), outcome::refused) << "before it comes";
  EXPECT_EQ(chunks("ffffffff\r\n"), outcome::refused);
  std::string many;
  for (int n = 0; n < 200; ++n) many += "1\r\nx\r\n";
  EXPECT_EQ(chunks(many), outcome::refused) << "what is around the chunks counts";
  std::string trailers = "0\r\n";
  for (int n = 0; n < 200; ++n) trailers += "a: b\r\n";
  EXPECT_EQ(chunks(trailers), outcome::refused);
  EXPECT_EQ(chunks("1;" + std::string(4092, 'x')), outcome::incomplete);
  EXPECT_EQ(chunks("1;" + std::string(4094, 'x')), outcome::refused) << "a line without an end";
}

TEST(request_body, is_as_long_as_the_request_says_each_time) {
  request_body body{most};
  read_buffer in;
  request of;
  of.chunked = true;
  for (int n = 0; n < 300; ++n) {  // the limit is one body's
    body.begin(of);
    receive(in, "1\r\nx\r\n0\r\n\r\n");
    EXPECT_EQ(body.drop_from(in), outcome::complete);
    EXPECT_TRUE(in.empty());
  }
}

}  // namespace
}  // namespace web
