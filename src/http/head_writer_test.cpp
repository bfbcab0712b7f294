#include <gtest/gtest.h>
#include <tartan/buf/chain.h>
#include <tartan/http/body_reader.h>
#include <tartan/http/chunk.h>
#include <tartan/http/request_parser.h>
#include <tartan/http/request_writer.h>
#include <tartan/http/response_parser.h>
#include <tartan/http/response_writer.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace tartan::http {
namespace {

TEST(request_writer, writes_a_head_that_the_parser_reads) {
  std::string out;
  request_writer{out, method::post, "/a?b", "example.org:80"}.field("Accept", "*/*").field("X", 7).length(5);
  EXPECT_EQ(out, "POST /a?b HTTP/1.1\r\nHost: example.org:80\r\nAccept: */*\r\nX: 7\r\nContent-Length: 5\r\n\r\n");
  request_parser parser;
  request found;
  ASSERT_EQ(parser.parse(out, found), request_parser::outcome::complete);
  EXPECT_EQ(found.method, method::post);
  EXPECT_EQ(found.target, "/a?b");
  EXPECT_EQ(found.content_length, 5u);
  EXPECT_EQ(found.head_size, out.size());
}

TEST(request_writer, takes_any_token_for_a_method) {
  std::string out;
  request_writer{out, "PURGE", "/", "a"}.no_body();
  EXPECT_EQ(out, "PURGE / HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST(request_writer, refuses_what_would_be_another_request) {
  std::string out = "before";
  EXPECT_THROW((request_writer{out, "GET /", "/", "a"}), std::invalid_argument);
  EXPECT_THROW((request_writer{out, method::other, "/", "a"}), std::invalid_argument);
  for (const char* const target : {"", "/ HTTP/1.1", "/\r\nX: y", "/\xc3\xa4"}) {
    EXPECT_THROW((request_writer{out, method::get, target, "a"}), std::invalid_argument) << target;
  }
  for (const char* const host : {"a b", "a\r\nX: y", "user@a"}) {
    EXPECT_THROW((request_writer{out, method::get, "/", host}), std::invalid_argument) << host;
  }
  EXPECT_THROW((request_writer{out, method::get, "/", std::string_view{"[::1\0x]", 8}}), std::invalid_argument);
  EXPECT_EQ(out, "before");
}

TEST(response_writer, writes_a_head_that_the_parser_reads) {
  std::string out;
  response_writer{out, status::not_found}.field("Content-Type", "text/plain").close().length(3);
  EXPECT_EQ(out,
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 3\r\n\r\n");
  response_parser parser;
  response found;
  ASSERT_EQ(parser.parse(out, found), response_parser::outcome::complete);
  EXPECT_EQ(found.status, status::not_found);
  EXPECT_FALSE(found.keep_alive);
  EXPECT_EQ(found.content_length, 3u);
}

TEST(response_writer, knows_codes_without_a_name) {
  std::string out;
  response_writer{out, static_cast<status>(299)}.no_body();
  EXPECT_EQ(out, "HTTP/1.1 299 \r\n\r\n");
  out.clear();
  response_writer{out, status::internal_error}.no_body();
  EXPECT_EQ(out, "HTTP/1.1 500 Internal Server Error\r\n\r\n");
  for (const unsigned code : {0u, 99u, 1000u}) {
    EXPECT_THROW((response_writer{out, static_cast<status>(code)}), std::invalid_argument) << code;
  }
}

TEST(head_writer, adds_nothing_of_a_line_that_it_refuses) {
  std::string out;
  response_writer writer{out, status::ok};
  const std::string before = out;
  for (const char* const name : {"", "X Y", "X:", "X\r\n", "\xc3\xa4"}) {
    EXPECT_THROW(writer.field(name, "y"), std::invalid_argument) << name;
  }
  for (const std::string_view value :
       {std::string_view{"a\r\nSet-Cookie: b"}, std::string_view{"a\nb"}, std::string_view{"\0", 1}}) {
    EXPECT_THROW(writer.field("X", value), std::invalid_argument);
  }
  EXPECT_EQ(out, before);
  writer.field("X", "\xc3\xa4\t b").no_body();
  EXPECT_EQ(out, before + "X: \xc3\xa4\t b\r\n\r\n");
}

TEST(chunks, are_read_as_they_were_written) {
  std::string out;
  response_writer{out, status::ok}.chunked();
  append_chunk(out, "hello");
  append_chunk(out, "");
  append_chunk(out, std::string(300, 'x'));
  append_last_chunk(out);
  response_parser parser;
  response found;
  ASSERT_EQ(parser.parse(out, found), response_parser::outcome::complete);
  body_reader body;
  body.begin(found);
  std::string content;
  std::string_view rest = std::string_view{out}.substr(found.head_size);
  body_reader::taken part;
  do {
    part = body.take(rest);
    content.append(part.content);
    rest.remove_prefix(part.used);
  } while (part.what == body_reader::outcome::content);
  EXPECT_EQ(part.what, body_reader::outcome::complete);
  EXPECT_EQ(content, "hello" + std::string(300, 'x'));
  EXPECT_EQ(rest, "");
}

TEST(chunks, of_a_chain_are_not_copied) {
  buf::chain out;
  const buf::slice content{std::string(100, 'x')};
  append_chunk(out, content);
  append_chunk(out, buf::slice{});
  append_last_chunk(out);
  EXPECT_EQ(out.to_string(), "64\r\n" + std::string(100, 'x') + "\r\n0\r\n\r\n");
  EXPECT_EQ(out.slices()[1].data(), content.data());
}

}  // namespace
}  // namespace tartan::http
