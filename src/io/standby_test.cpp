// Two workers, one of which stands by: what becomes ready reaches it all the same when the other one does not look; docs/design/idle-set.md, part 9.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <tartan/core/post.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "io/standby_fixture.h"
#include "tests/short_turns.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using detail::lifecycle_probe;
using test::plain_client;
using test::standing_by;

TEST_F(standing_by, a_worker_hears_of_what_becomes_ready_while_the_other_one_is_in_a_long_event) {
  std::atomic<int> heard{0};
  each = [&] { heard.fetch_add(1); };
  connect(1);
  rt.post(color{7}, [&] {
    for (int round = 1; round <= 100; ++round) {
      send_other_to_stand_by();
      clients_[0].send();
      test::spin_until([&] { return heard.load() == round; });  // for ever, if nobody comes
    }
    rt.stop();
  });
  rt.run();
  EXPECT_EQ(heard.load(), 100);
  EXPECT_GE(time.alarms.load(), 1u);
}

// The two are found by one look, and the first one's event waits for the second one's. After each both wait for readiness for 30 ms.
TEST_F(standing_by, a_worker_takes_what_is_stuck_behind_what_the_other_one_has_found) {
  std::atomic<int> heard{0};
  std::function<void()> round = [&] {
    if (heard.load() == 20) return rt.stop();
    send_other_to_stand_by();
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

// The other one never has nothing to do, and looks often: what it finds for who stands by is not taken over.
TEST_F(standing_by, a_worker_comes_for_its_own_colors_although_the_other_one_looks) {
  std::atomic<int> heard{0};
  each = [&] { heard.fetch_add(1); };
  connect(8);
  int sent = 0;
  std::function<void()> busy = [&] {
    if (heard.load() == sent) {
      if (sent == 800) return rt.stop();
      send_other_to_stand_by();
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

// Few clients, whose turns are dear: the other one sleeps after each few, and so never comes to a look after 64 events. A round takes as long as
// the alarm: were it to go off, the two would change places before either knew what its turns cost.
TEST_F(standing_by, a_worker_is_called_when_the_other_ones_sleep_has_brought_long_turns) {
  std::atomic<unsigned> calls_before{0};
  std::atomic<bool> called{false};
  std::atomic<int> left{0};
  int rounds = 0;
  std::function<void()> round = [&] {
    if (called.load() || ++rounds == 300) return rt.stop();
    time.release_alarm();
    send_other_to_stand_by();
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

// Worker 1, which keeps its place through the pause. Its alarm goes off there, and then nothing brings it but a call. Worker 0 does not leave a run
// while it waits.
TEST_F(standing_by, a_worker_is_called_by_the_next_run) {
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
      send_other_to_stand_by();
    });
    test::spin_until([&] { return time.alarms.load() != alarms_before || time.standing.load() != 1; });
    run_on_worker_0([&] {
      clients_[0].send();
      test::spin_until([&] { return heard.load() == round; });
    });
  }
  EXPECT_EQ(heard.load(), 20);
  rt.stop();
  rt.run();
}

// The other one looks all the time, between the events of colors with a backlog; the last one in its line would wait for a turn of each of them.
TEST_F(standing_by, a_worker_comes_when_hot_colors_make_others_wait) {
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
    send_other_to_stand_by();
    here = rt.state().this_worker();
    for (std::size_t n = 0; n < hot.size(); ++n) {
      for (int k = 0; k < 64; ++k) post(color{100 + n}, hot[n]);
    }
  });
  rt.run();
}

TEST_F(standing_by, a_worker_is_there_when_the_runtime_is_stopped) {
  rt.post(color{7}, [&] {
    send_other_to_stand_by();
    rt.stop();
  });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_GE(time.stood.load(), 1u);
}

}  // namespace
}  // namespace tartan
