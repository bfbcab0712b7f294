#include <tartan/http/server_event.h>

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>

#include "tests/seed.h"

namespace tartan::http {
namespace {

using namespace std::chrono_literals;

std::string written(const server_event_view& e) {
  std::string out;
  append_event(out, e);
  return out;
}

/// All events of a text that comes in pieces.
std::string read(std::string_view text, std::size_t piece) {
  event_parser parser;
  std::string all;
  while (!text.empty()) {
    parser.add(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    while (const auto e = parser.next()) {
      all += "[" + e->id + "|" + e->event + "|" + e->data + (e->retry ? "|" + std::to_string(e->retry->count()) : "") +
             "]";
    }
  }
  return all;
}

TEST(server_events, are_written_line_by_line) {
  EXPECT_EQ(written({.data = "x"}), "data: x\n\n");
  EXPECT_EQ(written({.id = "7", .event = "price", .data = "a\nb\r\nc\rd", .retry = 1500ms}),
            "id: 7\nevent: price\nretry: 1500\ndata: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(written({}), "data: \n\n");
  std::string out;
  append_comment(out, "one\ntwo");
  EXPECT_EQ(out, ": one\n: two\n\n");
}

TEST(server_events, refuse_ids_and_types_of_several_lines) {
  EXPECT_THROW(static_cast<void>(written({.id = "1\ndata: x"})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(written({.event = "a\rb"})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(written({.id = std::string_view{"\0", 1}})), std::invalid_argument);
}

TEST(server_events, are_read_as_browsers_do_in_any_pieces) {
  const std::string text =
      "\xef\xbb\xbf: a comment\r\nid: 1\r\ndata: one\r\n\r\ndata:two\ndata:  three\nevent: add\n\nid\ndata\n\nretry: "
      "20\rdata: x\r\r"
      "retry: soon\nevent: lost\n\ndata: last\n\ndata: never";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_EQ(read(text, piece), "[1||one][1|add|two\n three][||][||x|20][||last]") << piece;
  }
}

TEST(server_events, may_have_lines_of_all_three_ends) {
  for (const char* const end : {"\n", "\r", "\r\n"}) {
    const std::string text = std::string{"data: 1"} + end + "data: 2" + end + end;
    EXPECT_EQ(read(text + "data: 3" + end + end, 1), "[||1\n2][||3]");
    EXPECT_EQ(read(text + "data: 3" + end + end, 100), "[||1\n2][||3]");
  }
}

TEST(server_events, come_back_as_they_were_written) {
  std::mt19937_64 random{test::seed()};
  for (int n = 0; n < 200; ++n) {
    std::string data;
    for (std::size_t left = random() % 40; left != 0; --left) data += "ab:\n 1"[random() % 6];
    const std::string text = written({.id = std::to_string(n), .event = "e", .data = data});
    EXPECT_EQ(read(text, 1 + random() % 10), "[" + std::to_string(n) + "|e|" + data + "]");
  }
}

TEST(server_events, have_a_limit_on_their_size) {
  event_parser parser{100};
  parser.add("data: " + std::string(60, 'x') + "\n");
  EXPECT_FALSE(parser.next());
  EXPECT_FALSE(parser.is_full());
  parser.add("data: " + std::string(60, 'x') + "\n\n");
  EXPECT_TRUE(parser.is_full());
  EXPECT_FALSE(parser.next());
}

}  // namespace
}  // namespace tartan::http
