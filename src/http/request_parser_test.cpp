#include <tartan/http/request_parser.h>

#include <gtest/gtest.h>
#include <tartan/buf/chain.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/seed.h"

namespace tartan::http {
namespace {

using outcome = request_parser::outcome;

struct answer {
  outcome ended = outcome::incomplete;
  status error{};
  request found;
};

answer parse(std::string_view bytes, const request_limits& limits = {}) {
  request_parser parser{limits};
  answer a;
  a.ended = parser.parse(bytes, a.found);
  if (a.ended == outcome::refused) a.error = parser.error();
  a.found.fields = header_lines{a.found.fields.text()};  // the parser does not stay
  return a;
}

/// 0: complete; 1: incomplete; else the status.
int code_of(std::string_view bytes, const request_limits& limits = {}) {
  const answer a = parse(bytes, limits);
  if (a.ended == outcome::complete) return 0;
  return a.ended == outcome::incomplete ? 1 : static_cast<int>(a.error);
}

int code_with(std::string_view fields, std::string_view line = "GET / HTTP/1.1") {
  return code_of(std::string{line} + "\r\n" + std::string{fields} + "\r\n");
}

TEST(request_parser, takes_a_usual_request_apart) {
  const std::string_view bytes =
      "GET /a%20b?c=d HTTP/1.1\r\nHost: example.org:80\r\nAccept: */*\r\nX-Empty:\r\nX-Spaces: \t a b \t\r\n\r\nGET "
      "/next";
  const answer a = parse(bytes);
  ASSERT_EQ(a.ended, outcome::complete);
  EXPECT_EQ(a.found.method, method::get);
  EXPECT_EQ(a.found.target, "/a%20b?c=d");
  EXPECT_FALSE(a.found.http_1_0);
  EXPECT_TRUE(a.found.keep_alive);
  EXPECT_EQ(a.found.content_length, 0u);
  EXPECT_EQ(bytes.substr(a.found.head_size), "GET /next");
}

TEST(request_parser, gives_the_word_of_any_method) {
  EXPECT_EQ(parse("\r\nPURGE /x HTTP/1.1\r\nHost: a\r\n\r\n").found.method_text, "PURGE");
  EXPECT_EQ(parse("GET /x HTTP/1.1\r\nHost: a\r\n\r\n").found.method_text, "GET");
}

TEST(request_parser, reads_a_chain_of_any_pieces) {
  const std::string bytes = "\r\nPOST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    request_parser parser;
    request found;
    buf::chain received;
    buf::slice head;
    outcome ended = outcome::incomplete;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      received.append(buf::slice::copy_of(bytes.substr(at, piece)));
      if (ended == outcome::incomplete) ended = parser.parse(received, head, found);
    }
    ASSERT_EQ(ended, outcome::complete) << piece;
    EXPECT_EQ(head.size(), found.head_size);
    EXPECT_EQ(found.target, "/x");
    EXPECT_EQ(found.fields.only("Host"), "a");
    EXPECT_EQ(received.to_string(), "hello") << piece;
  }
}

TEST(request_parser, refuses_in_a_chain_what_it_refuses_in_a_text) {
  request_limits small;
  small.line = 30;
  small.head = 60;
  for (const std::string_view bytes :
       {"GET / HTTP/1.1\r\nX\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\n", "GET /\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: "
        "01234567890123456789012345678901234567890123456789012345678901234567890123456789"}) {
    request_parser parser{small};
    request found;
    buf::chain received;
    buf::slice head;
    outcome ended = outcome::incomplete;
    for (const char each : bytes) {
      received.append(buf::slice::copy_of(std::string_view{&each, 1}));
      if (ended == outcome::incomplete) ended = parser.parse(received, head, found);
    }
    EXPECT_EQ(ended, outcome::refused) << bytes;
    EXPECT_EQ(static_cast<int>(parser.error()), code_of(bytes, small)) << bytes;
  }
}

TEST(request_parser, notes_where_each_line_begins) {
  const std::string bytes = "\r\nGET / HTTP/1.1\r\nHost: a\r\nX:\r\nAccept-Encoding: \tgzip \r\n\r\n";
  for (std::size_t first = 1; first <= bytes.size(); ++first) {
    request_parser parser;
    for (int again = 0; again < 2; ++again, parser.reset()) {
      request found;
      if (first != bytes.size()) {
        ASSERT_EQ(parser.parse(std::string_view{bytes}.substr(0, first), found), outcome::incomplete);
      }
      ASSERT_EQ(parser.parse(bytes, found), outcome::complete);
      EXPECT_EQ(found.fields.noted(), 3u) << first;
      EXPECT_EQ(found.fields.only("host"), "a");
      EXPECT_EQ(found.fields.only("accept-encoding"), "gzip");
      EXPECT_TRUE(found.fields.has("x"));
      EXPECT_FALSE(found.fields.has(""));
    }
  }
}

TEST(request_parser, sees_the_same_in_whatever_pieces_the_bytes_come) {
  const std::string whole = "\r\nPOST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\n";
  std::string bytes;
  request_parser parser;
  request found;
  for (const char c : whole) {
    ASSERT_EQ(parser.parse(bytes, found), outcome::incomplete) << bytes;
    bytes.push_back(c);
  }
  ASSERT_EQ(parser.parse(bytes, found), outcome::complete);
  EXPECT_EQ(found.method, method::post);
  EXPECT_EQ(found.target, "/x");
  EXPECT_EQ(found.content_length, 5u);
  EXPECT_FALSE(found.keep_alive);
  EXPECT_EQ(found.head_size, whole.size());
}

TEST(request_parser, parses_one_request_after_the_other_after_a_reset) {
  std::string_view bytes = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nHEAD /2 HTTP/1.0\r\n\r\n";
  request_parser parser;
  request found;
  ASSERT_EQ(parser.parse(bytes, found), outcome::complete);
  EXPECT_EQ(found.target, "/1");
  bytes.remove_prefix(found.head_size);
  parser.reset();
  ASSERT_EQ(parser.parse(bytes, found), outcome::complete);
  EXPECT_EQ(found.method, method::head);
  EXPECT_EQ(found.target, "/2");
  EXPECT_EQ(found.head_size, bytes.size());
}

TEST(request_parser, knows_which_methods_there_are) {
  for (const std::string_view name : {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "PATCH"}) {
    EXPECT_EQ(parse(std::string{name} + " / HTTP/1.1\r\nHost: a\r\n\r\n").found.method, method_of(name)) << name;
  }
  for (const std::string_view name : {"get", "BREW", "GETS", "GE", "!#$%&'*+-.^_`|~"}) {
    EXPECT_EQ(parse(std::string{name} + " / HTTP/1.1\r\nHost: a\r\n\r\n").found.method, method::other) << name;
  }
}

TEST(request_parser, refuses_a_line_that_is_none) {
  for (const std::string_view line : {"GET /",
                                      "GET",
                                      "GET HTTP/1.1",
                                      "GET  / HTTP/1.1",
                                      "GET / HTTP/1.1 ",
                                      "GET / HTTP/1.1 x",
                                      " GET / HTTP/1.1",
                                      "GET\t/ HTTP/1.1",
                                      "GET / HTTP/11",
                                      "GET / HTTP/1.",
                                      "GET / http/1.1",
                                      "GET / HTTP/1.x",
                                      "GET / HTTP/x.1",
                                      "GET / HTTP/1.10",
                                      "GET / FTP/1.1",
                                      "G@T / HTTP/1.1",
                                      "GET /\x80 HTTP/1.1",
                                      "GET /\x01 HTTP/1.1",
                                      "GET /a b HTTP/1.1",
                                      "GET / HTTP/1.1\r",
                                      "/ HTTP/1.1",
                                      "{}"}) {
    EXPECT_EQ(code_with("Host: a\r\n", line), 400) << line;
  }
}

TEST(request_parser, speaks_version_1_only) {
  EXPECT_EQ(code_with("Host: a\r\n", "GET / HTTP/1.2"), 0);
  EXPECT_EQ(code_with("Host: a\r\n", "GET / HTTP/2.0"), 505);
  EXPECT_EQ(code_with("Host: a\r\n", "GET / HTTP/0.9"), 505);
  EXPECT_EQ(code_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
}

TEST(request_parser, wants_one_host_from_version_1_1_on) {
  EXPECT_EQ(code_with(""), 400);
  EXPECT_EQ(code_with("Host: a\r\nhost: a\r\n"), 400);
  EXPECT_EQ(code_with("", "GET / HTTP/1.0"), 0);
  EXPECT_EQ(code_with("Host: a\r\nHost: b\r\n", "GET / HTTP/1.0"), 400);
}

TEST(request_parser, wants_a_host_that_could_be_one) {
  for (const std::string_view host : {"", "a", "A-1.example_b~", "a:80", "a:", "127.0.0.1:8080", "[::1]", "[::1]:80",
                                      "[v1.a:b]", "[VF.~]", "[2001:db8::192.0.2.1]", "%C3%a4", "a%20b", "x;y"}) {
    EXPECT_EQ(code_with("Host: " + std::string{host} + "\r\n"), 0) << host;
  }
  for (const std::string_view host : {"a b",     "a/b",      "a@b",
                                      "a?b",     "a#b",      "a:b",
                                      "a:80:80", "::1",      "[::1",
                                      "[::1]80", "[]",       "[zz!!]",
                                      "[::1::]", "[::%31]",  "[1.2.3.4]",
                                      "[v.a]",   "[v1.]",    "[v1]",
                                      "[vg.a]",  "[v1.%61]", "[1:2:3:4:5:6:7:8:9:a:b:c:d:e:f:1:2:3:4:5:6:7:8:9:a:b]",
                                      "a%zz",    "a%",       "a%1",
                                      "a%1g",    "[a b]",    "a\x80",
                                      "<a>"}) {
    EXPECT_EQ(code_with("Host: " + std::string{host} + "\r\n"), 400) << host;
  }
}

TEST(request_parser, refuses_headers_that_are_none) {
  for (const std::string_view field :
       {"X\r\n", ": x\r\n", "X : y\r\n", " X: y\r\n", "X: y\r\n folded\r\n", "X: y\r\n\tfolded: z\r\n", "X: a\rb\r\n",
        "X: a\x01\r\n", "X\xff: a\r\n", "X: a\x7f\r\n", "X: y\n", "X: a\nY: b\r\n"}) {
    EXPECT_EQ(code_with("Host: a\r\n" + std::string{field}), 400) << field;
  }
  EXPECT_EQ(code_with(std::string{"Host: a\r\nX: a"} + '\0' + "b\r\n"), 400);
  EXPECT_EQ(code_with("Host: a\r\nX: \xc3\xa4\r\n"), 0);
}

/// Values are looked at eight bytes at a time.
TEST(request_parser, finds_a_control_wherever_it_stands) {
  for (std::size_t size = 1; size <= 24; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (unsigned byte = 1; byte < 256; ++byte) {
        if (byte == '\n') continue;  // ends the line, with a bare LF
        std::string value(size, 'x');
        value[at] = static_cast<char>(byte);
        const bool control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
        ASSERT_EQ(code_with("Host: a\r\nX: " + value + "\r\n"), control ? 400 : 0)
            << size << " bytes, " << byte << " at " << at;
      }
    }
  }
}

TEST(request_parser, takes_visible_bytes_for_a_target) {
  for (std::size_t size = 1; size <= 24; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (unsigned byte = 0; byte < 256; ++byte) {
        if (byte == '\n') continue;  // ends the line
        std::string target(size, 'x');
        target[at] = static_cast<char>(byte);
        const bool visible = byte > 0x20 && byte < 0x7f;
        ASSERT_EQ(code_with("Host: a\r\n", "GET " + target + " HTTP/1.1"), visible ? 0 : 400)
            << size << " bytes, " << byte << " at " << at;
      }
    }
  }
}

TEST(request_parser, takes_a_length_in_digits_once) {
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: a\r\ncontent-LENGTH:  42 \r\n\r\n").found.content_length, 42u);
  for (const std::string_view value : {"", "-1", "+1", "1,1", "1 1", "0x1", "1.0", "a", "1;"}) {
    EXPECT_EQ(code_with("Host: a\r\nContent-Length: " + std::string{value} + "\r\n"), 400) << value;
  }
  EXPECT_EQ(code_with("Host: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n"), 400);
}

TEST(request_parser, refuses_a_body_beyond_the_limit) {
  const std::string host = "Host: a\r\n";
  EXPECT_EQ(code_with(host + "Content-Length: 1048576\r\n"), 0);
  EXPECT_EQ(code_with(host + "Content-Length: 1048577\r\n"), 413);
  EXPECT_EQ(code_with(host + "Content-Length: 18446744073709551617\r\n"), 413);
  EXPECT_EQ(code_with(host + "Content-Length: 000000000000000000000000000001\r\n"), 0);
}

TEST(request_parser, knows_chunks_and_no_other_coding) {
  for (const std::string_view coding : {"Chunked", "chunked", "  chunked\t"}) {
    EXPECT_TRUE(
        parse("POST / HTTP/1.1\r\nHost: a\r\nTransfer-encoding: " + std::string{coding} + "\r\n\r\n").found.chunked)
        << coding;
  }
  EXPECT_FALSE(parse("POST / HTTP/1.1\r\nHost: a\r\n\r\n").found.chunked);
  EXPECT_EQ(code_with("Host: a\r\nTransfer-Encoding: gzip, chunked\r\n"), 501);
  EXPECT_EQ(code_with("Host: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: x;y=z, chunked\r\n"), 501);
}

TEST(request_parser, refuses_codings_that_leave_the_end_of_the_body_open) {
  const auto of = [](std::string_view coding) {
    return code_with("Host: a\r\nTransfer-Encoding: " + std::string{coding} + "\r\n");
  };
  for (const std::string_view coding :
       {"identity", "gzip", "chunked, gzip", "chunked, chunked", "xchunked", "chunked;a=b"}) {
    EXPECT_EQ(of(coding), 400) << coding;
  }
  // An element that is empty is one that others may see otherwise.
  for (const std::string_view coding : {"", ",", "chunked ,", "chunked,,,", ", chunked", "gzip,, chunked"})
    EXPECT_EQ(of(coding), 400) << coding;
  EXPECT_EQ(code_with("Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n"), 400);
  EXPECT_EQ(code_with("Host: a\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n"), 400);
}

TEST(request_parser, refuses_what_has_more_than_one_end) {
  EXPECT_EQ(code_with("Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(code_with("Host: a\r\nTransfer-Encoding: chunked\r\n", "POST / HTTP/1.0"), 400);
  EXPECT_EQ(code_with("Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n"), 400);
  EXPECT_EQ(code_with("Host: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n"), 400);
}

TEST(request_parser, says_whether_the_connection_goes_on) {
  const auto goes_on = [](std::string_view version, std::string_view fields) {
    const answer a = parse("GET / HTTP/" + std::string{version} + "\r\nHost: a\r\n" + std::string{fields} + "\r\n");
    EXPECT_EQ(a.ended, outcome::complete) << fields;
    return a.found.keep_alive;
  };
  EXPECT_TRUE(goes_on("1.1", ""));
  EXPECT_TRUE(goes_on("1.1", "Connection: upgrade\r\n"));
  EXPECT_TRUE(goes_on("1.1", "Connection: closed\r\n"));
  EXPECT_FALSE(goes_on("1.1", "Connection: CLOSE\r\n"));
  EXPECT_FALSE(goes_on("1.1", "Connection: a,close , b\r\n"));
  EXPECT_FALSE(goes_on("1.1", "Connection: keep-alive\r\nConnection: close\r\n"));
  EXPECT_FALSE(goes_on("1.0", ""));
  EXPECT_TRUE(goes_on("1.0", "Connection: Keep-Alive\r\n"));
  EXPECT_FALSE(goes_on("1.0", "Connection: keep-alive, close\r\n"));
}

TEST(request_parser, knows_who_waits_to_be_told_to_go_on) {
  EXPECT_TRUE(
      parse("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-Continue\r\n\r\n").found.expects_continue);
  for (const std::string_view fields :
       {"Expect: 100-continue\r\nExpect: more\r\n", "Expect: more\r\nExpect: 100-continue\r\n",
        "Expect: 100-continue, more\r\n", "Expect: more,100-continue\r\n"}) {
    const std::string_view line = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n";
    EXPECT_TRUE(parse(std::string{line}.append(fields).append("\r\n")).found.expects_continue) << fields;
  }
  EXPECT_FALSE(parse("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100\r\n\r\n").found.expects_continue);
  EXPECT_FALSE(parse("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n").found.expects_continue);
  EXPECT_FALSE(parse("POST / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n").found.expects_continue);
}

TEST(request_parser, limits_the_request_line_whether_it_has_ended_or_not) {
  const auto line = [](std::size_t size) { return "GET /" + std::string(size - 14, 'a') + " HTTP/1.1"; };
  EXPECT_EQ(code_of(line(8192) + "\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(code_of(line(8193) + "\r\nHost: a\r\n\r\n"), 414);
  EXPECT_EQ(code_of(line(8192)), 1);
  EXPECT_EQ(code_of(line(8192) + "\r"), 1);
  EXPECT_EQ(code_of(line(8200)), 414);
}

TEST(request_parser, does_not_know_a_method_that_has_no_end) {
  EXPECT_EQ(code_of(std::string(9000, 'A')), 501);
  EXPECT_EQ(code_of(std::string(9000, 'A') + " / HTTP/1.1\r\nHost: a\r\n\r\n"), 501);
  EXPECT_EQ(code_of("OPTIONS /" + std::string(9000, 'A')), 414);
}

TEST(request_parser, tells_a_request_that_has_begun_from_an_empty_line) {
  request_parser parser;
  request found;
  EXPECT_FALSE(parser.has_begun());
  EXPECT_EQ(parser.parse("\r\n", found), outcome::incomplete);
  EXPECT_FALSE(parser.has_begun());
  EXPECT_EQ(parser.parse("\r\nG", found), outcome::incomplete);
  EXPECT_TRUE(parser.has_begun());
}

TEST(request_parser, knows_who_wants_no_body_though_the_request_is_refused) {
  for (const std::string_view rest :
       {"/ HTTP/1.1\r\nHost", "/ HTTP/1.1\r\n\r\n", "x HTTP/2.0\r\nHost: a\r\n\r\n", "/ HTTP/1.1\n"}) {
    for (const std::string_view method : {"HEAD ", "\r\nHEAD ", "GET ", "\r\nGET ", "HEADS ", "head "}) {
      const std::string bytes = std::string{method}.append(rest);
      request_parser parser;
      request found;
      EXPECT_NE(parser.parse(bytes, found), outcome::complete) << bytes;
      EXPECT_EQ(parser.asks_for_head(bytes), method.ends_with("HEAD ")) << bytes;
    }
  }
}

TEST(request_parser, limits_the_headers_in_bytes_and_in_number) {
  const auto with = [](std::size_t fields, std::size_t bytes) {
    std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (std::size_t n = 0; n < fields; ++n) text += "X: " + std::string(bytes, 'x') + "\r\n";
    return text;
  };
  EXPECT_EQ(code_of(with(99, 1) + "\r\n"), 0);
  EXPECT_EQ(code_of(with(100, 1) + "\r\n"), 431);
  EXPECT_EQ(code_of(with(100, 1)), 431);
  EXPECT_EQ(code_of(with(1, 32 * 1024 - 14) + "\r\n"), 0);
  EXPECT_EQ(code_of(with(1, 32 * 1024) + "\r\n"), 431);
  EXPECT_EQ(code_of(with(0, 0) + "X: " + std::string(32 * 1024, 'x')), 431);
}

TEST(request_parser, refuses_another_protocol_at_its_first_byte) {
  EXPECT_EQ(code_of(std::string_view{"\x16\x03\x01", 3}), 400);
  EXPECT_EQ(code_of(std::string_view{"\0", 1}), 400);
  EXPECT_EQ(code_of("\n"), 400);
  EXPECT_EQ(code_of("\r\n\r\n"), 400);
  EXPECT_EQ(code_of("\r\n\x80"), 400);
  EXPECT_EQ(code_of("G"), 1);
  EXPECT_EQ(code_of("\r"), 1);
  EXPECT_EQ(code_of("\r\n"), 1);
}

/// What comes of the bytes in pieces of up to so many.
answer parse_in_pieces(std::string_view bytes, std::size_t longest, std::mt19937_64& random,
                       const request_limits& limits) {
  request_parser parser{limits};
  answer a;
  for (std::size_t size = 0; size < bytes.size() && a.ended == outcome::incomplete;) {
    size = std::min(bytes.size(), size + 1 + random() % longest);
    a.ended = parser.parse(bytes.substr(0, size), a.found);
  }
  if (a.ended == outcome::refused) a.error = parser.error();
  a.found.fields = header_lines{a.found.fields.text()};
  return a;
}

/// Whatever the bytes, and however they are cut: the outcome is the same, with its status, and what is found lies in the bytes.
TEST(request_parser, survives_random_bytes) {
  std::mt19937_64 random{tartan::test::seed()};
  const std::vector<std::string_view> words{"GET ",
                                            "/",
                                            " HTTP/1.1",
                                            "\r\n",
                                            "\r",
                                            "\n",
                                            "Host: a",
                                            "Content-Length: ",
                                            "7",
                                            ":",
                                            " ",
                                            "\t",
                                            "Connection: close",
                                            "Transfer-Encoding: chunked",
                                            "\r\n\r\n",
                                            "x",
                                            "a-name-as-long-as-no-method-has: ",
                                            "\x16",
                                            "%",
                                            "\xff",
                                            ",",
                                            "HTTP/"};
  for (int round = 0; round < 40'000; ++round) {
    std::string bytes = random() % 2 == 0 ? "GET / HTTP/1.1\r\nHost: a\r\n" : "";
    for (std::uint64_t n = random() % 12; n > 0; --n) bytes += words[random() % words.size()];
    const bool narrow = random() % 2 == 0;
    const request_limits few{.line = 8 + random() % 32, .head = 12 + random() % 32, .fields = 3};
    const request_limits limits = narrow ? few : request_limits{};
    const answer whole = parse(bytes, limits);
    for (const std::size_t longest : {1u, 2u, 9u, 40u}) {
      const answer cut = parse_in_pieces(bytes, longest, random, limits);
      ASSERT_EQ(cut.ended, whole.ended) << bytes << "\nline " << limits.line << ", head " << limits.head;
      ASSERT_EQ(static_cast<int>(cut.error), static_cast<int>(whole.error))
          << bytes << "\nline " << limits.line << ", head " << limits.head;
      if (whole.ended != outcome::complete) continue;
      ASSERT_EQ(cut.found.head_size, whole.found.head_size);
      ASSERT_EQ(cut.found.target, whole.found.target);
    }
    if (whole.ended == outcome::complete) {
      ASSERT_TRUE(bytes.substr(0, whole.found.head_size).ends_with("\r\n\r\n"));
    }
  }
}

}  // namespace
}  // namespace tartan::http
