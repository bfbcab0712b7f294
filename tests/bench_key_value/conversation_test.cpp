// What a client of bench/w14_key_value is told, with one shard for all keys.
#include "bench/w14_key_value/conversation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using bench::conversation;
using step = conversation::step;

class a_conversation : public testing::Test {
 protected:
  /// Hands the text on, in pieces of this size, and gathers the answers. Returns the last step.
  step say(std::string_view text, std::size_t piece = 1 << 20) {
    step is = step::more;
    while (!text.empty() && is != step::over) {
      const auto room = with.room();
      const std::size_t length = std::min({piece, room.size(), text.size()});
      std::copy_n(text.data(), length, room.data());
      text.remove_prefix(length);
      with.add(length);
      do {
        while ((is = with.next()) == step::shard) with.run(keys);
        longest_output = std::max(longest_output, with.output().size());
        told += with.output();
        with.clear_output();
      } while (is == step::full);
    }
    return is;
  }
  std::string answer(std::string_view text) {
    told.clear();
    say(text);
    return told;
  }

  conversation with;
  bench::shard keys;
  std::string told;
  std::size_t longest_output = 0;
};

TEST_F(a_conversation, answers_each_command_of_a_pipeline_in_order) {
  EXPECT_EQ(answer("SET k 41\r\nINCR k\r\nGET k\r\nGET other\r\nDEL k other k\r\nPING\r\n"),
            "+OK\r\n:42\r\n$2\r\n42\r\n$-1\r\n:1\r\n+PONG\r\n");
}

TEST_F(a_conversation, is_the_same_however_the_bytes_arrive) {
  const std::string text =
      "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n41\r\n*2\r\n$4\r\nINCR\r\n$1\r\nk\r\n*3\r\n$3\r\nDEL\r\n$1\r\nk\r\n$"
      "1\r\nl\r\n";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    told.clear();
    EXPECT_EQ(say(text, piece), step::more);
    EXPECT_EQ(told, "+OK\r\n:42\r\n:1\r\n") << "pieces of " << piece;
  }
}

TEST_F(a_conversation, loses_keys_that_expire) {
  EXPECT_EQ(answer("SET k v\r\nEXPIRE k 100\r\nGET k\r\nEXPIRE k 0\r\nGET k\r\nEXPIRE k 100\r\n"),
            "+OK\r\n:1\r\n$1\r\nv\r\n:1\r\n$-1\r\n:0\r\n");
}

TEST_F(a_conversation, tells_redis_benchmark_the_settings_that_it_asks_for) {
  EXPECT_EQ(answer("CONFIG GET save\r\n"), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_EQ(answer("config get appendonly\r\n"), "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n");
}

TEST_F(a_conversation, refuses_a_wrong_command_and_goes_on) {
  EXPECT_EQ(
      answer("FLY\r\nGET\r\nGET k l\r\nSET k\r\nEXPIRE k soon\r\nPING x\r\nCONFIG SET a b\r\nPING\r\n"),
      "-ERR unknown command\r\n-ERR wrong number of arguments\r\n-ERR wrong number of arguments\r\n-ERR wrong number "
      "of arguments\r\n"
      "-ERR value is not an integer or out of range\r\n-ERR unknown command\r\n-ERR unknown command\r\n+PONG\r\n");
  EXPECT_EQ(answer("SET k x\r\nINCR k\r\n"), "+OK\r\n-ERR value is not an integer or out of range\r\n");
}

TEST_F(a_conversation, answers_what_is_no_command_with_an_error_and_ends) {
  EXPECT_EQ(say("PING\r\n*1\r\n+x\r\nPING\r\n"), step::over);
  EXPECT_EQ(told, "+PONG\r\n-ERR Protocol error: expected '$'\r\n");
}

TEST_F(a_conversation, writes_before_its_answers_grow_too_long) {
  constexpr std::size_t value_bytes = 20'000;
  say("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$20000\r\n" + std::string(value_bytes, 'x') + "\r\n");
  told.clear();
  std::string pipeline;
  for (int n = 0; n < 100; ++n) pipeline += "GET k\r\n";
  EXPECT_EQ(say(pipeline), step::more);
  EXPECT_EQ(std::count(told.begin(), told.end(), 'x'), 100 * static_cast<std::ptrdiff_t>(value_bytes));
  EXPECT_LT(longest_output, conversation::write_at_once + 2 * value_bytes);
}

TEST_F(a_conversation, takes_a_word_of_the_greatest_length) {
  const std::string word(bench::resp::most_word_bytes, 'x');
  EXPECT_EQ(say("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + std::to_string(word.size()) + "\r\n" + word + "\r\n"), step::more);
  EXPECT_EQ(told, "+OK\r\n");
  EXPECT_EQ(keys.get("k"), word);
}

}  // namespace
