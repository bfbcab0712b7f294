// The parser of bench/w14_key_value.
#include "bench/w14_key_value/resp.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using bench::resp::command;
using bench::resp::parse;
using bench::resp::parsed;
using bench::resp::state;

std::vector<std::string> words_of(const command& asked) {
  return {asked.words.begin(), asked.words.begin() + static_cast<std::ptrdiff_t>(asked.count)};
}

std::string bulk(std::string_view word) {
  return "$" + std::to_string(word.size()) + "\r\n" + std::string{word} + "\r\n";
}

TEST(a_resp_parser, reads_an_array_of_bulk_strings_and_says_where_it_ends) {
  const std::string first = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\na\r\nb \r\n";
  const std::string text = first + "*1\r\n";
  command asked;
  const parsed found = parse(text, asked);
  EXPECT_EQ(found.is, state::whole);
  EXPECT_EQ(found.used, first.size());
  EXPECT_EQ(words_of(asked), (std::vector<std::string>{"SET", "k", "a\r\nb "}));
}

TEST(a_resp_parser, waits_for_the_rest_of_a_command_that_was_cut_anywhere) {
  for (const std::string text : {"*2\r\n$3\r\nGET\r\n$10\r\n0123456789\r\n", "PING\r\n"}) {
    for (std::size_t length = 0; length < text.size(); ++length) {
      command asked;
      EXPECT_EQ(parse(text.substr(0, length), asked).is, state::partial) << text << " cut after " << length;
    }
  }
}

TEST(a_resp_parser, reads_a_line_of_words) {
  command asked;
  EXPECT_EQ(parse("  get   key \r\nrest", asked).used, 14u);
  EXPECT_EQ(words_of(asked), (std::vector<std::string>{"get", "key"}));
  EXPECT_EQ(parse("PING\n", asked).used, 5u);
  EXPECT_EQ(words_of(asked), (std::vector<std::string>{"PING"}));
}

TEST(a_resp_parser, takes_a_command_without_words_for_one_that_asks_nothing) {
  for (const std::string_view text : {"*0\r\n", "\r\n", "\n", "   \r\n"}) {
    command asked;
    asked.count = 7;
    const parsed found = parse(text, asked);
    EXPECT_EQ(found.is, state::whole);
    EXPECT_EQ(found.used, text.size());
    EXPECT_EQ(asked.count, 0u);
  }
}

TEST(a_resp_parser, refuses_what_is_no_command) {
  for (const std::string_view text :
       {"*x\r\n", "*-1\r\n", "*\r\n", "*1x\r\n", "*1\rx", "*1 \r\n", "*+1\r\n", "*1\r\n+OK\r\n", "*1\r\n$x\r\n",
        "*1\r\n$-1\r\n", "*1\r\n$\r\n", "*1\r\n$1\rx", "*1\r\n$1\r\nab\r\n", "*1\r\n$1\r\na\rb", "*12345678",
        "*1\r\n$00000001\r\na\r\n"}) {
    command asked;
    const parsed found = parse(text, asked);
    EXPECT_EQ(found.is, state::bad) << text;
    EXPECT_TRUE(found.error != nullptr && std::string_view{found.error}.starts_with("ERR ")) << text;
  }
}

TEST(a_resp_parser, takes_as_much_as_its_limits_say_and_no_more) {
  command asked;
  std::string most = "*" + std::to_string(bench::resp::most_words) + "\r\n";
  for (std::size_t n = 0; n < bench::resp::most_words; ++n) most += bulk("w");
  EXPECT_EQ(parse(most, asked).is, state::whole);
  EXPECT_EQ(parse("*" + std::to_string(bench::resp::most_words + 1) + "\r\n", asked).is, state::bad);

  const std::string longest(bench::resp::most_word_bytes, 'x');
  EXPECT_EQ(parse("*1\r\n" + bulk(longest), asked).is, state::whole);
  EXPECT_EQ(parse("*1\r\n" + bulk(longest + "x"), asked).is, state::bad);

  const std::string line(bench::resp::most_line_bytes - 1, 'x');
  EXPECT_EQ(parse(line, asked).is, state::partial);
  EXPECT_EQ(parse(line + "\n", asked).is, state::whole);
  EXPECT_EQ(parse(line + "xx\n", asked).is, state::bad);

  std::string words;
  for (std::size_t n = 0; n < bench::resp::most_words; ++n) words += "w ";
  EXPECT_EQ(parse(words + "\r\n", asked).is, state::whole);
  EXPECT_EQ(parse(words + "w\r\n", asked).is, state::bad);
}

}  // namespace
