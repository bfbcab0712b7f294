// Two workers, one of which stands by: what becomes ready reaches it all the same when the other one does not look; docs/design/idle-set.md, part 9.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/io/tcp.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/futex_poller.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "tests/short_turns.h"
#include "tests/workers.h"

namespace tartan {

namespace detail {

struct lifecycle_probe {
  static void stand_by(lifecycle& life, unsigned index) { life.stand_by(life.at(index)); }
  static void end_watch(lifecycle& life, unsigned index) { life.end_watch(life.at(index)); }
  static bool may_stand_by(lifecycle& life, unsigned index) { return life.may_stand_by(life.at(index)); }
  static bool is_attended(lifecycle& life, unsigned index) { return life.is_attended(life.at(index)); }
  static void attend(lifecycle& life, unsigned index, bool has_slept) { life.attend(life.at(index), has_slept); }
  static void look_sooner(lifecycle& life, worker& w) { life.look_sooner(w); }
  static void ask_for_help(lifecycle& life, unsigned index) { life.ask_for_help(life.at(index)); }
};

}  // namespace detail

namespace {

using detail::lifecycle_probe;

/// The real one; tells who stands by, and, if the test sets the time, when the alarm is set for.
class noted_poller final : public detail::poller {
 public:
  void attach(unsigned workers) override { real_.attach(workers); }
  std::uint64_t now_ns() noexcept override { return still_at_ns != 0 ? still_at_ns : real_.now_ns(); }
  void approach(unsigned worker, bool beside) noexcept override {
    if (standing.load() == worker) standing = nobody;
    real_.approach(worker, beside);
  }
  bool has_standby() const noexcept override { return real_.has_standby(); }
  void stand_by(unsigned worker) noexcept override {
    standing = worker;
    stood.fetch_add(1);
    real_.stand_by(worker);
  }
  void set_alarm(std::uint64_t at_ns) noexcept override {
    alarm_ns = at_ns;
    if (still_at_ns == 0) real_.set_alarm(at_ns);
  }
  bool is_seated(unsigned worker) const noexcept override { return real_.is_seated(worker); }
  detail::slept sleep(unsigned worker, detail::wake_token& token, detail::sleep_limit limit) noexcept override {
    const detail::slept how = real_.sleep(worker, token, limit);
    alarms += how == detail::slept::alarm ? 1 : 0;
    return how;
  }
  void wake(unsigned worker, detail::wake_token& token) noexcept override { real_.wake(worker, token); }
  void call_again() noexcept override { real_.call_again(); }
  void deliver(unsigned worker) noexcept override { real_.deliver(worker); }
  bool set_aside(unsigned worker) noexcept override { return real_.set_aside(worker); }
  bool has_aside() const noexcept override { return real_.has_aside(); }
  bool harvest(unsigned worker) noexcept override {
    ++harvests;
    return real_.harvest(worker);
  }
  bool may_have_left(unsigned worker) const noexcept override { return finds_much || real_.may_have_left(worker); }
  bool took_call(unsigned worker) noexcept override { return real_.took_call(worker); }
  bool finds_in_sleep() const noexcept override { return real_.finds_in_sleep(); }
  int descriptor() const noexcept override { return real_.descriptor(); }
  bool takes_source() const noexcept override { return true; }
  void take_source(detail::readiness_source& source) noexcept override { real_.take_source(source); }
  void make_standby() noexcept override { real_.make_standby(); }

  static constexpr unsigned nobody = ~0u;
  std::atomic<unsigned> standing{nobody};  // by choice; it may have got up since
  std::atomic<unsigned> stood{0};
  std::atomic<unsigned> alarms{0};
  std::atomic<std::uint64_t> alarm_ns{0};
  std::uint64_t still_at_ns = 0;
  std::atomic<unsigned> harvests{0};
  bool finds_much = false;

 private:
  detail::futex_poller real_;
};

options two_workers(noted_poller& time) {
  options with;
  with.workers = 2;
  with.scheduler = "default";
  with.poller = &time;
  return with;
}

/// Clients of the test's own thread.
class plain_client {
 public:
  explicit plain_client(const address& at) : socket_{::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    EXPECT_EQ(::connect(socket_, at.data(), at.size()), 0);
  }
  plain_client(plain_client&& other) noexcept : socket_{std::exchange(other.socket_, -1)} {}
  plain_client& operator=(plain_client&&) = delete;
  ~plain_client() {
    if (socket_ >= 0) ::close(socket_);
  }
  void send() const { EXPECT_EQ(::send(socket_, "x", 1, MSG_NOSIGNAL), 1); }

 private:
  int socket_;
};

/// Reads byte after byte, and calls `each` for it.
task<> hear(tcp::stream peer, const std::function<void()>& each) {
  std::array<std::byte, 1> byte;
  while (co_await peer.read_some(byte)) each();
}

task<> accept_all(tcp::listener& door, int peers, const std::function<void()>& each) {
  for (int n = 0; n < peers; ++n) {
    auto peer = co_await door.accept();
    if (!peer) co_return;
    spawn_in(peer->color(), hear, std::move(*peer), std::ref(each)).detach();
  }
}

/// One run, on the default scheduler, with what becomes ready from the test's own sockets.
class standing_by : public testing::Test {
 protected:
  /// Clients that are connected, and will be accepted; `each` is run for each byte that comes, in its connection's color.
  void connect(int clients) {
    rt.spawn(accept_all, std::ref(door), clients, std::ref(each)).detach();
    for (int n = 0; n < clients; ++n) clients_.emplace_back(door.local_address().value());
  }
  [[nodiscard]] detail::lifecycle& life() { return rt.state().life(); }
  [[nodiscard]] unsigned other() { return 1 - rt.state().this_worker(); }

  /// From an event: the other worker stands by, having run something for which it came.
  void send_other_to_stand_by() {
    const auto stands = [this] { return time.standing.load() == other() && life().sleepers().is_asleep(other()); };
    while (!stands()) {
      std::atomic<bool> ran{false};
      post(color::unordered, [&] { ran = true; });
      test::spin_until([&] { return ran.load(); });
      for (int n = 0; n < 1000 && !stands(); ++n) std::this_thread::yield();
    }
  }

  noted_poller time;
  runtime rt{two_workers(time)};
  tcp::listener door = tcp::listen(rt, "127.0.0.1:0");
  std::function<void()> each;
  std::vector<plain_client> clients_;
};

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

// Worker 1, which keeps its place through the pause. Worker 0 does not leave a run while it waits.
TEST_F(standing_by, a_worker_is_called_by_the_next_run) {
  std::atomic<int> heard{0};
  each = [&] { heard.fetch_add(1); };
  connect(1);
  std::atomic<bool> done{false};
  std::function<void()> what;
  strand own{rt};
  const auto on_worker_0 = [&] {
    if (rt.state().this_worker() != 0) return;  // it was stolen
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
    run_on_worker_0([&] { send_other_to_stand_by(); });
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

/// Before the first run: both workers count as awake, and only the test uses them.
class two_at_rest : public standing_by {
 protected:
  void SetUp() override {
    time.still_at_ns = 1'000'000'000;
    life().sleepers().resume();
  }
  void TearDown() override { life().sleepers().pause(); }
  void sleeps(unsigned index) {
    life().sleepers().search();
    life().sleepers().rest(index);
  }
  void wakes(unsigned index) {
    (void)life().sleepers().cancel(index);
    (void)life().sleepers().end_search();
  }
  static constexpr std::uint64_t far_ns = detail::guard_word<detail::real_memory>::far_ns;
};

TEST_F(two_at_rest, one_may_stand_by_while_the_other_one_is_awake) {
  EXPECT_TRUE(lifecycle_probe::may_stand_by(life(), 0));
  EXPECT_TRUE(lifecycle_probe::may_stand_by(life(), 1));
  sleeps(0);
  EXPECT_FALSE(lifecycle_probe::may_stand_by(life(), 1));
  wakes(0);
  life().sleepers().pause();
  EXPECT_FALSE(lifecycle_probe::may_stand_by(life(), 1));
  life().sleepers().resume();
}

TEST_F(two_at_rest, one_stands_by_until_the_other_one_has_not_looked_for_long) {
  lifecycle_probe::stand_by(life(), 1);
  EXPECT_EQ(time.standing.load(), 1u);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns) << "its own alarm";
  sleeps(1);
  time.still_at_ns += far_ns / 2;
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), 1'000'000'000 + far_ns) << "there is time enough";
  const std::uint64_t last_look_ns = time.still_at_ns;
  time.still_at_ns += far_ns / 4;
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), last_look_ns + far_ns) << "what has come since may still wait";
  EXPECT_TRUE(lifecycle_probe::is_attended(life(), 1)) << "an earlier one has gone off";
  time.still_at_ns += far_ns;
  EXPECT_FALSE(lifecycle_probe::is_attended(life(), 1));
  lifecycle_probe::end_watch(life(), 1);
  wakes(1);
  EXPECT_FALSE(lifecycle_probe::may_stand_by(life(), 1)) << "it has found nothing that it could have come for";
  life().at(1).events.add();
  EXPECT_TRUE(lifecycle_probe::may_stand_by(life(), 1));
  time.alarm_ns = 0;
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), 0u) << "nobody stands by";
}

TEST_F(two_at_rest, one_goes_on_standing_by_while_the_other_one_sleeps_and_that_sets_the_alarm_when_it_wakes) {
  lifecycle_probe::stand_by(life(), 1);
  sleeps(1);
  sleeps(0);
  time.still_at_ns += 2 * far_ns;
  EXPECT_TRUE(lifecycle_probe::is_attended(life(), 1));
  wakes(0);
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns);
  lifecycle_probe::end_watch(life(), 1);
  wakes(1);
}

TEST_F(two_at_rest, the_alarm_is_not_set_ahead_while_something_waits_at_who_stands_by) {
  strand own{rt};
  rt.state().policy().place(detail::strand_access::state(own), 1);
  lifecycle_probe::stand_by(life(), 1);
  own.post([] {});
  time.still_at_ns += far_ns - 1;
  lifecycle_probe::attend(life(), 0, false);
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), 1'000'000'000 + far_ns);
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns) << "whoever wakes sets it all the same";
  lifecycle_probe::end_watch(life(), 1);
}

TEST_F(two_at_rest, the_alarm_is_not_set_ahead_while_colors_of_a_higher_level_go_first) {
  lifecycle_probe::stand_by(life(), 1);
  lifecycle_probe::attend(life(), 0, true);
  time.still_at_ns += far_ns - 1;
  life().at(0).passes_over = true;
  lifecycle_probe::attend(life(), 0, false);
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), 1'000'000'000 + far_ns);
  life().at(0).passes_over = false;
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns);
  lifecycle_probe::end_watch(life(), 1);
}

// A sleep would find it at once, and then nothing would be known to have waited.
TEST_F(two_at_rest, one_looks_before_it_rests_if_the_last_look_was_full) {
  const auto looks = [this] {
    const unsigned before = time.harvests.load();
    static_cast<void>(life().look_before_rest(life().at(0)));
    return time.harvests.load() - before;
  };
  EXPECT_EQ(looks(), 0u);
  time.finds_much = true;
  EXPECT_EQ(looks(), 1u);
}

TEST(one_at_rest, looks_sooner_after_a_full_look_if_it_is_the_only_one) {
  const auto left = [](unsigned workers, bool much) {
    noted_poller time;
    options with = two_workers(time);
    with.workers = workers;
    runtime rt{with};
    time.finds_much = much;
    detail::worker& w = rt.state().life().at(0);
    w.credits = 64;
    lifecycle_probe::look_sooner(rt.state().life(), w);
    return w.credits;
  };
  EXPECT_EQ(left(1, true), 32);
  EXPECT_EQ(left(1, false), 64);
  EXPECT_EQ(left(2, true), 64);
}

TEST_F(two_at_rest, a_long_line_calls_who_stands_by_and_makes_both_wait_for_readiness_if_its_turns_are_long) {
  std::vector<strand> line;
  for (int n = 0; n < 100; ++n) {
    line.emplace_back(rt);
    rt.state().policy().place(detail::strand_access::state(line.back()), 0);
    line.back().post([] {});
  }
  detail::pace& turns = life().at(0).turn_pace;
  turns.begin(1'000, 0);
  turns.note(3'900, 1);  // a line of 290 us
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "nobody stands by";
  lifecycle_probe::stand_by(life(), 1);
  sleeps(1);
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "it is not long";
  turns.note(3'900 + 2'900 + 16'000, 2);
  life().sleepers().pause();
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "nobody is woken between runs";
  life().sleepers().resume();
  life().sleepers().search();
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "somebody searches, and comes by itself";
  (void)life().sleepers().end_search();
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_TRUE(life().wants_help(0));
  EXPECT_TRUE(life().sleepers().is_claimed(1));
  lifecycle_probe::end_watch(life(), 1);
  wakes(1);
  EXPECT_TRUE(lifecycle_probe::may_stand_by(life(), 1)) << "its turns are short";
  turns.note(10'000'000, 3);
  lifecycle_probe::stand_by(life(), 1);
  lifecycle_probe::ask_for_help(life(), 0);
  lifecycle_probe::end_watch(life(), 1);
  EXPECT_FALSE(lifecycle_probe::may_stand_by(life(), 1)) << "its turns are long";
  time.still_at_ns += 30'000'000;
  EXPECT_TRUE(lifecycle_probe::may_stand_by(life(), 1));
  life().help_has_come();
  EXPECT_FALSE(life().wants_help(0));
}

TEST(standing_by_of_others, is_for_two_workers_of_the_default_scheduler_with_descriptors) {
  const auto may = [](unsigned workers, const char* scheduler, bool listens) {
    noted_poller time;
    options with = two_workers(time);
    with.workers = workers;
    with.scheduler = scheduler;
    runtime rt{with};
    std::optional<tcp::listener> door;
    if (listens) door.emplace(tcp::listen(rt, "127.0.0.1:0"));
    rt.state().life().sleepers().resume();
    const bool could = lifecycle_probe::may_stand_by(rt.state().life(), 1);
    rt.state().life().sleepers().pause();
    return could;
  };
  EXPECT_TRUE(may(2, "default", true));
  EXPECT_FALSE(may(2, "default", false));
  EXPECT_FALSE(may(3, "default", true));
  EXPECT_FALSE(may(2, "color_queues", true));
}

}  // namespace
}  // namespace tartan
