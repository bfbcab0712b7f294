#include <tartan/http/body_reader.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tartan/buf/chain.h>

namespace tartan::http {
namespace {

using outcome = body_reader::outcome;

constexpr std::uint64_t most = 1000;

/// Takes all of the content that has come, and what it used off the front of `in`.
outcome take_all(body_reader& body, std::string& in, std::string& content) {
  for (;;) {
    const body_reader::taken part = body.take(in);
    content.append(part.content);
    in.erase(0, part.used);
    EXPECT_EQ(part.content.empty(), part.what != outcome::content);
    if (part.what != outcome::content) return part.what;
  }
}

/// In pieces of so many bytes, up to the end of the body. Gives the outcome, and leaves what is not the body's in `bytes`.
outcome drop(const request& of, std::string& bytes, std::size_t piece) {
  body_reader body{most};
  body.begin(of);
  std::string in;
  std::string content;
  outcome got = take_all(body, in, content);
  std::size_t at = 0;
  for (; at < bytes.size() && got == outcome::incomplete; at += std::min(piece, bytes.size() - at)) {
    in.append(bytes, at, piece);
    got = take_all(body, in, content);
    EXPECT_EQ(body.is_complete(), got == outcome::complete);
  }
  bytes = in + bytes.substr(at);
  return got;
}

outcome chunks(std::string bytes, std::size_t piece = 100'000) {
  request of;
  of.chunked = true;
  return drop(of, bytes, piece);
}

TEST(body_reader, that_is_not_there_is_complete) {
  std::string bytes = "GET";
  EXPECT_EQ(drop({}, bytes, 10), outcome::complete);
  EXPECT_EQ(bytes, "GET");
}

TEST(body_reader, of_a_known_length_is_dropped_unseen) {
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

TEST(body_reader, in_chunks_ends_with_the_last_of_them) {
  for (const std::string_view body :
       {"0\r\n\r\n", "1\r\nx\r\n0\r\n\r\n", "0000000a\r\n0\r\n\r\n0\r\n\r\n\r\n000\r\n\r\n",
        "aB;a=\"b\";c\r\n" /* 171 */, "3;\r\nabc\r\n0;x\r\nTrailer: 1\r\nAnother: 2\r\n\r\n",
        "3 ;a=b\r\nabc\r\n0 \t ; a = b ;c\r\n\r\n", "00000003\t;\r\nabc\r\n0\r\n\r\n"}) {
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

TEST(body_reader, in_chunks_is_refused_if_its_end_could_be_seen_elsewhere) {
  for (const std::string_view body : {"\r\n",
                                      "x\r\n",
                                      "-1\r\n",
                                      "+1\r\n",
                                      "0x1\r\n",
                                      " 1\r\n",
                                      "1 \r\n",
                                      "1\t\r\n",
                                      "1 a;b\r\n",
                                      "1 1;b\r\n",
                                      " 1 ;b\r\n",
                                      "1\r ;b\r\n",
                                      "1 \v;b\r\n",
                                      "1 =;b\r\n",
                                      " ;a\r\n",
                                      ";a\r\n",
                                      "000000001 ;a\r\n",
                                      "1 ;a\n",
                                      "1 ;\n\r\n",
                                      "1 \r\n;a\r\n",
                                      "1\n",
                                      "1\rx\r\n",
                                      "1;a\rb\r\n",
                                      "1;\n\r\n",
                                      "\n",
                                      "000000001\r\n",
                                      "1\r\nx0\r\n",
                                      "1\r\nx\n",
                                      "1\r\n\r\n\r\n",
                                      "1\r\nx\r\n0\r\n\n",
                                      "0\r\na\rb\r\n",
                                      "0\r\na: b\n"}) {
    for (const std::size_t piece : {1u, 2u, 1000u})
      EXPECT_EQ(chunks(std::string{body}, piece), outcome::refused) << body;
  }
  EXPECT_EQ(chunks("1;" + std::string{"\0\r\n", 3}), outcome::refused);
}

TEST(body_reader, in_chunks_is_refused_if_what_comes_behind_them_is_no_header) {
  for (const std::string_view line : {"X", ": x", "X : y", " X: y", "\tfolded: z", "X\xff: a", "{}: a",
                                      "GET / HTTP/1.1", "0", "X: a\x01", "X: a\x7f"}) {
    for (const std::string_view before : {"0\r\n", "0\r\nA: b\r\n"}) {
      for (const std::size_t piece : {1u, 2u, 1000u}) {
        EXPECT_EQ(chunks(std::string{before}.append(line).append("\r\n\r\n"), piece), outcome::refused) << line;
      }
    }
  }
  EXPECT_EQ(chunks("0\r\nX:\r\nY:\t\xc3\xa4 \t\r\n\r\n"), outcome::complete);
}

TEST(body_reader, in_chunks_has_a_limit) {
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

TEST(body_reader, counts_each_body_for_itself) {
  body_reader body{most};
  std::string content;
  request of;
  of.chunked = true;
  for (int n = 0; n < 300; ++n) {  // the limit is one body's
    body.begin(of);
    std::string in = "1\r\nx\r\n0\r\n\r\n";
    EXPECT_EQ(take_all(body, in, content), outcome::complete);
    EXPECT_TRUE(in.empty());
  }
  EXPECT_EQ(content, std::string(300, 'x'));
}

TEST(body_reader, gives_the_content_in_whatever_pieces_it_comes) {
  const std::string chunks = "5;a=b\r\nhello\r\n1\r\n \r\n05\r\nworld\r\n0\r\nA: b\r\n\r\n";
  for (std::size_t piece = 1; piece <= chunks.size(); ++piece) {
    body_reader body;
    request of;
    of.chunked = true;
    body.begin(of);
    std::string in;
    std::string content;
    outcome got = outcome::incomplete;
    for (std::size_t at = 0; at < chunks.size(); at += piece) {
      in.append(chunks, at, piece);
      got = take_all(body, in, content);
    }
    EXPECT_EQ(got, outcome::complete) << piece;
    EXPECT_EQ(content, "hello world") << piece;
  }
}

TEST(body_reader, moves_the_content_from_chain_to_chain_without_a_copy) {
  const std::string bytes = "5;a=b\r\nhello\r\n7\r\n, world\r\n0\r\nA: b\r\n\r\nGET";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    body_reader body;
    request of;
    of.chunked = true;
    body.begin(of);
    buf::chain from;
    buf::chain content;
    outcome got = outcome::incomplete;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      from.append(buf::slice{bytes.substr(at, piece)});
      if (got == outcome::incomplete) got = body.take(from, content);
    }
    EXPECT_EQ(got, outcome::complete) << piece;
    EXPECT_EQ(content.to_string(), "hello, world") << piece;
    EXPECT_TRUE(bytes.ends_with(from.to_string()) && from.size() <= 2 + piece) << from.to_string();
  }
  const std::string long_content(5000, 'x');
  buf::chain from;
  from.append("1388\r\n");
  const buf::slice shared{std::string{long_content}};
  from.append(shared);
  buf::chain content;
  body_reader body;
  request of;
  of.chunked = true;
  body.begin(of);
  EXPECT_EQ(body.take(from, content), outcome::incomplete);
  ASSERT_EQ(content.slices().size(), 1u);
  EXPECT_EQ(content.slices().front().data(), shared.data());
}

TEST(body_reader, refuses_in_a_chain_what_it_refuses_in_a_text) {
  for (const std::string_view bytes : {"x\r\n", "1\n", "1\r\nx0\r\n", "0\r\nX\r\n\r\n", "fffff\r\n"}) {
    body_reader body{most};
    request of;
    of.chunked = true;
    body.begin(of);
    buf::chain from;
    from.append(bytes);
    buf::chain content;
    EXPECT_EQ(body.take(from, content), outcome::refused) << bytes;
  }
  body_reader body{std::uint64_t{1} << 30};
  request of;
  of.chunked = true;
  body.begin(of);
  buf::chain from;
  from.append("1;" + std::string(4094, 'x'));
  buf::chain content;
  EXPECT_EQ(body.take(from, content), outcome::refused) << "a line without an end";
}

TEST(body_reader, goes_to_the_end_of_the_connection_if_nothing_says_where_it_ends) {
  body_reader body{10};
  response of;
  of.body = body_end::connection;
  body.begin(of);
  std::string in = "12345";
  std::string content;
  EXPECT_EQ(take_all(body, in, content), outcome::incomplete);
  EXPECT_EQ(content, "12345");
  EXPECT_FALSE(body.is_complete());
  EXPECT_TRUE(body.in_content());
  EXPECT_TRUE(body.may_end_here());
  in = "678901";
  EXPECT_EQ(take_all(body, in, content), outcome::refused);
  EXPECT_EQ(content, "1234567890") << "up to the limit, in whatever pieces it comes";
  EXPECT_EQ(body.error(), status::content_too_large);
  body.begin(of);
  EXPECT_EQ(body.take("6789012345").what, outcome::content) << "the limit is one body's";
  EXPECT_EQ(body.take("").what, outcome::incomplete);
  buf::chain from;
  from.append("1234567890");
  buf::chain into;
  body.begin(of);
  EXPECT_EQ(body.take(from, into), outcome::incomplete);
  from.append("1");
  EXPECT_EQ(body.take(from, into), outcome::refused);
  EXPECT_EQ(into.to_string(), "1234567890");
  EXPECT_EQ(body.error(), status::content_too_large);
}

TEST(body_reader, that_is_cut_off_may_not_end_there) {
  body_reader body;
  response of;
  of.body = body_end::length;
  of.content_length = 5;
  body.begin(of);
  EXPECT_EQ(body.take("1234").what, outcome::content);
  EXPECT_EQ(body.left(), 1u);
  EXPECT_FALSE(body.may_end_here());
  EXPECT_EQ(body.take("5GET").used, 1u);
  EXPECT_TRUE(body.may_end_here());
  of.body = body_end::chunks;
  of.content_length = 0;
  body.begin(of);
  EXPECT_EQ(body.take("1\r\nx\r\n").what, outcome::content);
  EXPECT_FALSE(body.may_end_here());
}

}  // namespace
}  // namespace tartan::http
