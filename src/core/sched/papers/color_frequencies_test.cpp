#include "core/sched/papers/color_frequencies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <tartan/core/color.h>
#include <utility>
#include <vector>

#include "tests/seed.h"

namespace tartan::detail {
namespace {

task named(std::uint64_t name, std::uint8_t priority = 0) {
  task t{};
  t.color_value = name;
  t.priority = priority;
  return t;
}

/// The colors, in the order in which they would be chosen.
std::vector<std::uint64_t> order_of(const color_frequencies& of) {
  std::vector<std::uint64_t> all;
  (void)of.first_that([&](const task& t) {
    all.push_back(t.color_value);
    return false;
  });
  return all;
}

task* first_of(const color_frequencies& of) {
  return of.first_that([](const task&) { return true; });
}

using list = std::vector<std::uint64_t>;

TEST(color_frequencies, put_the_color_with_the_most_tasks_first) {
  color_frequencies waiting;
  std::deque<task> all;
  for (const std::uint64_t name : {1u, 2u, 3u, 2u, 3u, 3u}) waiting.append(all.emplace_back(named(name)));
  EXPECT_EQ(order_of(waiting), (list{3, 2, 1}));
  waiting.remove(*first_of(waiting));
  EXPECT_EQ(order_of(waiting), (list{2, 3, 1}));  // two have two tasks, and color 2 has had them for longer
  waiting.remove(*first_of(waiting));
  EXPECT_EQ(order_of(waiting), (list{3, 1, 2}));
}

TEST(color_frequencies, put_the_priority_of_the_first_task_before_their_number) {
  color_frequencies waiting;
  std::deque<task> all{named(1), named(1), named(2, 1), named(1, 9), named(3)};
  for (task& t : all) waiting.append(t);
  EXPECT_EQ(order_of(waiting), (list{2, 1, 3}));
  for (int n = 0; n < 2; ++n) waiting.remove(all[static_cast<std::size_t>(n)]);
  EXPECT_EQ(order_of(waiting), (list{1, 2, 3}));  // its last task is of priority 9
}

TEST(color_frequencies, keep_the_order_of_a_color) {
  color_frequencies waiting;
  std::deque<task> all{named(1), named(2), named(1), named(1)};
  for (task& t : all) waiting.append(t);
  for (const std::size_t next : {0u, 2u, 1u, 3u}) {  // then two colors with one task each: color 2 has had one for longer
    ASSERT_EQ(first_of(waiting), &all[next]);
    waiting.remove(all[next]);
  }
  EXPECT_TRUE(waiting.empty());
}

TEST(color_frequencies, count_each_unordered_task_for_itself) {
  color_frequencies waiting;
  std::deque<task> all{named(1), named(color::unordered.value()), named(color::unordered.value()), named(1)};
  for (task& t : all) waiting.append(t);
  EXPECT_EQ(order_of(waiting), (list{1, color::unordered.value(), color::unordered.value()}));
}

/// What they should be, by a search through all colors.
class plain_frequencies {
 public:
  void append(task& t) {
    std::deque<task*>& tasks = colors_[t.color_value];
    tasks.push_back(&t);
    note(t.color_value, tasks);
  }
  void remove(std::uint64_t name) {
    std::deque<task*>& tasks = colors_[name];
    tasks.pop_front();
    if (tasks.empty()) {
      colors_.erase(name);
      ranks_.erase(name);
    } else {
      note(name, tasks);
    }
  }
  [[nodiscard]] list order() const {
    std::vector<std::pair<rank, std::uint64_t>> all;
    for (const auto& [name, of] : ranks_) all.emplace_back(of, name);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      if (a.first.priority != b.first.priority) return a.first.priority > b.first.priority;
      if (a.first.count != b.first.count) return a.first.count > b.first.count;
      return a.first.since < b.first.since;
    });
    list names;
    for (const auto& each : all) names.push_back(each.second);
    return names;
  }

 private:
  struct rank {
    unsigned priority;
    std::size_t count;
    std::uint64_t since;
  };
  void note(std::uint64_t name, const std::deque<task*>& tasks) {
    const auto [at, fresh] = ranks_.try_emplace(name);
    if (!fresh && at->second.priority == tasks.front()->priority && at->second.count == tasks.size()) return;
    at->second = {tasks.front()->priority, tasks.size(), ++steps_};
  }

  std::map<std::uint64_t, std::deque<task*>> colors_;
  std::map<std::uint64_t, rank> ranks_;
  std::uint64_t steps_ = 0;
};

TEST(color_frequencies, are_as_a_search_would_find_them_whatever_is_done) {
  std::mt19937_64 random{test::seed()};
  for (int round = 0; round < 60; ++round) {
    color_frequencies waiting;
    plain_frequencies expected;
    std::deque<task> tasks;
    const std::uint64_t colors = 1 + random() % 300;  // the table grows
    for (std::uint64_t step = 0; step < 2000; ++step) {
      if (random() % 5 < (step < 1000 ? 3u : 2u)) {
        task& t = tasks.emplace_back(named(random() % colors, static_cast<std::uint8_t>(round % 2 == 0 ? 0 : random() % 3)));
        waiting.append(t);
        expected.append(t);
      } else if (!waiting.empty()) {
        std::uint64_t passed = random() % 4;  // as many colors run
        task* const any = waiting.first_that([&](const task&) { return passed-- == 0; });
        task& t = any != nullptr ? *any : *first_of(waiting);
        expected.remove(t.color_value);
        waiting.remove(t);
      }
      if (step % 50 != 0) continue;
      ASSERT_EQ(order_of(waiting), expected.order());
    }
  }
}

}  // namespace
}  // namespace tartan::detail
