#include "core/sleep/pace.h"

#include <gtest/gtest.h>

namespace tartan::detail {
namespace {

TEST(pace, is_what_a_turn_took_since_the_worker_woke_up) {
  pace of;
  EXPECT_EQ(of.turn_ns(), 0u) << "not known";
  of.begin(1'000, 5);
  of.note(9'000, 5);
  EXPECT_EQ(of.turn_ns(), 0u) << "no turn, no pace";
  of.note(11'000, 7);
  EXPECT_EQ(of.turn_ns(), 5'000u);
  of.begin(1'000'000, 7);  // it has slept
  of.note(1'010'000, 9);
  EXPECT_EQ(of.turn_ns(), 5'000u);
}

TEST(pace, begins_anew_where_nothing_is_known) {
  pace of;
  of.note(1'000'000'000, 3);
  EXPECT_EQ(of.turn_ns(), 0u) << "nobody knows since when";
  of.note(1'000'004'000, 5);
  EXPECT_EQ(of.turn_ns(), 2'000u);
  of.forget();
  of.note(2'000'000'000, 6);
  EXPECT_EQ(of.turn_ns(), 2'000u);
}

TEST(pace, tells_since_when_something_may_wait_by_tours) {
  pace of;
  of.begin_tour(100, 10);
  EXPECT_EQ(of.oldest_ns(), 100u);
  of.look(200, 20, 5);
  EXPECT_EQ(of.oldest_ns(), 100u) << "what came after the beginning";
  of.look(300, 24, 9);
  EXPECT_EQ(of.oldest_ns(), 100u) << "one of the five may still wait";
  of.look(400, 25, 9);
  EXPECT_EQ(of.oldest_ns(), 200u);
  of.look(500, 34, 1);
  EXPECT_EQ(of.oldest_ns(), 400u);
  of.look(600, 35, 0);
  of.look(700, 35, 0);
  EXPECT_EQ(of.oldest_ns(), 600u);
}

TEST(pace, falls_at_once_and_rises_by_a_sixteenth) {
  pace of;
  of.begin(0, 0);
  of.note(10'000, 1);
  of.note(11'000, 2);
  EXPECT_EQ(of.turn_ns(), 1'000u);
  of.note(28'000, 3);  // preempted, perhaps
  EXPECT_EQ(of.turn_ns(), 2'000u);
  of.note(28'500, 4);
  EXPECT_EQ(of.turn_ns(), 500u);
}

}  // namespace
}  // namespace tartan::detail
