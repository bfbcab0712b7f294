// Workers of which one is the guard: what becomes ready reaches one of them although those that are awake do not look; docs/design/sleeping.md.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tartan/core/post.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "io/guard_fixture.h"
#include "tests/short_turns.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using test::guarded;
using test::plain_client;

INSTANTIATE_TEST_SUITE_P(io, guarded, testing::Values(2, 4, 8), test::worker_name);

// All but the guard spin until it has come.
TEST_P(guarded, a_worker_hears_of_what_becomes_ready_while_all_others_are_in_long_events) {
  std::atomic<int> heard{0};
  each = [&] { heard.fetch_add(1); };
  connect(1);
  const int rounds = 50;
  std::atomic<unsigned> in_events{0};
  std::function<void()> next_round;
  const auto wait_long = [&](int round) {
    in_events.fetch_add(1);
    test::spin_until([&] { return heard.load() == round; });  // for ever, if nobody comes
    in_events.fetch_sub(1);
  };
  int round = 0;
  next_round = [&] {
    if (++round > rounds) return rt.stop();
    test::spin_until([&] { return in_events.load() == 0; });
    for (unsigned n = 2; n < rt.workers(); ++n) post(color{100 + n}, [&, mine = round] { wait_long(mine); });
    test::spin_until([&] { return in_events.load() == rt.workers() - 2; });
    send_others_to_rest(rt.workers() - 2);
    clients_[0].send();
    wait_long(round);
    post(color{7}, next_round);
  };
  rt.post(color{7}, next_round);
  rt.run();
  EXPECT_EQ(heard.load(), rounds);
  EXPECT_GE(time.alarms.load(), 1u);
  EXPECT_FALSE(time.crowded.load()) << "two polled, or two were the guard";
}

// Both are found by one look, and the first one's event waits for the second one's. After each, readiness is worth a wake-up for 30 ms.
TEST_P(guarded, a_worker_takes_what_is_stuck_behind_what_another_one_has_found) {
  std::atomic<int> heard{0};
  std::function<void()> round = [&] {
    if (heard.load() == 20) return rt.stop();
    send_others_to_rest();
    for (const plain_client& client : clients_) client.send();
  };
  each = [&] {
    const int mine = heard.fetch_add(1);
    if (mine % 2 != 0) {
      post(color{7}, round);
    } else {
      test::spin_until([&] { return heard.load() > mine + 1; });
    }
  };
  connect(2);
  rt.post(color{7}, round);
  rt.run();
  EXPECT_EQ(heard.load(), 20);
}

// The one that is awake always has something to do, and looks often: it finds what is ready for colors of those that sleep.
TEST_P(guarded, colors_of_workers_that_sleep_are_served_although_another_one_looks) {
  std::atomic<int> heard{0};
  each = [&] { heard.fetch_add(1); };
  connect(8);
  int sent = 0;
  std::function<void()> busy = [&] {
    if (heard.load() == sent) {
      if (sent == 800) return rt.stop();
      send_others_to_rest();
      for (const plain_client& client : clients_) client.send();
      sent += static_cast<int>(clients_.size());
    }
    post(color{7}, busy);
    post(color{8}, [] {});
  };
  rt.post(color{7}, busy);
  rt.run();
  EXPECT_EQ(heard.load(), 800);
}

// Few clients, whose turns are dear: their worker sleeps after each few, and so never comes to a look after 64 events. A round takes as long as
// the alarm: were it to go off, the guard would get up before that worker knew what its turns cost.
TEST_P(guarded, a_worker_is_called_when_a_sleep_has_brought_long_turns) {
  std::atomic<unsigned> calls_before{0};
  std::atomic<bool> called{false};
  std::atomic<int> left{0};
  int rounds = 0;
  std::function<void()> round = [&] {
    if (called.load() || ++rounds == 300) return rt.stop();
    time.release_alarm();
    send_others_to_rest();
    time.hold_alarm();
    calls_before = time.calls.load();
    left = static_cast<int>(clients_.size());
    for (const plain_client& client : clients_) client.send();
  };
  each = [&] {
    if (time.calls.load() != calls_before.load()) called = true;
    const std::uint64_t begin = detail::real_now_ns();
    while (detail::real_now_ns() - begin < 150'000) {
    }
    if (left.fetch_sub(1) == 1) post(color{7}, round);
  };
  connect(4);
  rt.post(color{7}, round);
  rt.run();
  EXPECT_TRUE(called.load());
}

// The guard keeps its place through the pause. Its alarm goes off there, and then nothing brings it but the next run. Worker 0 does not leave a run
// while it waits.
TEST_P(guarded, the_guard_comes_also_in_the_next_run) {
  std::atomic<int> heard{0};
  each = [&] { heard.fetch_add(1); };
  connect(1);
  std::atomic<bool> done{false};
  std::function<void()> what;
  strand own{rt};
  const auto on_worker_0 = [&] {
    if (done.load() || rt.state().this_worker() != 0) return;  // it was posted twice, for a run may end before it; or it was stolen
    what();
    done = true;
  };
  const auto run_on_worker_0 = [&](std::function<void()> next) {
    what = std::move(next);
    done = false;
    while (!done.load()) {
      rt.state().policy().place(detail::strand_access::state(own), 0);
      own.post(on_worker_0);
      rt.run_for(std::chrono::milliseconds{1});
    }
  };
  for (int round = 1; round <= 20; ++round) {
    unsigned alarms_before = 0;
    run_on_worker_0([&] {
      alarms_before = time.alarms.load();
      send_others_to_rest();
    });
    test::spin_until([&] { return time.alarms.load() != alarms_before || !life().sleepers().view().watching(); });
    run_on_worker_0([&] {
      clients_[0].send();
      test::spin_until([&] { return heard.load() == round; });
    });
  }
  EXPECT_EQ(heard.load(), 20);
  rt.stop();
  rt.run();
}

// Their worker looks all the time, between the events of colors with a backlog; the last one in its line would wait for a turn of each of them.
TEST_P(guarded, a_worker_comes_when_hot_colors_make_others_wait) {
  unsigned here = 0;
  std::atomic<bool> came{false};
  std::vector<std::function<void()>> hot(8);
  for (std::size_t n = 0; n < hot.size(); ++n) {
    hot[n] = [&, n] {
      if (came.load()) return;
      if (rt.state().this_worker() != here) {
        came = true;
        return rt.stop();
      }
      const std::uint64_t begin = detail::real_now_ns();
      while (detail::real_now_ns() - begin < 3'000) {
      }
      post(color{100 + n}, hot[n]);
    };
  }
  rt.post(color{7}, [&] {
    send_others_to_rest();
    here = rt.state().this_worker();
    for (std::size_t n = 0; n < hot.size(); ++n) {
      for (int k = 0; k < 64; ++k) post(color{100 + n}, hot[n]);
    }
  });
  rt.run();
}

/// One color that goes on and on, each event of which takes 0.1 us by the runtime's clock.
class guarded_in_cheap_turns : public guarded {
 protected:
  /// Runs `step` between the turns of one worker, the others at rest, until it gives true. By then the runtime knows what a turn takes.
  void run(std::function<bool()> step) {
    std::function<void()> turn = [&] {
      time.still_at_ns += 100;
      if (!is_ready() || !step()) return static_cast<void>(post(color{7}, std::ref(turn)));
      calls = time.calls.load() - calls;
      edges = time.edges.load() - edges;
      time.still_at_ns = 0;
      time.release_alarm();
      rt.stop();
    };
    rt.post(color{7}, [&] {
      send_others_to_rest();
      time.hold_alarm();
      time.still_at_ns = detail::real_now_ns();
      post(color{7}, std::ref(turn));
    });
    rt.run();
  }

  unsigned calls = 0;  ///< of workers that slept
  unsigned edges = 0;  ///< that have woken one

 private:
  /// Whether many turns were made, and all that was done before is over.
  [[nodiscard]] bool is_ready() {
    if (is_ready_) return true;
    if (++turns_ % 1'000 != 0) return false;
    if (!is_guarded(1)) {
      rouse_poller();
      return false;
    }
    calls = time.calls.load();
    edges = time.edges.load();
    return is_ready_ = true;
  }

  int turns_ = 0;
  bool is_ready_ = false;
};
INSTANTIATE_TEST_SUITE_P(io, guarded_in_cheap_turns, testing::Values(2, 4, 8), test::worker_name);

// All that is ready is found by the one that looks. The guard may come all the same, once in a while: if the system takes the CPU from that one.
TEST_P(guarded_in_cheap_turns, no_edge_wakes_another_worker) {
  std::atomic<unsigned> heard{0};
  each = [&] { heard.fetch_add(1); };
  connect(1);
  unsigned sent = 0;
  run([&] {
    if (heard.load() != sent) return false;
    if (sent == 500) return true;
    clients_[0].send();
    ++sent;
    return false;
  });
  EXPECT_EQ(heard.load(), 500u);
  EXPECT_LT(calls + edges, 50u);
}

// A worker that was woken wakes up to two, and the guard comes for what is left.
TEST_P(guarded, long_events_that_are_posted_at_once_all_begin) {
  std::atomic<unsigned> begun{0};
  std::atomic<unsigned> ended{0};
  const auto post_all = [&](unsigned how_many) {
    for (unsigned n = 0; n < how_many; ++n) {
      rt.post(color{100 + n}, [&] {
        begun.fetch_add(1);
        test::spin_until([&] { return begun.load() >= rt.workers(); });  // for ever, if one is not woken
        ended.fetch_add(1);
      });
    }
  };
  std::thread poster{[&] {
    for (int round = 0; round < 40; ++round) {
      await_all_at_rest();
      begun = 0;
      ended = 0;
      if (round % 2 == 0) {
        post_all(rt.workers());
      } else {
        rt.post(color{7}, [&] { post_all(rt.workers()); });
      }
      test::spin_until([&] { return ended.load() == rt.workers(); });
    }
    rt.stop();
  }};
  rt.run();
  poster.join();
  EXPECT_FALSE(time.crowded.load());
}

// Whichever of them was the last one to rest, and whatever has disturbed them.
TEST_P(guarded, once_all_sleep_one_of_them_waits_for_readiness) {
  std::atomic<int> heard{0};
  each = [&] { heard.fetch_add(1); };
  connect(1);
  std::thread outside{[&] {
    for (int round = 1; round <= 300; ++round) {
      for (unsigned n = 0; n < static_cast<unsigned>(round) % 8; ++n) rt.post(color::unordered, [] {});
      await_all_at_rest();  // for ever, if nobody does
      clients_[0].send();
      test::spin_until([&] { return heard.load() == round; });
    }
    rt.stop();
  }};
  rt.run();
  outside.join();
  EXPECT_FALSE(time.crowded.load()) << "two polled, or two were the guard";
}

TEST_P(guarded, workers_end_their_rest_when_the_runtime_is_stopped) {
  rt.post(color{7}, [&] {
    send_others_to_rest();
    rt.stop();
  });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_GE(time.guards.load(), 1u);
}

}  // namespace
}  // namespace tartan
