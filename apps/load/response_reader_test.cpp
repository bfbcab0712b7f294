#include "load/response_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace load {
namespace {

using outcome = response_reader::outcome;

/// What one reader makes of a text, given in pieces of this size; what is not used is given again, as a client does.
struct reading {
  reading(std::string_view text, std::optional<std::string_view> body, std::size_t piece) : expected{body} {
    reader.begin(expected ? &*expected : nullptr, collected);
    std::size_t end = 0;
    while (what == outcome::incomplete && end != text.size()) {
      end += std::min(piece, text.size() - end);
      std::size_t now = 0;
      what = reader.take(text.substr(used, end - used), now);
      used += now;
    }
  }
  reading(const reading&) = delete;  // the reader knows where the rest is
  reading& operator=(const reading&) = delete;

  std::optional<std::string_view> expected;
  outcome what = outcome::incomplete;
  std::size_t used = 0;
  response_reader reader;
  std::string collected;
};

reading read(std::string_view text, std::optional<std::string_view> expected = std::nullopt, std::size_t piece = std::string::npos) {
  return {text, expected, piece};
}

constexpr std::string_view plain = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello";
constexpr std::string_view chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n02;x=\"y\"\r\nlo\r\n0\r\nA: b\r\nC: d\r\n\r\n";

TEST(an_answer, with_a_length_ends_there) {
  const reading got = read(plain, "hello");
  EXPECT_EQ(got.what, outcome::complete);
  EXPECT_EQ(got.used, plain.size());
  EXPECT_EQ(got.reader.status(), 200u);
  EXPECT_EQ(got.reader.body_bytes(), 5u);
  EXPECT_TRUE(got.reader.keep_alive());
  EXPECT_TRUE(got.reader.has_expected_length());
  EXPECT_TRUE(got.reader.has_expected_bytes());
}

TEST(an_answer, in_chunks_ends_with_its_trailer) {
  const reading got = read(chunked, "hello");
  EXPECT_EQ(got.what, outcome::complete);
  EXPECT_EQ(got.used, chunked.size());
  EXPECT_TRUE(got.reader.has_expected_length());
  EXPECT_TRUE(got.reader.has_expected_bytes());
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n", "0123456789").what, outcome::complete);
}

TEST(an_answer, without_either_ends_with_the_connection) {
  const reading got = read("HTTP/1.1 200 OK\r\n\r\nhello", "hello");
  EXPECT_EQ(got.what, outcome::incomplete);
  EXPECT_EQ(got.reader.finish(), outcome::complete);
  EXPECT_FALSE(got.reader.keep_alive());
  EXPECT_TRUE(got.reader.has_expected_length());
  EXPECT_TRUE(got.reader.has_expected_bytes());
  EXPECT_EQ(read(plain.substr(0, plain.size() - 1)).reader.finish(), outcome::incomplete);
  EXPECT_EQ(read(chunked.substr(0, chunked.size() - 1)).reader.finish(), outcome::incomplete);
}

TEST(an_answer, is_the_same_in_pieces_of_any_size) {
  for (const std::string_view text : {plain, chunked}) {
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      const reading got = read(text, "hello", piece);
      EXPECT_EQ(got.what, outcome::complete) << piece;
      EXPECT_EQ(got.used, text.size()) << piece;
      EXPECT_TRUE(got.reader.has_expected_length() && got.reader.has_expected_bytes()) << piece;
    }
  }
}

TEST(an_answer, uses_nothing_of_what_follows_it) {
  for (const std::string_view text : {plain, chunked}) EXPECT_EQ(read(std::string{text} + "HTTP/1.1 200 OK\r\n").used, text.size());
}

TEST(an_answer, of_another_length_than_expected_says_so) {
  EXPECT_FALSE(read(plain, "hell").reader.has_expected_length());
  EXPECT_FALSE(read(plain, "hello!").reader.has_expected_length());
  EXPECT_FALSE(read(plain, "").reader.has_expected_length());
  EXPECT_FALSE(read(chunked, "hell").reader.has_expected_length());
}

TEST(an_answer, with_another_byte_than_expected_says_so) {
  for (const char* const other : {"Hello", "heLlo", "hellO"}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::string::npos}) {
      const reading got = read(plain, other, piece);
      EXPECT_TRUE(got.reader.has_expected_length());
      EXPECT_FALSE(got.reader.has_expected_bytes()) << other << " " << piece;
    }
  }
}

TEST(an_answer, of_which_nothing_is_expected_is_collected_up_to_a_limit) {
  EXPECT_EQ(read(plain).collected, "hello");
  EXPECT_EQ(read(chunked).collected, "hello");
  std::string some;
  response_reader reader;
  reader.begin(nullptr, some, 3);
  std::size_t used = 0;
  EXPECT_EQ(reader.take(chunked, used), outcome::complete);
  EXPECT_EQ(some, "hel");
  EXPECT_EQ(reader.body_bytes(), 5u);
}

TEST(an_answer, follows_interim_ones) {
  const reading got = read("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + std::string{plain}, "hello");
  EXPECT_EQ(got.what, outcome::complete);
  EXPECT_EQ(got.reader.status(), 200u);
}

TEST(an_answer, without_content_has_no_body_whatever_it_says) {
  for (const char* const status : {"204 No Content", "304 Not Modified"}) {
    const reading got = read(std::string{"HTTP/1.1 "} + status + "\r\nContent-Length: 5\r\n\r\n");
    EXPECT_EQ(got.what, outcome::complete) << status;
    EXPECT_EQ(got.reader.body_bytes(), 0u);
  }
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "").what, outcome::complete);
}

TEST(an_answer, says_whether_the_connection_goes_on) {
  const auto goes_on = [](const std::string& head) { return read(head + "Content-Length: 0\r\n\r\n").reader.keep_alive(); };
  EXPECT_TRUE(goes_on("HTTP/1.1 200 OK\r\n"));
  EXPECT_FALSE(goes_on("HTTP/1.1 200 OK\r\nConnection: close\r\n"));
  EXPECT_FALSE(goes_on("HTTP/1.1 200 OK\r\nconnection:x , CLOSE\r\n"));
  EXPECT_FALSE(goes_on("HTTP/1.0 200 OK\r\n"));
  EXPECT_TRUE(goes_on("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n"));
}

TEST(an_answer, with_a_status_without_words_is_one) {
  EXPECT_EQ(read("HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n").reader.status(), 404u);
  EXPECT_EQ(read("HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n").reader.status(), 404u);
}

TEST(what_is_no_answer, is_not_taken_for_one) {
  for (const char* const head : {
           "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 2x0 OK\r\n", "HTTP/1.1 099 OK\r\n", "HTTP/1.1  200 OK\r\n", "HTTP/2.0 200 OK\r\n",
           "HTTP/1.2 200 OK\r\n", "http/1.1 200 OK\r\n", "200 OK\r\n", "HTTP/1.1 101 Switching Protocols\r\n", "<html>\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n", "HTTP/1.1 200 OK\r\nContent-Length: \r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n",
           "HTTP/1.1 200 OK\r\n Content-Length: 5\r\n", "HTTP/1.1 200 OK\r\nno field\r\n", "HTTP/1.1 200 OK\r\n: x\r\n", "HTTP/1.1 200 OK\nX: y\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n"}) {
    EXPECT_EQ(read(std::string{head} + "\r\n").what, outcome::malformed) << head;
  }
}

TEST(what_is_no_chunk, is_not_taken_for_one) {
  for (const char* const body : {"\r\n", "x\r\n", "3 \n", "3\n", "3\r\rhel\r\n", "3\r\nhelo\r\n", "3\r\nhel\rx", "3\r\nhel\n", "-3\r\n", ";x\r\n",
                                 "0\r\n\rx", "0\r\n\n", "0\r\nA: b\n", "fffffffffffffffff\r\n", "3;a\nb\r\n"}) {
    EXPECT_EQ(read(std::string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"} + body).what, outcome::malformed) << body;
  }
}

TEST(a_reader, begins_anew_with_each_answer) {
  response_reader reader;
  std::string collected;
  const std::string_view wanted = "hello";
  std::size_t used = 0;
  reader.begin(&wanted, collected);
  EXPECT_EQ(reader.take("HTTP/1.0 500 No\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", used), outcome::complete);
  reader.begin(&wanted, collected);
  EXPECT_EQ(reader.take(plain, used), outcome::complete);
  EXPECT_EQ(reader.status(), 200u);
  EXPECT_TRUE(reader.keep_alive());
  EXPECT_TRUE(reader.has_expected_length() && reader.has_expected_bytes());
}

TEST(a_reader, knows_how_much_of_a_body_is_left) {
  response_reader reader;
  std::string collected;
  std::size_t used = 0;
  reader.begin(nullptr, collected);
  EXPECT_FALSE(reader.in_body());
  EXPECT_EQ(reader.take("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc", used), outcome::incomplete);
  EXPECT_TRUE(reader.in_body());
  EXPECT_EQ(reader.left(), 99'997u);
}

}  // namespace
}  // namespace load
