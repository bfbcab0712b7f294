#include "time/wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tartan::detail {
namespace {

constexpr std::uint64_t tick = wheel::tick_ns;
constexpr unsigned no_limit = ~0u;

std::vector<timer_node*> take(wheel& w, std::uint64_t cut_tick, unsigned limit = no_limit) {
  due_list due;
  while (w.take_before(cut_tick, limit, due)) {
  }
  due.sort();
  std::vector<timer_node*> taken;
  while (!due.empty()) taken.push_back(&due.pop_front());
  return taken;
}

TEST(wheel, fires_at_the_first_tick_after_the_deadline) {
  EXPECT_EQ(wheel::fire_ns(0), tick);
  EXPECT_EQ(wheel::fire_ns(tick - 1), tick);
  EXPECT_EQ(wheel::fire_ns(tick), 2 * tick);
  EXPECT_GT(wheel::fire_ns(latest_deadline_ns), latest_deadline_ns);
}

TEST(wheel, is_empty_at_first) {
  wheel w;
  EXPECT_EQ(w.size(), 0u);
  EXPECT_EQ(w.next_ns(), ~std::uint64_t{0});
  EXPECT_TRUE(take(w, 1000).empty());
  EXPECT_EQ(w.take_any(), nullptr);
}

TEST(wheel, takes_a_node_only_when_its_tick_is_over) {
  for (const std::uint64_t ticks : {0u, 1u, 63u, 64u, 65u, 4095u, 4096u, 262143u, 262144u, 16777216u}) {
    wheel w;
    timer_node node;
    node.deadline_ns = ticks * tick + 5;
    w.insert(node, 0);
    EXPECT_TRUE(node.links.armed);
    EXPECT_TRUE(take(w, ticks).empty()) << ticks;
    EXPECT_LE(w.next_ns(), wheel::fire_ns(node.deadline_ns));
    EXPECT_EQ(take(w, ticks + 1), std::vector<timer_node*>{&node}) << ticks;
    EXPECT_FALSE(node.links.armed);
    EXPECT_EQ(w.size(), 0u);
  }
}

TEST(wheel, keeps_the_latest_deadline_there_is) {
  wheel w;
  timer_node node;
  node.deadline_ns = latest_deadline_ns;
  w.insert(node, 0);
  EXPECT_TRUE(take(w, latest_deadline_ns >> wheel::tick_bits).empty());
  EXPECT_EQ(w.next_ns(), wheel::fire_ns(latest_deadline_ns));
  EXPECT_EQ(take(w, (latest_deadline_ns >> wheel::tick_bits) + 1).size(), 1u);
}

TEST(wheel, finds_every_level_by_following_its_own_next_time) {
  wheel w;
  std::vector<timer_node> nodes(47);
  for (unsigned bit = 0; bit < nodes.size(); ++bit) {
    nodes[bit].deadline_ns = ((std::uint64_t{1} << bit) * tick + tick / 2) & latest_deadline_ns;
    w.insert(nodes[bit], 0);
  }
  std::size_t found = 0;
  int looks = 0;
  while (w.size() != 0) {
    const std::uint64_t next = w.next_ns();
    for (timer_node* const node : take(w, next >> wheel::tick_bits)) {
      ++found;
      EXPECT_EQ(wheel::fire_ns(node->deadline_ns), next) << "late or early";
    }
    ASSERT_LT(++looks, 500);
  }
  EXPECT_EQ(found, nodes.size());
}

TEST(wheel, starts_an_empty_wheel_at_the_present) {
  wheel w;
  timer_node node;
  const std::uint64_t now_tick = 123'456'789;
  node.deadline_ns = (now_tick + 3) * tick;
  w.insert(node, now_tick);
  EXPECT_EQ(w.next_ns(), wheel::fire_ns(node.deadline_ns)) << "a node that is near lies on the lowest level";
}

TEST(wheel, treats_a_tick_that_is_over_as_the_current_one) {
  wheel w;
  EXPECT_TRUE(take(w, 1000).empty());
  timer_node node;
  node.deadline_ns = 7 * tick;
  w.insert(node, 0);
  EXPECT_EQ(take(w, 1001).size(), 1u);
}

TEST(wheel, does_at_most_so_many_steps_at_once) {
  wheel w;
  std::vector<timer_node> nodes(1000);
  for (timer_node& node : nodes) {
    node.deadline_ns = 5000 * tick;  // to be spread over the lowest level first
    w.insert(node, 0);
  }
  due_list due;
  int calls = 0;
  for (bool more = true; more; ++calls) {
    const std::size_t before = due.size();
    more = w.take_before(5001, 100, due);
    EXPECT_LE(due.size() - before, 100u);
  }
  EXPECT_EQ(due.size(), nodes.size());
  EXPECT_GE(calls, 20);
}

TEST(wheel, has_little_to_do_at_once_if_it_may_spread_ahead) {
  constexpr std::uint64_t far = 123 * 64 * 64 * 64;  // the begin of a slot of half a minute
  wheel w;
  std::vector<timer_node> nodes(20'000);
  std::uint64_t look_ns = wheel::never;
  std::uint64_t tick_now = far - 2 * 64 * 64 * 64;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    nodes[n].deadline_ns = (far + n / 4) * tick;
    look_ns = std::min(look_ns, w.insert(nodes[n], tick_now));
  }
  EXPECT_LT(look_ns, (far - 64 * 64) * tick) << "it wants to be looked at long before";
  std::size_t taken = 0;
  unsigned most_steps = 0;
  while (w.size() != 0) {
    tick_now = w.next_ns() >> wheel::tick_bits;
    due_list due;
    unsigned steps = 1;
    while (w.take_before(tick_now, 1, due)) ++steps;
    most_steps = std::max(most_steps, steps);
    taken += due.size();
    w.spread_ahead(100);
  }
  EXPECT_EQ(taken, nodes.size());
  EXPECT_LE(most_steps, 300u) << "256 nodes are few";
}

TEST(wheel, wakes_nobody_for_a_lone_node_before_it_is_due) {
  wheel w;
  timer_node node;
  node.deadline_ns = 3'600'000'000'000;
  EXPECT_EQ(w.insert(node, 0), wheel::fire_ns(node.deadline_ns));
  EXPECT_TRUE(take(w, 1000).empty());
  EXPECT_FALSE(w.spread_ahead(100));
  EXPECT_EQ(w.next_ns(), wheel::fire_ns(node.deadline_ns));
}

TEST(wheel, removes_and_inserts_while_a_slot_is_being_spread) {
  wheel w;
  std::vector<timer_node> nodes(10);
  for (timer_node& node : nodes) {
    node.deadline_ns = 130 * tick;
    w.insert(node, 0);
  }
  due_list due;
  ASSERT_TRUE(w.take_before(200, 3, due));
  for (timer_node& node : nodes) w.remove(node);
  timer_node later;
  later.deadline_ns = 5000 * tick;
  w.insert(later, 4000);
  EXPECT_TRUE(take(w, 5000).empty());
  EXPECT_EQ(take(w, 5001).size(), 1u);
  EXPECT_TRUE(due.empty());
}

TEST(wheel, gives_every_node_to_who_takes_any) {
  wheel w;
  std::vector<timer_node> nodes(100);
  std::uint64_t deadline = 1;
  for (timer_node& node : nodes) {
    node.deadline_ns = deadline;
    deadline = deadline * 3 / 2 + 1;
    w.insert(node, 0);
  }
  std::set<timer_node*> taken;
  while (timer_node* const node = w.take_any()) taken.insert(node);
  EXPECT_EQ(taken.size(), nodes.size());
  EXPECT_EQ(w.size(), 0u);
}

// Against a std::multimap: what it takes and when it wants to be asked again.
class random_wheel {
 public:
  random_wheel(std::uint64_t seed, std::size_t few) : random_{seed}, wheel_{few} {}

  void step() {
    const std::uint64_t what = random_() % 100;
    if (what < 55) {
      set();
    } else if (what < 80) {
      cancel();
    } else {
      pass();
    }
  }

  void finish() {
    while (!model_.empty()) pass();
    EXPECT_EQ(wheel_.size(), 0u);
    EXPECT_EQ(wheel_.next_ns(), ~std::uint64_t{0});
  }

 private:
  using model = std::multimap<std::uint64_t, std::unique_ptr<timer_node>>;

  // All levels alike: a random number of random bits.
  std::uint64_t random_span() { return random_() >> (18 + random_() % 46); }

  void set() {
    auto node = std::make_unique<timer_node>();
    node->deadline_ns = std::min(now_ + random_span(), latest_deadline_ns);
    wheel_.insert(*node, passed_tick());
    const std::uint64_t deadline = node->deadline_ns;
    model_.emplace(deadline, std::move(node));
  }

  void cancel() {
    if (model_.empty()) return;
    const auto some = model_.lower_bound(now_ + random_span());
    const auto gone = some == model_.end() ? model_.begin() : some;
    wheel_.remove(*gone->second);
    model_.erase(gone);
  }

  void pass() {
    const std::uint64_t next = wheel_.next_ns();
    const std::uint64_t first = model_.empty() ? ~std::uint64_t{0} : wheel::fire_ns(model_.begin()->first);
    ASSERT_LE(next, first) << "would fire late";
    now_ = random_() % 2 == 0 && !model_.empty() ? std::max(now_, next)
                                                 : std::min(now_ + random_span(), latest_deadline_ns);
    const auto taken = take(wheel_, passed_tick(), 1 + static_cast<unsigned>(random_() % 50));
    for (timer_node* const node : taken) {
      ASSERT_FALSE(model_.empty());
      ASSERT_EQ(node->deadline_ns, model_.begin()->first);
      ASSERT_LT(node->deadline_ns, now_) << "early";
      auto same = model_.begin();
      while (same->second.get() != node) ++same;
      model_.erase(same);
    }
    ASSERT_TRUE(model_.empty() || model_.begin()->first >> wheel::tick_bits >= passed_tick()) << "late";
    ASSERT_EQ(wheel_.size(), model_.size());
    wheel_.spread_ahead(static_cast<unsigned>(random_() % 10));
  }

  std::uint64_t passed_tick() const { return now_ >> wheel::tick_bits; }

  std::mt19937_64 random_;
  std::uint64_t now_ = 0;
  wheel wheel_;
  model model_;
};

TEST(wheel, does_what_a_sorted_map_does) {
  const char* const given = std::getenv("TARTAN_SEED");
  const std::uint64_t seed = given != nullptr ? std::stoull(given) : std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "TARTAN_SEED=" << seed);
  for (std::uint64_t round = 0; round < 60 && !::testing::Test::HasFailure(); ++round) {
    random_wheel pair{seed + round, round % 3 == 0 ? 256u : round % 3 * 10 - 10};  // 256, 0 and 10: ahead or in time
    for (int n = 0; n < 2000 && !::testing::Test::HasFailure(); ++n) pair.step();
    pair.finish();
  }
}

}  // namespace
}  // namespace tartan::detail
