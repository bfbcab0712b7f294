#include <tartan/core/sharded.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tartan/core/post.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/yield.h>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

using counts = std::unordered_map<std::string, int>;

class a_sharded_object : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_sharded_object, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_sharded_object, is_used_by_one_event_of_a_key_at_a_time) {
  constexpr int keys = 100;
  constexpr int users = 8;
  constexpr int turns = 20;
  sharded<counts> all{rt(), "counts"};
  for (int user = 0; user < users; ++user) {
    spawn_in(rt(), color{1000 + user}, [&]() -> task<> {
      for (int turn = 0; turn < turns; ++turn) {
        for (int key = 0; key < keys; ++key) {
          const std::string name = std::to_string(key);
          co_await all.with(name, [&](counts& map) { ++map[name]; });
        }
      }
    });
  }
  run();
  int found = 0;
  spawn(rt(), [&]() -> task<> {
    for (int key = 0; key < keys; ++key) {
      const std::string name = std::to_string(key);
      found += co_await all.with(name, [&](const counts& map) { return map.at(name); });
    }
  });
  run();
  EXPECT_EQ(found, keys * users * turns);
}

TEST_P(a_sharded_object, runs_the_function_in_its_keys_color_and_brings_the_result_home) {
  sharded<std::map<int, int>> all{rt()};
  spawn_in(rt(), color{1}, [&]() -> task<> {
    const std::unique_ptr<int> got = co_await all.with(7, [&](std::map<int, int>& map) {
      EXPECT_EQ(current_color(), all.where(7));
      return std::make_unique<int>(++map[7]);
    });
    EXPECT_EQ(current_color(), color{1});
    EXPECT_EQ(*got, 1);
    bool caught = false;
    try {
      co_await all.with(7, [](auto&) { throw std::runtime_error{"there"}; });
    } catch (const std::runtime_error&) {
      caught = current_color() == color{1};
    }
    EXPECT_TRUE(caught);
  });
  run();
}

TEST_P(a_sharded_object, runs_a_coroutine_whole_and_lets_others_in_while_it_waits) {
  sharded<std::map<int, int>> all{rt()};
  std::vector<int> order;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    const int got = co_await all.with(7, [&](std::map<int, int>& map) -> task<int> {
      map[7] = 1;
      order.push_back(1);
      spawn_in(color{2}, [&]() -> task<> { co_await all.with(7, [&](auto& same) { order.push_back(++same[7]); }); });
      while (map[7] == 1) co_await yield();
      EXPECT_EQ(current_color(), all.where(7));
      co_return map[7];
    });
    EXPECT_EQ(got, 2);
    EXPECT_EQ(current_color(), color{1});
  });
  run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(a_sharded_object, takes_posts_of_events_and_of_threads_in_their_order) {
  sharded<std::vector<int>> all{rt(), "all", shards{4}};
  for (int n = 0; n < 5; ++n) {
    EXPECT_TRUE(all.post("key", [n](std::vector<int>& seen) { seen.push_back(n); }));
  }
  std::thread{[&] { EXPECT_TRUE(all.post("key", [](auto& seen) { return seen.emplace_back(5); })); }}.join();
  std::vector<int> got;
  rt().post([&] {
    all.post("key", with_hints({.priority = 1}, [&](std::vector<int>& seen) {
      seen.push_back(6);
      got = seen;
    }));
  });
  run();
  EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
}

TEST_P(a_sharded_object, passes_on_the_hints_of_what_is_posted) {
  with.workers = 1;
  with.scheduler = "default";
  sharded<std::string> all{rt(), "all"};
  std::string order;
  rt().post(color{1}, [&] { order += 'b'; });
  all.post("key", with_hints({.priority = 1}, [&](std::string&) { order += 'c'; }));
  run();
  EXPECT_EQ(order, "cb");
}

TEST_P(a_sharded_object, visits_each_shard_in_its_color_in_turn) {
  sharded<int> all{rt(), "numbers", shards{10}, 3};
  int sum = 0;
  std::set<std::uint64_t> colors;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    co_await all.for_each([&](int& number) {
      sum += number++;
      colors.insert(current_color().value());
    });
    EXPECT_EQ(sum, 30);
    co_await all.for_each([&](int& number) -> task<int> {
      co_await yield();
      sum += number;
      colors.insert(current_color().value());
      co_return number;
    });
    EXPECT_EQ(current_color(), color{1});
  });
  run();
  EXPECT_EQ(sum, 70);
  EXPECT_EQ(colors.size(), 10u);
  EXPECT_EQ(all.size(), 10u);
}

TEST_P(a_sharded_object, stops_its_visits_at_the_first_exception) {
  sharded<int> all{rt(), "numbers", shards{10}};
  int visited = 0;
  bool caught = false;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    try {
      co_await all.for_each([&](int&) {
        if (++visited == 3) throw std::runtime_error{"third"};
      });
    } catch (const std::runtime_error&) {
      caught = current_color() == color{1};
    }
  });
  run();
  EXPECT_TRUE(caught);
  EXPECT_EQ(visited, 3);
}

TEST_P(a_sharded_object, answers_also_a_coroutine_that_was_asked_to_end_and_after_a_stop) {
  sharded<int> all{rt(), "numbers"};
  int got = 0;
  auto handle = spawn_in(rt(), color{1}, [&]() -> task<> {
    co_await stop_requested();
    got = co_await all.with(1, [](int& number) { return ++number; });
  });
  run();
  rt().stop();
  EXPECT_FALSE(all.post(1, [](int& number) { ++number; })) << "from outside";
  EXPECT_TRUE(rt().drain(1s).complete);
  EXPECT_EQ(got, 1);
}

TEST_P(a_sharded_object, gives_each_shard_a_color_and_a_name_of_its_own) {
  sharded<int> all{rt(), "sessions", shards{3}};
  sharded<int> other{rt(), {}, shards{1}};
  std::set<std::string> names;
  for (int key = 0; key < 100; ++key) names.insert(rt().name_of(all.where(key)));
  EXPECT_EQ(names, (std::set<std::string>{"sessions 0", "sessions 1", "sessions 2"}));
  EXPECT_EQ(rt().name_of(other.where(0)), "");
  EXPECT_EQ(all.where("a"), all.where(std::string{"a"}));
  EXPECT_EQ(all.where("a"), all.where(std::string_view{"a"}));
}

TEST_P(a_sharded_object, spreads_keys_that_are_neighbors_evenly) {
  constexpr std::size_t keys = 64'000;
  for (const std::size_t count : {1u, 3u, 64u, 100u}) {
    std::vector<std::size_t> hits(count);
    for (std::size_t key = 0; key < keys; ++key) ++hits[detail::shard_of(detail::hash_of(key * 64), count)];
    const auto [fewest, most] = std::minmax_element(hits.begin(), hits.end());
    const std::size_t fair = keys / count;
    EXPECT_GE(*fewest, fair - fair / 5) << count << " shards";
    EXPECT_LE(*most, fair + fair / 5) << count << " shards";
  }
}

TEST_P(a_sharded_object, keeps_apart_what_lies_in_two_shards) {
  sharded<std::atomic<bool>> all{rt(), "flags", shards{2}, false};
  const int first = 0;
  int second = 1;
  while (all.where(second) == all.where(first)) ++second;
  bool met = false;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    co_await all.with(first, [&](std::atomic<bool>&) -> task<> {
      met = co_await all.with(second, [](std::atomic<bool>&) { return true; });  // not blocked by the first
    });
  });
  run();
  EXPECT_TRUE(met);
}

TEST_P(a_sharded_object, destroys_what_it_made_if_a_constructor_throws) {
  static std::atomic<int> alive;
  alive = 0;
  struct fragile {
    explicit fragile(int limit) {
      if (alive == limit) throw std::runtime_error{"enough"};
      ++alive;
    }
    ~fragile() { --alive; }
  };
  EXPECT_THROW((sharded<fragile>{rt(), "fragile", shards{8}, 5}), std::runtime_error);
  EXPECT_EQ(alive, 0);
  {
    const sharded<fragile> all{rt(), "fragile", shards{8}, 9};
    EXPECT_EQ(alive, 8);
  }
  EXPECT_EQ(alive, 0);
}

TEST_P(a_sharded_object, drops_what_waits_for_it_with_its_runtime) {
  std::atomic<int> alive{0};
  {
    auto late = std::make_unique<runtime>(settings());
    sharded<counts> all{*late, "counts"};
    const test::counted guest{alive};
    all.post("key", [guest](counts&) { ADD_FAILURE() << "it never ran"; });
    EXPECT_EQ(alive.load(), 2);
    EXPECT_FALSE(late->drain(0ns).complete);
    EXPECT_EQ(alive.load(), 1);
  }
}

TEST(a_sharded_object_made_wrongly, throws_for_no_shards_or_too_many) {
  runtime rt;
  EXPECT_THROW((sharded<int>{rt, "none", shards{0}}), std::invalid_argument);
  EXPECT_THROW((sharded<int>{rt, "many", shards{65537}}), std::invalid_argument);
}

TEST(a_sharded_object_that_outlives_its_runtime, ends_the_program_with_its_name) {
  EXPECT_DEATH(
      {
        auto rt = std::make_unique<runtime>();
        const sharded<int> all(*rt, "sessions", shards{2});
        rt.reset();
      },
      "a strand outlives its runtime: strand \"sessions ");
}

TEST(a_sharded_object_of_another_runtime, ends_the_program) {
  EXPECT_DEATH(
      {
        runtime mine;
        runtime other;
        sharded<int> of_other(other, "sessions");
        mine.spawn([&]() -> task<> { co_await of_other.with(1, [](int&) {}); });
        mine.run_until_idle();
      },
      "in strand .* of another runtime");
}

TEST(what_leads_into_a_shard, is_told_by_its_type) {
  struct place {
    std::string name;
  };
  EXPECT_TRUE((detail::leads_into<place, std::string&>));
  EXPECT_TRUE((detail::leads_into<place, place*>));
  EXPECT_TRUE((detail::leads_into<place, const place*>));
  EXPECT_TRUE((detail::leads_into<counts, int&>));
  EXPECT_TRUE((detail::leads_into<counts, const int&>));
  EXPECT_TRUE((detail::leads_into<counts, counts*>));
  EXPECT_TRUE((detail::leads_into<counts, counts::iterator>));
  EXPECT_TRUE((detail::leads_into<counts, counts::const_iterator>));
  EXPECT_TRUE((detail::leads_into<counts, std::pair<counts::iterator, bool>>));
  EXPECT_TRUE((detail::leads_into<counts, task<int&>>));
  EXPECT_FALSE((detail::leads_into<counts, int>));
  EXPECT_FALSE((detail::leads_into<counts, void>));
  EXPECT_FALSE((detail::leads_into<counts, counts>));
  EXPECT_FALSE((detail::leads_into<counts, task<>>));
  EXPECT_FALSE((detail::leads_into<counts, std::pair<std::string, int>>));
}

}  // namespace
}  // namespace tartan
