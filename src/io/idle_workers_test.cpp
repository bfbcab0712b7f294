// Workers that sleep where readiness wakes them: runs that end by themselves, and a runtime that another event loop drives.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <span>
#include <system_error>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/io/tcp.h>
#include <thread>
#include <utility>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "tests/connected_socket.h"
#include "tests/hang_watch.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class idle_workers : public testing::TestWithParam<unsigned> {
 protected:
  [[nodiscard]] options with() const {
    options with;
    with.workers = GetParam();
    return with;
  }
};
INSTANTIATE_TEST_SUITE_P(io, idle_workers, testing::ValuesIn(test::worker_counts()), test::worker_name);
class several_idle_workers : public idle_workers {};
INSTANTIATE_TEST_SUITE_P(io, several_idle_workers, testing::ValuesIn(test::several_workers()), test::worker_name);

task<> echo(tcp::stream peer) {
  std::array<std::byte, 16> bytes;
  while (const auto got = co_await peer.read_some(bytes)) {
    if (!co_await peer.write(std::span<const std::byte>{bytes}.first(*got))) co_return;
  }
}

task<> serve(tcp::listener& door, int peers) {
  for (int n = 0; n < peers; ++n) {
    auto peer = co_await door.accept();
    if (!peer) co_return;
    spawn_in(peer->color(), echo, std::move(*peer));
  }
}

/// How far the one that asks has got.
struct progress {
  int answers = 0;
  const char* last = "nothing";
  std::error_code why{};  ///< it ended so
};

task<> ask_thrice(address at, progress& so_far) {
  so_far.last = "connect";
  auto stream = co_await tcp::connect(at);
  if (!stream) co_return static_cast<void>(so_far.why = stream.error());
  std::array<std::byte, 8> bytes{};
  for (int n = 0; n < 3; ++n) {
    so_far.last = "write";
    const auto wrote = co_await stream->write(std::span<const std::byte>{bytes});
    if (!wrote) co_return static_cast<void>(so_far.why = wrote.error());
    so_far.last = "read";
    const auto got = co_await stream->read_exactly(bytes);
    if (!got) co_return static_cast<void>(so_far.why = got.error());
    ++so_far.answers;
  }
}

/// If it fails, nobody else comes to that door.
task<> ask(tcp::listener& door, address at, progress& so_far) {
  co_await ask_thrice(at, so_far);
  if (!so_far.why) co_return;
  co_await on(door.color());
  door.close();
}

/// What there is to know of a run that does not end.
void tell(runtime& rt, tcp::listener& door, const progress& so_far) {
  detail::lifecycle& life = rt.state().life();
  pollfd waiting{door.native_handle(), POLLIN, 0};
  const bool somebody_waits = ::poll(&waiting, 1, 0) == 1;
  std::cerr << so_far.answers << " answers, last " << so_far.last << " (" << so_far.why.message()
            << "); somebody waits to be accepted: " << somebody_waits << "; operations " << rt.state().operations()
            << ", anything left " << rt.state().policy().any_left() << ", idle word " << std::hex
            << life.sleepers().view().word << std::dec << '\n';
  for (unsigned n = 0; n < life.size(); ++n) {
    const detail::worker& w = life.at(n);
    std::cerr << "worker " << n << ": token " << life.sleepers().token_of(n).load(std::memory_order_relaxed)
              << ", searching " << w.searching << ", beside " << w.beside << ", bed "
              << static_cast<int>(life.sleepers().bed_of(n)) << ", left behind " << w.left_behind << ", waiting "
              << rt.state().policy().waiting(n) << ", sleeps " << w.sleeps.get() << ", turns " << w.turns.get() << '\n';
  }
}

TEST_P(idle_workers, end_a_run_until_idle_when_the_last_operation_has_ended) {
  runtime rt{with()};
  auto door = tcp::listen(rt, "127.0.0.1:0");
  const address at = door.local_address().value();
  progress so_far;
  test::tell_if_it_hangs([&] { tell(rt, door, so_far); });
  const int rounds = 1000;
  for (int round = 1; round <= rounds; ++round) {
    spawn_in(rt, door.color(), serve, std::ref(door), 1);
    spawn_in(rt, color{1}, ask, std::ref(door), at, std::ref(so_far));
    rt.run_until_idle();
    ASSERT_EQ(so_far.answers, 3 * round) << so_far.last << ": " << so_far.why.message();
  }
}

/// A client of the test's own thread.
class plain_client {
 public:
  explicit plain_client(const address& at) : socket_{test::connected_to(at)} {}
  plain_client(const plain_client&) = delete;
  plain_client& operator=(const plain_client&) = delete;
  ~plain_client() { ::close(socket_); }
  void send() const { EXPECT_EQ(::send(socket_, "x", 1, MSG_NOSIGNAL), 1); }
  [[nodiscard]] bool receive() const {
    char byte = 0;
    const ssize_t got = ::recv(socket_, &byte, 1, MSG_DONTWAIT);
    EXPECT_TRUE(got == 1 || errno == EAGAIN);
    return got == 1;
  }

 private:
  int socket_;
};

bool readable(int descriptor, int wait_ms) {
  pollfd entry{descriptor, POLLIN, 0};
  return ::poll(&entry, 1, wait_ms) == 1;
}

// Also when a worker that sleeps while nobody runs has taken the edge: it must not keep it for itself.
TEST_P(idle_workers, show_another_loop_what_becomes_ready_while_nobody_runs) {
  runtime rt{with()};
  auto door = tcp::listen(rt, "127.0.0.1:0");
  rt.spawn(serve, std::ref(door), 1);
  const int descriptor = rt.descriptor();
  rt.run_for(0ns);
  const plain_client client{door.local_address().value()};
  for (int round = 0; round < 300; ++round) {
    client.send();
    do {
      ASSERT_TRUE(readable(descriptor, -1));
      rt.run_for(0ns);
    } while (!client.receive());
  }
  while (readable(descriptor, 0)) rt.run_for(0ns);  // and it ends
}

TEST_P(idle_workers, show_another_loop_what_becomes_ready_also_if_it_asked_before_anything_was_opened) {
  runtime rt{with()};
  const int descriptor = rt.descriptor();
  rt.run_for(0ns);
  auto door = tcp::listen(rt, "127.0.0.1:0");
  rt.spawn(serve, std::ref(door), 1);
  while (readable(descriptor, 0)) rt.run_for(0ns);
  const plain_client client{door.local_address().value()};
  client.send();
  do {
    ASSERT_TRUE(readable(descriptor, -1));
    rt.run_for(0ns);
  } while (!client.receive());
}

// What is ready comes to an idle worker, whatever the one does that opened everything.
TEST_P(several_idle_workers, hear_of_descriptors_that_were_opened_while_they_slept) {
  runtime rt{with()};
  std::atomic<bool> answered{false};
  rt.post(color{1}, [&] {
    auto door = tcp::listen(rt, "127.0.0.1:0");
    const address at = door.local_address().value();
    spawn_in(
        color{2},
        [](tcp::listener own) -> task<> {
          co_await on(own.color());
          co_await serve(own, 1);
        },
        std::move(door));
    const plain_client client{at};
    client.send();
    test::spin_until([&] { return client.receive(); });  // the others have to do it
    answered.store(true);
    rt.stop();
  });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_TRUE(answered.load());
}

// come-yourself: posts that only worker 0 can run, and others that any can, from outside, while all sleep in one place.
TEST_P(idle_workers, come_themselves_where_no_other_will_do) {
  options pinned = with();
  pinned.pin_default_color = true;
  runtime rt{pinned};
  auto door = tcp::listen(rt, "127.0.0.1:0");
  const unsigned posts = test::rounds(300);
  std::atomic<unsigned> pinned_ran{0};
  std::atomic<unsigned> others_ran{0};
  std::thread poster{[&] {
    for (unsigned n = 1; n <= posts; ++n) {
      rt.post(color{n}, [&] { others_ran.fetch_add(1); });
      rt.post([&] { pinned_ran.fetch_add(1); });
      test::spin_until([&] { return pinned_ran.load() == n && others_ran.load() == n; });
    }
    rt.stop();
  }};
  EXPECT_EQ(rt.run(), 0);
  poster.join();
  EXPECT_EQ(pinned_ran.load(), posts);
}

// A stop calls worker 0 out of the common sleep, and the end of the runtime calls all.
TEST_P(idle_workers, are_called_by_a_stop_and_by_the_end) {
  for (unsigned round = 0; round < test::rounds(50); ++round) {
    runtime rt{with()};
    auto door = tcp::listen(rt, "127.0.0.1:0");
    std::thread stopper{[&] { rt.stop(); }};
    EXPECT_EQ(rt.run(), 0);
    stopper.join();
  }
}

}  // namespace
}  // namespace tartan
