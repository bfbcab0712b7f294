#pragma once
/// For tests of two workers, one of which stands by.

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
#include "core/sleep/futex_poller.h"
#include "core/lifecycle.h"
#include "core/lifecycle_probe.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "tests/connected_socket.h"
#include "tests/short_turns.h"
#include "tests/workers.h"

namespace tartan {

namespace test {

/// The real one; tells who stands by, and, if the test sets the time, when the alarm is set for. The test may hold it back.
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
    const detail::slept how = real_.sleep(worker, token, limit);
    if (after_sleep) after_sleep();
    alarms += how == detail::slept::alarm ? 1 : 0;
    return how;
  }
  void wake(unsigned worker, detail::wake_token& token) noexcept override {
    ++calls;
    real_.wake(worker, token);
  }
  void call_again() noexcept override { real_.call_again(); }
  void deliver(unsigned worker) noexcept override { real_.deliver(worker); }
  bool set_aside(unsigned worker) noexcept override { return real_.set_aside(worker); }
  bool has_aside() const noexcept override { return real_.has_aside(); }
  bool harvest(unsigned worker) noexcept override {
    ++harvests;
    return real_.harvest(worker) || finds_much;
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
  std::atomic<unsigned> calls{0};
  std::atomic<std::uint64_t> alarm_ns{0};
  std::uint64_t still_at_ns = 0;
  std::atomic<bool> is_held{false};  // the alarm
  std::atomic<unsigned> harvests{0};
  bool finds_much = false;
  std::function<void()> before_sleep;
  std::function<void()> after_sleep;

 private:
  detail::futex_poller real_;
};

inline options two_workers(noted_poller& time) {
  options with;
  with.workers = 2;
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

}  // namespace test

}  // namespace tartan
