#pragma once
/// For tests of several workers, of which one waits for readiness and one is the guard.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/io/tcp.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/lifecycle.h"
#include "core/lifecycle_probe.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/sleep/futex_poller.h"
#include "tests/connected_socket.h"
#include "tests/short_turns.h"
#include "tests/workers.h"

namespace tartan {

namespace test {

/// The real one. Notes in which bed each worker sleeps and what ends its sleep; and, if the test sets the time, when the alarm is set for. The test
/// may hold the alarm back.
class noted_poller final : public detail::poller {
 public:
  static constexpr unsigned most_workers = 64;

  void attach(unsigned workers) override { real_.attach(workers); }
  std::uint64_t now_ns() noexcept override {
    const std::uint64_t still = still_at_ns.load();
    return still != 0 ? still : real_.now_ns();
  }
  void approach(unsigned worker, detail::bed where) noexcept override {
    beds[worker] = where;
    if (where == detail::bed::guard) guards.fetch_add(1);
    real_.approach(worker, where);
  }
  void set_alarm(std::uint64_t at_ns) noexcept override {
    alarm_ns = at_ns;
    if (still_at_ns == 0 && !is_held) real_.set_alarm(at_ns);
  }
  void hold_alarm() noexcept {
    is_held = true;
    real_.set_alarm(real_.now_ns() + 100'000'000'000);
  }
  void release_alarm() noexcept {
    is_held = false;
    real_.set_alarm(alarm_ns.load());
  }
  bool is_seated(unsigned worker) const noexcept override { return real_.is_seated(worker); }
  detail::slept sleep(unsigned worker, detail::wake_token& token, detail::sleep_limit limit) noexcept override {
    if (before_sleep) before_sleep();
    const detail::bed where = beds[worker];
    if (where != detail::bed::token && sleepers_in[static_cast<std::size_t>(where)].fetch_add(1) != 0) crowded = true;
    const detail::slept how = real_.sleep(worker, token, limit);
    if (where != detail::bed::token) sleepers_in[static_cast<std::size_t>(where)].fetch_sub(1);
    if (after_sleep) after_sleep();
    if (how == detail::slept::alarm) ++alarms;
    if (how == detail::slept::ready) ++edges;
    return how;
  }
  void wake(unsigned worker, detail::wake_token& token) noexcept override {
    ++calls;
    real_.wake(worker, token);
  }
  void deliver(unsigned worker) noexcept override { real_.deliver(worker); }
  bool set_aside(unsigned worker) noexcept override { return real_.set_aside(worker); }
  bool has_aside() const noexcept override { return is_aside || real_.has_aside(); }
  bool harvest(unsigned worker) noexcept override {
    ++harvests;
    return real_.harvest(worker) || finds_much;
  }
  bool may_have_left(unsigned worker) const noexcept override { return finds_much || real_.may_have_left(worker); }
  bool saw_call(unsigned worker) const noexcept override { return real_.saw_call(worker); }
  void forget_call() noexcept override { real_.forget_call(); }
  bool finds_in_sleep() const noexcept override { return real_.finds_in_sleep(); }
  int descriptor() const noexcept override { return real_.descriptor(); }
  bool has_source() const noexcept override { return real_.has_source(); }
  bool takes_source() const noexcept override { return true; }
  void take_source(detail::readiness_source& source) noexcept override { real_.take_source(source); }
  void make_guard_bed() override { real_.make_guard_bed(); }

  std::array<std::atomic<detail::bed>, most_workers> beds{};  // as chosen last; the worker may have got up since
  std::array<std::atomic<unsigned>, 3> sleepers_in{};
  std::atomic<bool> crowded{false};  // two were in one bed
  std::atomic<unsigned> guards{0};  // chosen so often
  std::atomic<unsigned> alarms{0};
  std::atomic<unsigned> edges{0};  // that have ended a sleep
  std::atomic<unsigned> calls{0};
  std::atomic<std::uint64_t> alarm_ns{0};
  std::atomic<std::uint64_t> still_at_ns{0};
  std::atomic<bool> is_held{false};  // the alarm
  std::atomic<unsigned> harvests{0};
  bool finds_much = false;
  bool is_aside = false;  // as if a poller that has left had taken readiness
  std::function<void()> before_sleep;
  std::function<void()> after_sleep;

 private:
  detail::futex_poller real_;
};

inline options workers_at(noted_poller& time, unsigned workers) {
  options with;
  with.workers = workers;
  with.scheduler = "default";
  with.poller = &time;
  return with;
}

/// Clients of the test's own thread.
class plain_client {
 public:
  explicit plain_client(const address& at) : socket_{connected_to(at)} {}
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
inline task<> hear(tcp::stream peer, const std::function<void()>& each) {
  std::array<std::byte, 1> byte;
  while (co_await peer.read_some(byte)) each();
}

inline task<> accept_all(tcp::listener& door, int peers, const std::function<void()>& each) {
  for (int n = 0; n < peers; ++n) {
    auto peer = co_await door.accept();
    if (!peer) co_return;
    spawn_in(peer->color(), hear, std::move(*peer), std::ref(each)).detach();
  }
}

/// One run, on the default scheduler, with what becomes ready from the test's own sockets.
class guarded : public testing::TestWithParam<unsigned> {
 protected:
  /// Clients that are connected, and will be accepted; `each` is run for each byte that comes, in its connection's color.
  void connect(int clients) {
    rt.spawn(accept_all, std::ref(door), clients, std::ref(each)).detach();
    for (int n = 0; n < clients; ++n) clients_.emplace_back(door.local_address().value());
  }
  [[nodiscard]] detail::lifecycle& life() { return rt.state().life(); }
  /// Whether so many workers are awake, and of those that sleep one is the guard and none polls.
  [[nodiscard]] bool is_guarded(unsigned awake) {
    const detail::idle_view seen = life().sleepers().view();
    return seen.awake() == awake && seen.sleeping() + awake == rt.workers() && seen.searching() == 0 && seen.watching() && !seen.polling();
  }
  /// From an event: all workers rest but this one, and `in_events` that are in long events; one of them as guard, having run something for which
  /// they came.
  void send_others_to_rest(unsigned in_events = 0) {
    while (!is_guarded(in_events + 1)) {
      give_work_to_one();
      for (int n = 0; n < 1000 && !is_guarded(in_events + 1); ++n) std::this_thread::yield();
    }
  }
  void give_work_to_one() {
    if (rouse_poller()) return;
    std::atomic<bool> ran{false};
    post(color::unordered, [&] { ran = true; });
    test::spin_until([&] { return ran.load(); });
  }
  /// One that polls because it was missed as guard goes on until it has run something. Gives whether there was one.
  bool rouse_poller() {
    for (unsigned n = 0; n < rt.workers(); ++n) {
      if (!life().sleepers().is_asleep(n) || life().sleepers().bed_of(n) != detail::bed::source) continue;
      rt.state().policy().place(detail::strand_access::state(poller_), n);
      std::thread{[&] { poller_.post([] {}); }}.join();  // from outside, or it might be left to this worker
      return true;
    }
    return false;
  }
  /// Until all sleep, and one of them where readiness wakes it. Threads: one that is no worker.
  void await_all_at_rest() {
    test::spin_until([&] {
      const detail::idle_view seen = life().sleepers().view();
      return seen.sleeping() == rt.workers() && seen.searching() == 0 && seen.polling();
    });
  }

  noted_poller time;
  runtime rt{workers_at(time, GetParam())};
  tcp::listener door = tcp::listen(rt, "127.0.0.1:0");
  std::function<void()> each;
  std::vector<plain_client> clients_;

 private:
  strand poller_{rt};
};

}  // namespace test

}  // namespace tartan
