/// What docs/guide/time.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <tartan/tartan.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tests/virtual_time.h"

namespace {

using namespace std::chrono_literals;

class connection {
 public:
  explicit connection(tartan::runtime& rt, tartan::color c) : idle_{rt, c} {}

  void on_bytes() {                       // in the connection's color
    idle_.set(30s, [this] { close(); });  // what was set before is called off
  }
  void close() {
    idle_.cancel();  // nothing of it runs after this
    open_ = false;
  }
  bool open() const { return open_; }

 private:
  tartan::timer idle_;
  bool open_ = true;
};

tartan::options in_virtual_time(tartan::test::virtual_poller& clock) {
  tartan::options with;
  with.workers = 1;
  with.poller = &clock;
  return with;
}

TEST(time_guide, an_idle_connection_is_closed) {
  tartan::test::virtual_poller clock;
  tartan::runtime rt{in_virtual_time(clock)};
  connection peer{rt, tartan::color{1}};
  rt.post(tartan::color{1}, [&] { peer.on_bytes(); });
  rt.run_for(29s);
  rt.post(tartan::color{1}, [&] { peer.on_bytes(); });
  rt.run_for(29s);
  EXPECT_TRUE(peer.open());
  rt.run_for(2s);
  EXPECT_FALSE(peer.open());
}

TEST(time_guide, an_hour_takes_no_time_in_a_test) {
  tartan::test::virtual_poller clock;
  tartan::options with;
  with.poller = &clock;  // stands still while a worker works, jumps when all sleep
  tartan::runtime rt{with};
  bool rang = false;
  tartan::post_after(rt, 1h, [&] { rang = true; });
  rt.run_until_idle();
  EXPECT_TRUE(rang);
}

TEST(time_guide, a_callback_may_ask_whether_the_runtime_stops) {
  tartan::test::virtual_poller clock;
  std::string ended;
  {
    tartan::runtime rt{in_virtual_time(clock)};
    rt.post([&] {
      tartan::post_after(10s, [&](tartan::result<> waited) {
        if (!waited) ended = waited.error() == tartan::errc::canceled ? "canceled" : "?";
      });
    });
    tartan::post_after(rt, 1s, [&] { rt.stop(); });
    rt.run();
  }
  EXPECT_EQ(ended, "canceled");
}

struct heartbeat {
  tartan::timer timer;
  int& beats;

  void beat() {
    if (++beats == 5) return;
    timer.set(1s, [this] { beat(); });  // from its own callback: no memory is allocated
  }
};

TEST(time_guide, a_timer_is_set_again_from_its_callback) {
  tartan::test::virtual_poller clock;
  tartan::runtime rt{in_virtual_time(clock)};
  int beats = 0;
  heartbeat heart{tartan::timer{rt}, beats};
  rt.post([&] { heart.beat(); });
  rt.run_until_idle();
  EXPECT_EQ(beats, 5);
}

tartan::task<> poll_server(int& polls) {
  tartan::interval every{10s};
  while (auto ticks = co_await every.next()) {  // how many have passed: usually 1
    if ((polls += static_cast<int>(*ticks)) >= 3) co_return;
  }
}

TEST(time_guide, a_coroutine_waits_for_ticks) {
  tartan::test::virtual_poller clock;
  tartan::runtime rt{in_virtual_time(clock)};
  int polls = 0;
  rt.spawn(poll_server, std::ref(polls));
  rt.run_until_idle();
  EXPECT_GE(polls, 3);
}

}  // namespace
