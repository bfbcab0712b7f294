#include "load/expectation.h"

#include <gtest/gtest.h>

namespace load {
namespace {

TEST(an_expectation, that_is_given_is_known) {
  const expectation given{"body"};
  ASSERT_NE(given.known(), nullptr);
  EXPECT_EQ(*given.known(), "body");
}

TEST(an_expectation, is_the_first_body_that_comes) {
  expectation learned;
  EXPECT_EQ(learned.known(), nullptr);
  learned.learn("first");
  learned.learn("second");
  ASSERT_NE(learned.known(), nullptr);
  EXPECT_EQ(*learned.known(), "first");
}

TEST(an_expectation, has_one_claimant_at_a_time) {
  expectation wanted;
  EXPECT_TRUE(wanted.claim());
  EXPECT_FALSE(wanted.claim());
  wanted.give_up();
  EXPECT_TRUE(wanted.claim());
}

}  // namespace
}  // namespace load
