#include <tartan/rpc/duplicate_cache.h>

#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/seed.h"

namespace tartan::rpc {
namespace {

using namespace std::chrono_literals;
using verdict = duplicate_cache::verdict;
using time_point = duplicate_cache::time_point;

constexpr time_point start{std::chrono::hours{1}};

duplicate_cache::key call(std::uint32_t xid) {
  return {.peer = address::loopback(700), .xid = xid, .program = 400123, .version = 1, .procedure = 2};
}
buf::chain reply(std::string_view text) {
  buf::chain made;
  made.append(text);
  return made;
}
verdict begin(duplicate_cache& cache, const duplicate_cache::key& of, time_point now = start) {
  buf::chain unused;
  return cache.begin(of, now, unused);
}
/// What is remembered of an answered call; empty if it isn't, and then it is in progress.
std::string replayed(duplicate_cache& cache, const duplicate_cache::key& of, time_point now = start) {
  buf::chain found;
  return cache.begin(of, now, found) == verdict::done ? found.to_string() : std::string{};
}
void answer(duplicate_cache& cache, std::uint32_t xid, std::string_view text, time_point now = start) {
  ASSERT_EQ(begin(cache, call(xid), now), verdict::fresh);
  cache.end(call(xid), reply(text), now);
}

TEST(rpc_duplicate_cache, runs_a_call_once_and_replays_its_reply) {
  duplicate_cache cache;
  EXPECT_EQ(begin(cache, call(1)), verdict::fresh);
  EXPECT_EQ(begin(cache, call(1)), verdict::in_progress);
  cache.end(call(1), reply("done"), start);
  EXPECT_EQ(replayed(cache, call(1)), "done");
  EXPECT_EQ(replayed(cache, call(1)), "done");
  EXPECT_EQ(cache.entries(), 1u);
  EXPECT_EQ(cache.bytes(), 4u);
}

TEST(rpc_duplicate_cache, tells_calls_apart_by_each_part_of_the_key) {
  duplicate_cache cache;
  answer(cache, 1, "done");
  std::vector<duplicate_cache::key> others(7, call(1));
  others[0].peer = address::loopback(701);
  others[1].connection = 1;
  others[2].xid = 2;
  others[3].program = 2;
  others[4].version = 2;
  others[5].procedure = 3;
  others[6].checksum = 1;
  for (const auto& each : others) {
    EXPECT_EQ(begin(cache, each), verdict::fresh);
    duplicate_cache crowded{{.entries = 1}};  // all are in one bucket
    answer(crowded, 1, "done");
    EXPECT_EQ(begin(crowded, each), verdict::fresh);
  }
  EXPECT_EQ(cache.entries(), 8u);
}

TEST(rpc_duplicate_cache, sums_up_256_bytes_and_the_length) {
  const auto sum = [](const std::string& text, std::size_t cut = 1000) {
    buf::chain all;
    for (std::size_t n = 0; n < text.size(); n += cut) all.append(buf::slice::copy_of(text.substr(n, cut)));
    return duplicate_cache::checksum_of(all.slices());
  };
  const std::string text(300, 'x');
  EXPECT_EQ(sum(text), sum(text, 7));
  EXPECT_NE(sum(text), sum(text + 'x'));
  EXPECT_NE(sum(""), sum(std::string(4, '\0')));
  for (std::size_t n = 0; n < text.size(); ++n) {
    std::string other = text;
    other[n] = 'y';
    EXPECT_EQ(sum(other) == sum(text), n >= 256) << n;
  }
}

TEST(rpc_duplicate_cache, forgets_a_call_that_is_not_answered) {
  duplicate_cache cache;
  EXPECT_EQ(begin(cache, call(1)), verdict::fresh);
  cache.forget(call(1));
  EXPECT_EQ(cache.entries(), 0u);
  cache.end(call(1), reply("late"), start);
  EXPECT_EQ(begin(cache, call(1)), verdict::fresh);
  cache.end(call(1), reply("done"), start);
  cache.forget(call(1));
  cache.end(call(1), reply("twice"), start);
  EXPECT_EQ(replayed(cache, call(1)), "done") << "an answered call stays answered";
}

TEST(rpc_duplicate_cache, keeps_a_reply_for_its_time_since_it_was_sent) {
  duplicate_cache cache{{.keep = 10s}};
  answer(cache, 1, "done");
  EXPECT_EQ(replayed(cache, call(1), start + 9s), "done");
  EXPECT_EQ(replayed(cache, call(1), start + 18s), "done");
  EXPECT_EQ(begin(cache, call(1), start + 28s), verdict::fresh);
  EXPECT_EQ(begin(cache, call(1), start + 50s), verdict::in_progress) << "a call in progress does not expire";
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(rpc_duplicate_cache, does_not_replay_a_reply_that_expired_among_many) {
  duplicate_cache cache{{.keep = 10s}};
  for (std::uint32_t n = 0; n < 100; ++n) answer(cache, n, "done");
  EXPECT_EQ(begin(cache, call(99), start + 10s), verdict::fresh);
  EXPECT_EQ(cache.entries(), 96u);
  EXPECT_EQ(cache.bytes(), 4u * 95u);
  for (std::uint32_t n = 100; n < 140; ++n) answer(cache, n, "", start + 10s);
  EXPECT_EQ(cache.entries(), 41u) << "expired ones go faster than new ones come";
}

TEST(rpc_duplicate_cache, drops_the_reply_that_was_not_used_for_longest) {
  duplicate_cache cache{{.entries = 3}};
  for (std::uint32_t n = 1; n <= 3; ++n) answer(cache, n, "done");
  EXPECT_EQ(replayed(cache, call(1)), "done");
  answer(cache, 4, "done");
  EXPECT_EQ(replayed(cache, call(1)), "done");
  EXPECT_EQ(replayed(cache, call(3)), "done");
  EXPECT_EQ(begin(cache, call(2)), verdict::fresh);
  EXPECT_EQ(cache.entries(), 3u);
}

TEST(rpc_duplicate_cache, remembers_no_more_calls_in_progress_than_it_has_entries) {
  duplicate_cache cache{{.entries = 2}};
  EXPECT_EQ(begin(cache, call(1)), verdict::fresh);
  EXPECT_EQ(begin(cache, call(2)), verdict::fresh);
  EXPECT_EQ(begin(cache, call(3)), verdict::fresh);
  EXPECT_EQ(begin(cache, call(3)), verdict::fresh) << "it was not remembered";
  cache.end(call(3), reply("unknown"), start);
  EXPECT_EQ(begin(cache, call(1)), verdict::in_progress);
  EXPECT_EQ(begin(cache, call(2)), verdict::in_progress);
  EXPECT_EQ(cache.entries(), 2u);
  duplicate_cache none{{.entries = 0}};
  EXPECT_EQ(begin(none, call(1)), verdict::fresh);
  EXPECT_EQ(begin(none, call(1)), verdict::fresh);
}

TEST(rpc_duplicate_cache, keeps_no_more_bytes_of_replies_than_it_may) {
  duplicate_cache cache{{.bytes = 100}};
  answer(cache, 1, std::string(40, '1'));
  answer(cache, 2, std::string(40, '2'));
  answer(cache, 3, std::string(60, '3'));
  EXPECT_EQ(cache.bytes(), 100u);
  EXPECT_EQ(replayed(cache, call(2)).size(), 40u);
  EXPECT_EQ(replayed(cache, call(3)).size(), 60u);
  answer(cache, 4, std::string(101, '4'));
  EXPECT_EQ(begin(cache, call(4)), verdict::fresh) << "too long to be remembered";
  answer(cache, 5, std::string(100, '5'));
  EXPECT_EQ(cache.bytes(), 100u);
  EXPECT_EQ(replayed(cache, call(5)).size(), 100u);
}

TEST(rpc_duplicate_cache, refers_to_long_parts_and_copies_short_ones) {
  duplicate_cache cache;
  const buf::slice page = buf::slice::copy_of(std::string(4096, 'p'));
  const buf::slice head = buf::slice::copy_of(std::string_view{"head"});
  buf::chain sent;
  sent.append(head);
  sent.append(page);
  ASSERT_EQ(begin(cache, call(1)), verdict::fresh);
  cache.end(call(1), sent, start);
  sent = {};
  EXPECT_EQ(head.uses(), 1u);
  buf::chain found;
  EXPECT_EQ(cache.begin(call(1), start, found), verdict::done);
  ASSERT_EQ(found.slices().size(), 2u);
  EXPECT_EQ(found.slices()[1].data(), page.data());
}

/// The same the simple way: all calls in a list, those that were answered in the order of their last use behind the others.
class simple_cache {
 public:
  explicit simple_cache(const duplicate_cache::settings& with) : with_{with} {}

  verdict begin(std::uint32_t xid, time_point now, std::string& found) {
    all_.remove_if([&](const auto& each) { return each.is_done && now - each.used >= with_.keep; });
    for (auto each = all_.begin(); each != all_.end(); ++each) {
      if (each->xid != xid) continue;
      if (!each->is_done) return verdict::in_progress;
      found = each->reply;
      each->used = now;
      all_.splice(all_.end(), all_, each);
      return verdict::done;
    }
    if (all_.size() >= with_.entries && !drop()) return verdict::fresh;
    all_.push_front({.xid = xid});
    return verdict::fresh;
  }
  void end(std::uint32_t xid, const std::string& reply, time_point now) {
    for (auto each = all_.begin(); each != all_.end(); ++each) {
      if (each->xid != xid || each->is_done) continue;
      if (reply.size() > with_.bytes) return void(all_.erase(each));
      while (bytes() + reply.size() > with_.bytes) drop();
      *each = {xid, true, reply, now};
      all_.splice(all_.end(), all_, each);
      return;
    }
  }
  void forget(std::uint32_t xid) {
    all_.remove_if([&](const auto& each) { return each.xid == xid && !each.is_done; });
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& each : all_) sum += each.reply.size();
    return sum;
  }

 private:
  struct one {
    std::uint32_t xid;
    bool is_done = false;
    std::string reply{};
    time_point used{};
  };
  bool drop() {
    for (auto each = all_.begin(); each != all_.end(); ++each) {
      if (each->is_done) return all_.erase(each), true;
    }
    return false;
  }

  duplicate_cache::settings with_;
  std::list<one> all_;
};

TEST(rpc_duplicate_cache, does_as_a_simple_one_with_random_calls) {
  std::mt19937_64 random{test::seed()};
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random);
  };
  for (int round = 0; round < 100; ++round) {
    const duplicate_cache::settings with{.entries = 1 + below(12), .bytes = 1 + below(200), .keep = 5s};
    duplicate_cache cache{with};
    simple_cache simple{with};
    time_point now = start;
    for (int n = 0; n < 1000; ++n) {
      const auto xid = static_cast<std::uint32_t>(below(20));
      now += below(10) == 0 ? 2s : 0s;
      const std::size_t what = below(5);
      if (what < 3) {
        buf::chain found;
        std::string expected;
        const verdict got = cache.begin(call(xid), now, found);
        ASSERT_EQ(got, simple.begin(xid, now, expected)) << "round " << round;
        ASSERT_EQ(found.to_string(), expected);
      } else if (what == 3) {
        const std::string text(below(60), static_cast<char>('a' + below(26)));
        cache.end(call(xid), reply(text), now);
        simple.end(xid, text, now);
      } else if (below(3) == 0) {
        cache.forget(call(xid));
        simple.forget(xid);
      }
      ASSERT_LE(cache.entries(), with.entries);
      ASSERT_LE(cache.bytes(), with.bytes);
    }
  }
}

TEST(rpc_duplicate_cache, runs_each_call_once_in_several_threads) {
  duplicate_cache cache{{.entries = 10'000}};
  constexpr std::uint32_t calls = 2000;
  std::vector<std::atomic<int>> runs(calls);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint32_t n = 0; n < calls; ++n) {
        buf::chain found;
        const verdict what = cache.begin(call(n), start, found);
        if (what == verdict::done && found.to_string() != std::to_string(n)) ++wrong;
        if (what != verdict::fresh) continue;
        ++runs[n];
        cache.end(call(n), reply(std::to_string(n)), start);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  for (const auto& each : runs) EXPECT_EQ(each, 1);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tartan::rpc
