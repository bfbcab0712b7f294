#include "core/sleep/guard_word.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/memory.h"

namespace tartan::detail {
namespace {

constexpr std::uint64_t begin_ns = 1'000'000'000;
constexpr std::uint64_t far_ns = 600'000;

/// An alarm that is written down.
class a_guard_word : public testing::Test {
 protected:
  /// Pushes the alarm at that time, if the guard is needed at `due_ns`.
  void push(std::uint64_t now_ns, std::uint64_t due_ns) {
    guard.push(
        now_ns, [&] { return ++asked, due_ns; }, [&](std::uint64_t at_ns) { alarms.push_back(at_ns); });
  }
  void begin() {
    guard.begin(begin_ns, [&](std::uint64_t at_ns) { alarms.push_back(at_ns); });
  }

  guard_word<real_memory> guard{far_ns};
  std::vector<std::uint64_t> alarms;
  int asked = 0;
};

// The guard may have got up while another one looks.
TEST_F(a_guard_word, sets_no_alarm_for_nobody) {
  EXPECT_FALSE(guard.is_on());
  push(begin_ns, begin_ns + far_ns);
  begin();
  guard.end();
  EXPECT_FALSE(guard.is_on());
  alarms.clear();
  push(begin_ns + far_ns, begin_ns + 2 * far_ns);
  EXPECT_TRUE(alarms.empty());
  EXPECT_EQ(asked, 0);
}

TEST_F(a_guard_word, sets_the_alarm_of_a_new_guard) {
  begin();
  EXPECT_TRUE(guard.is_on());
  EXPECT_EQ(guard.begun_ns(), begin_ns);
  EXPECT_EQ(alarms, std::vector<std::uint64_t>{begin_ns + far_ns});
  EXPECT_EQ(guard.still_ahead(begin_ns), begin_ns + far_ns);
  EXPECT_EQ(guard.still_ahead(begin_ns + far_ns - 1), begin_ns + far_ns);
  EXPECT_EQ(guard.still_ahead(begin_ns + far_ns), 0u);
}

// To ask means to look at every worker.
TEST_F(a_guard_word, asks_when_the_guard_is_due_only_if_the_alarm_is_near) {
  begin();
  const std::uint64_t near = begin_ns + far_ns - guard.near_ns();
  push(near - 1, near + far_ns);
  EXPECT_EQ(asked, 0);
  push(near, near + far_ns);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(alarms.back(), near + far_ns);
  EXPECT_EQ(guard.still_ahead(near), near + far_ns);
  push(near, near + far_ns + 1);
  EXPECT_EQ(asked, 1) << "it is far again";
}

TEST_F(a_guard_word, leaves_the_alarm_if_it_would_be_hardly_later) {
  begin();
  const std::uint64_t now_ns = begin_ns + far_ns - 1;
  const std::uint64_t at_ns = begin_ns + far_ns;
  push(now_ns, 0);
  push(now_ns, at_ns - 1);
  push(now_ns, at_ns + guard.least_ns() - 1);
  EXPECT_EQ(alarms.size(), 1u);
  EXPECT_EQ(asked, 3);
  push(now_ns, at_ns + guard.least_ns());
  EXPECT_EQ(alarms.size(), 2u);
}

// A guard that sleeps on since all others slept would never hear of it, else.
TEST_F(a_guard_word, sets_an_alarm_that_has_gone_off_whatever_is_due) {
  begin();
  const std::uint64_t now_ns = begin_ns + 3 * far_ns;
  push(now_ns, now_ns - far_ns);
  ASSERT_EQ(alarms.size(), 2u);
  EXPECT_EQ(alarms.back(), now_ns);
}

TEST_F(a_guard_word, is_put_off_by_the_guard) {
  begin();
  const std::uint64_t now_ns = begin_ns + far_ns;
  guard.put_off(now_ns + 100'000, [&](std::uint64_t at_ns) { alarms.push_back(at_ns); });
  EXPECT_EQ(alarms.back(), now_ns + 100'000);
  EXPECT_EQ(guard.still_ahead(now_ns), now_ns + 100'000);
}

// What another one sets meanwhile stays.
TEST_F(a_guard_word, does_not_change_what_another_one_has_set_since) {
  begin();
  const std::uint64_t now_ns = begin_ns + far_ns - 1;
  guard.push(
      now_ns,
      [&] {
        guard.put_off(begin_ns + 5 * far_ns, [](std::uint64_t) {});
        return now_ns + far_ns;
      },
      [](std::uint64_t) {});
  EXPECT_EQ(guard.still_ahead(now_ns), begin_ns + 5 * far_ns);
}

}  // namespace
}  // namespace tartan::detail
