// A shard's keys, by a clock that the tests turn.
#include "bench/w14_key_value/shard.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace {

class a_shard_of_keys : public testing::Test {
 protected:
  std::optional<std::string> get(std::string_view key) {
    const auto found = keys.get(key);
    return found ? std::optional<std::string>{*found} : std::nullopt;
  }

  std::int64_t now_ms = 1000;
  bench::shard keys{[this] {
    ++looks;
    return now_ms;
  }};
  int looks = 0;
};

TEST_F(a_shard_of_keys, keeps_the_last_value_of_each) {
  EXPECT_EQ(get("k"), std::nullopt);
  keys.set("k", "1");
  keys.set("k", "two");
  keys.set("l", "");
  EXPECT_EQ(get("k"), "two");
  EXPECT_EQ(get("l"), "");
  EXPECT_EQ(looks, 0) << "no key expires: the clock need not be read";
}

TEST_F(a_shard_of_keys, removes_what_is_there) {
  keys.set("k", "1");
  EXPECT_TRUE(keys.remove("k"));
  EXPECT_FALSE(keys.remove("k"));
  EXPECT_EQ(keys.size(), 0u);
}

TEST_F(a_shard_of_keys, counts_from_0_and_refuses_what_is_no_number) {
  EXPECT_EQ(keys.increment("k"), 1);
  EXPECT_EQ(keys.increment("k"), 2);
  EXPECT_EQ(get("k"), "2");
  for (const std::string_view value : {"", "x", "1x", "+1", "9223372036854775807", "9223372036854775808"}) {
    keys.set("k", value);
    EXPECT_EQ(keys.increment("k"), std::nullopt) << value;
    EXPECT_EQ(get("k"), value);
  }
  keys.set("k", "-1");
  EXPECT_EQ(keys.increment("k"), 0);
}

TEST_F(a_shard_of_keys, loses_a_key_when_its_time_is_over_and_not_before) {
  keys.set("k", "1");
  EXPECT_TRUE(keys.expire("k", 2));
  EXPECT_FALSE(keys.expire("other", 2));
  now_ms += 1999;
  EXPECT_EQ(get("k"), "1");
  now_ms += 1;
  EXPECT_EQ(get("k"), std::nullopt);
  EXPECT_FALSE(keys.remove("k"));
  EXPECT_EQ(keys.increment("k"), 1) << "a new one, which does not expire";
  now_ms += 1'000'000;
  EXPECT_EQ(get("k"), "1");
}

TEST_F(a_shard_of_keys, loses_it_at_once_if_there_is_no_time) {
  for (const std::int64_t seconds : {std::int64_t{0}, std::int64_t{-1}}) {
    keys.set("k", "1");
    EXPECT_TRUE(keys.expire("k", seconds));
    EXPECT_EQ(get("k"), std::nullopt);
  }
}

TEST_F(a_shard_of_keys, goes_by_the_last_time_it_was_told) {
  keys.set("k", "1");
  keys.expire("k", 1);
  keys.expire("k", 3);
  now_ms += 2000;
  EXPECT_EQ(get("k"), "1");
  now_ms += 1000;
  EXPECT_EQ(get("k"), std::nullopt);

  keys.set("k", "1");
  keys.expire("k", 1);
  keys.set("k", "2");
  now_ms += 2000;
  EXPECT_EQ(get("k"), "2") << "a key that is set anew does not expire";

  keys.expire("k", 1);
  EXPECT_EQ(keys.increment("k"), 3);
  now_ms += 2000;
  EXPECT_EQ(get("k"), std::nullopt) << "a key that is counted still does";
}

TEST_F(a_shard_of_keys, never_shows_a_key_that_has_expired_and_is_not_removed_yet) {
  for (std::size_t n = 0; n < 10 * bench::shard::sweep_at_once; ++n) {
    keys.set(std::to_string(n), "1");
    keys.expire(std::to_string(n), 1);
  }
  keys.set("last", "1");
  keys.expire("last", 2);
  now_ms += 2000;
  EXPECT_EQ(get("last"), std::nullopt);
  EXPECT_FALSE(keys.expire("last", 1));
  EXPECT_EQ(keys.increment("39"), 1);
}

TEST_F(a_shard_of_keys, removes_those_that_nobody_asks_for_a_few_at_a_time) {
  constexpr std::size_t count = 10 * bench::shard::sweep_at_once;
  for (std::size_t n = 0; n < count; ++n) {
    keys.set(std::to_string(n), "x");
    keys.expire(std::to_string(n), 1);
  }
  now_ms += 1000;
  for (std::size_t left = count; left != 0; left -= bench::shard::sweep_at_once) {
    EXPECT_EQ(keys.size(), left);
    EXPECT_EQ(get("nobody's"), std::nullopt);
  }
  EXPECT_EQ(keys.size(), 0u);
}

}  // namespace
