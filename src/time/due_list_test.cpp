#include "time/due_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace tartan::detail {
namespace {

using key = std::pair<std::uint64_t, std::uint64_t>;

std::vector<key> sorted(const std::vector<key>& keys) {
  const auto nodes = std::make_unique<timer_node[]>(keys.size());
  due_list list;
  for (std::size_t n = 0; n < keys.size(); ++n) {
    nodes[n].deadline_ns = keys[n].first;
    nodes[n].links.sequence = keys[n].second;
    list.push_back(nodes[n]);
  }
  list.sort();
  EXPECT_EQ(list.size(), keys.size());
  timer_node last;
  last.deadline_ns = ~std::uint64_t{0};
  list.push_back(last);  // the tail must be right after a sort
  std::vector<key> result;
  while (result.size() < keys.size()) {
    const timer_node& node = list.pop_front();
    result.emplace_back(node.deadline_ns, node.links.sequence);
  }
  EXPECT_EQ(&list.pop_front(), &last);
  EXPECT_TRUE(list.empty());
  return result;
}

void expect_sorts(const std::vector<key>& keys) {
  std::vector<key> expected = keys;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(sorted(keys), expected);
}

TEST(due_list, sorts_nothing_and_one) {
  expect_sorts({});
  expect_sorts({{5, 1}});
}

TEST(due_list, sorts_by_deadline_and_then_by_sequence) {
  expect_sorts({{3, 1}, {2, 9}, {3, 0}, {1, 4}, {2, 2}});
}

TEST(due_list, sorts_ascending_and_descending_runs) {
  std::vector<key> up;
  for (std::uint64_t n = 0; n < 1000; ++n) up.emplace_back(n, n);
  expect_sorts(up);
  std::reverse(up.begin(), up.end());
  expect_sorts(up);
}

TEST(due_list, sorts_any_lists_as_a_stable_sort_does) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  for (std::size_t size = 2; size < 3000; size = size * 3 / 2) {
    std::vector<key> keys(size);
    for (key& k : keys) k = {random() % 50, random() % size};
    expect_sorts(keys);
  }
}

TEST(due_list, gives_first_in_first_out_what_was_not_sorted) {
  timer_node a;
  timer_node b;
  due_list list;
  list.push_back(a);
  list.push_back(b);
  EXPECT_EQ(&list.pop_front(), &a);
  list.push_back(a);
  EXPECT_EQ(&list.pop_front(), &b);
  EXPECT_EQ(&list.pop_front(), &a);
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace tartan::detail
