#include <tartan/io/simulation.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <tartan/core/blocking.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task_group.h>
#include <tartan/core/when_all.h>
#include <tartan/io/directory_watch.h>
#include <tartan/io/signal_set.h>
#include <tartan/io/tcp.h>
#include <tartan/io/udp.h>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/runtime_state.h"
#include "core/sleep/poller.h"
#include "tests/seed.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

task<> echo(tcp::stream peer) {
  std::array<std::byte, 4096> room;
  while (const auto got = co_await peer.read_some(room)) {
    if (!co_await peer.write(std::span<const std::byte>{room}.first(*got))) co_return;
  }
}

task<> serve(tcp::listener& door, unsigned peers) {
  for (unsigned n = 0; n < peers; ++n) {
    auto peer = co_await door.accept();
    if (!peer) co_return;
    spawn_in(peer->color(), echo, std::move(*peer)).detach();
  }
}

/// What a client has seen: how much each read gave, and when.
struct glimpse {
  unsigned client = 0;
  std::size_t bytes = 0;
  std::chrono::nanoseconds at{};
  bool operator==(const glimpse&) const = default;
};
using story = std::vector<glimpse>;

/// A program that knows nothing of where it runs: each of some clients sends a text to an echo server and reads it back.
class echo_program {
 public:
  static constexpr unsigned clients = 5;
  static constexpr std::size_t size = 20'000;

  /// `clock`: for the story.
  void run(runtime& rt, const std::function<std::chrono::nanoseconds()>& clock) {
    auto door = tcp::listen(rt, "127.0.0.1:0");
    const address at = door.local_address().value();
    rt.spawn(serve, std::ref(door), clients);
    for (unsigned n = 0; n < clients; ++n) {
      stories_[n].clear();
      rt.spawn_in(color{100 + n}, [this, n, at, &clock]() -> task<> { co_await ask(n, at, clock); });
    }
    rt.run_until_idle();
  }
  [[nodiscard]] const story& of(unsigned client) const { return stories_[client]; }
  [[nodiscard]] story all() const {
    story told;
    for (const story& each : stories_) told.insert(told.end(), each.begin(), each.end());
    return told;
  }
  void expect_complete() const {
    for (const story& each : stories_) {
      std::size_t total = 0;
      for (const glimpse& one : each) total += one.bytes;
      EXPECT_EQ(total, size);
    }
  }

 private:
  task<> ask(unsigned n, address at, const std::function<std::chrono::nanoseconds()>& clock) {
    auto stream = co_await tcp::connect(at);
    if (!stream) co_return;
    std::string text(size, static_cast<char>('a' + n));
    stream->write(text, [](result<std::size_t> wrote) { EXPECT_EQ(*wrote, size); });
    std::string came(size, '\0');
    for (std::size_t done = 0; done < size;) {
      const auto got = co_await stream->read_some(std::as_writable_bytes(std::span{came}).subspan(done));
      if (!got) break;
      stories_[n].push_back({n, *got, clock()});
      done += *got;
    }
    EXPECT_EQ(came, text);
  }
  std::array<story, clients> stories_;
};

class a_simulation : public test::leaves_nothing, public testing::WithParamInterface<unsigned> {
 protected:
  /// With a seed of this test's, unless `with` has one.
  runtime& in_world(simulation_options with = {}) {
    rt_.reset();
    if (with.seed == 1) with.seed = seed_;
    world_.emplace(with);
    options settings;
    settings.workers = GetParam();
    settings.stall_after = {};
    settings.poller = world_->poller();
    return rt_.emplace(settings);
  }
  void TearDown() override {
    rt_.reset();
    if (world_) {
      EXPECT_EQ(world_->descriptors(), 0u);
    }
    world_.reset();
    leaves_nothing::TearDown();
  }
  [[nodiscard]] simulation& world() { return *world_; }
  [[nodiscard]] std::uint64_t a_seed() const { return seed_; }

  story told_with(std::uint64_t seed) {
    echo_program program;
    runtime& rt = in_world({.seed = seed, .least_latency = 1us, .most_latency = 1ms, .partial_percent = 50});
    program.run(rt, [&] { return world().elapsed(); });
    program.expect_complete();
    return program.all();
  }

  template <class F>
  void in_color(runtime& rt, F f) {
    rt.spawn_in(color{7}, f).detach();
    rt.run_until_idle();
  }

 private:
  const std::uint64_t seed_ = test::seed() | 2;  // not 1
  std::optional<simulation> world_;
  std::optional<runtime> rt_;
};
INSTANTIATE_TEST_SUITE_P(of, a_simulation, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_simulation, repeats_itself_with_the_same_seed_and_one_worker) {
  const story first = told_with(a_seed());
  const std::chrono::nanoseconds took = world().elapsed();
  const story second = told_with(a_seed());
  // With several workers, which of them runs first is chance: the bytes are the same, not the times.
  if (GetParam() != 1) return;
  EXPECT_TRUE(first == second);
  EXPECT_EQ(world().elapsed(), took);
}

// The first takes longest; of several at a time, the last would be the first to end.
TEST_P(a_simulation, runs_blocking_jobs_one_after_the_other_while_workers_sleep) {
  constexpr int jobs = 12;
  runtime& rt = in_world();
  std::atomic<int> under_way{0};
  std::vector<int> ended;
  in_color(rt, [&]() -> task<> {
    task_group all;
    for (int n = 0; n < jobs; ++n) {
      all.spawn([&, n]() -> task<> {
        co_await blocking([&] {
          EXPECT_EQ(under_way.fetch_add(1), 0);
          for (int turns = 0; turns < 20 * (jobs - n); ++turns) std::this_thread::yield();
          under_way.fetch_sub(1);
        });
        ended.push_back(n);
        EXPECT_EQ(under_way.load(), 0) << "the next one has to wait until this one sleeps";
      });
    }
    co_await all.join();
  });
  std::vector<int> in_order(jobs);
  std::iota(in_order.begin(), in_order.end(), 0);
  EXPECT_EQ(ended, in_order);
}

TEST_P(a_simulation, runs_jobs_that_wait_for_each_other_when_their_time_is_up) {
  runtime& rt = in_world({.longest_job = 1ms});
  std::atomic<bool> is_second_there{false};
  in_color(rt, [&]() -> task<> {
    const auto first = [&]() -> task<> { co_await blocking([&] { test::spin_until([&] { return is_second_there.load(); }); }); };
    const auto second = [&]() -> task<> { co_await blocking([&] { is_second_there = true; }); };
    co_await when_all(first(), second());
  });
  EXPECT_TRUE(is_second_there);
}

TEST_P(a_simulation, draws_from_its_seed) {
  const auto drawn = [&](std::uint64_t seed) {
    runtime& rt = in_world({.seed = seed});
    std::array<std::byte, 40> bytes{};
    EXPECT_TRUE(rt.state().clock().has_chance());
    rt.state().clock().draw(bytes);
    return bytes;
  };
  const auto first = drawn(a_seed());
  EXPECT_EQ(first, drawn(a_seed()));
  EXPECT_NE(first, drawn(a_seed() + 1));
}

TEST_P(a_simulation, is_another_one_with_another_seed) {
  const story first = told_with(a_seed());
  EXPECT_FALSE(first == told_with(a_seed() + 1));
}

TEST_P(a_simulation, runs_a_program_that_runs_on_the_kernel_too) {
  echo_program program;
  options on_the_kernel;
  on_the_kernel.workers = GetParam();
  {
    runtime rt{on_the_kernel};
    program.run(rt, [] { return 0ns; });
    program.expect_complete();
  }
  program.run(in_world(), [] { return 0ns; });
  program.expect_complete();
}

TEST_P(a_simulation, takes_its_time_without_waiting_for_it) {
  echo_program program;
  runtime& rt = in_world({.least_latency = 24h, .most_latency = 24h, .partial_percent = 0});
  program.run(rt, [&] { return world().elapsed(); });
  program.expect_complete();
  for (unsigned n = 0; n < echo_program::clients; ++n) EXPECT_EQ(program.of(n).front().at, 96h) << "there and back, twice";
}

TEST_P(a_simulation, lets_no_time_pass_while_a_worker_works) {
  runtime& rt = in_world();
  std::chrono::nanoseconds then{};
  in_color(rt, [&]() -> task<> {
    EXPECT_TRUE(co_await sleep(1h));
    then = world().elapsed();
    EXPECT_GE(then, 1h);
    std::uint64_t work = 1;
    for (int n = 0; n < 100'000; ++n) work = work * 3 + 1;
    EXPECT_NE(work, 0u);
    EXPECT_EQ(world().elapsed(), then);
  });
  EXPECT_EQ(world().elapsed(), then) << "nor at the end";
}

/// Two ends of a connection, both in the running color.
struct two_ends {
  tcp::stream near;
  tcp::stream far;
};
task<two_ends> connected(runtime& rt) {
  auto door = tcp::listen(rt, "127.0.0.1:0", {.color = color{7}});
  auto near = co_await tcp::connect(*door.local_address());
  auto far = co_await door.accept(color{7});
  co_return two_ends{std::move(*near), std::move(*far)};
}

TEST_P(a_simulation, moves_parts_as_often_as_it_is_told_to) {
  const auto reads_of = [&](unsigned percent) {
    std::size_t reads = 0;
    runtime& rt = in_world({.partial_percent = percent});
    in_color(rt, [&]() -> task<> {
      two_ends ends = co_await connected(rt);
      const std::string text(10'000, 'x');
      EXPECT_EQ(*co_await ends.near.write(text), text.size());
      EXPECT_TRUE(co_await sleep(1s));  // all of it is there
      std::string room(text.size(), '\0');
      for (std::size_t total = 0; total < text.size(); ++reads) {
        total += *co_await ends.far.read_some(std::as_writable_bytes(std::span{room}));
      }
    });
    return reads;
  };
  EXPECT_EQ(reads_of(0), 1u);
  EXPECT_GT(reads_of(100), 1u);
}

TEST_P(a_simulation, stops_a_writer_whose_buffer_is_full_until_somebody_reads) {
  runtime& rt = in_world({.stream_buffer = 1000, .partial_percent = 0});
  in_color(rt, [&]() -> task<> {
    two_ends ends = co_await connected(rt);
    const std::string text(2500, 'x');
    bool done = false;
    ends.near.write(text, [&](result<std::size_t> wrote) {
      EXPECT_EQ(*wrote, 2500u);
      done = true;
    });
    std::string room(5000, '\0');
    for (const std::size_t piece : {1000u, 1000u, 500u}) {
      EXPECT_TRUE(co_await sleep(1h));
      EXPECT_EQ(done, piece == 500u);
      EXPECT_EQ(*co_await ends.far.read_some(std::as_writable_bytes(std::span{room})), piece);
    }
  });
}

TEST_P(a_simulation, resets_exactly_the_connections_that_it_resets) {
  runtime& rt = in_world({.reset_percent = 3});
  int resets = 0;
  int whole = 0;
  in_color(rt, [&]() -> task<> {
    for (int n = 0; n < 100; ++n) {
      two_ends ends = co_await connected(rt);
      two_ends beside = co_await connected(rt);  // to which nothing is written
      const std::string text(500, 'x');
      std::string came;
      std::error_code wrote{};
      for (int times = 0; times < 10 && !wrote; ++times) wrote = (co_await ends.near.write(text)).error();
      if (!wrote) ends.near.close();
      const auto read = co_await ends.far.read_until(came, "never", 10'000);
      if (wrote) {
        EXPECT_EQ(wrote, std::errc::connection_reset);
        EXPECT_EQ(read.error(), std::errc::connection_reset) << "both ends see it";
        ++resets;
      } else {
        EXPECT_EQ(read.error(), errc::end_of_stream);
        EXPECT_EQ(came.size(), 5000u);
        ++whole;
      }
      std::array<std::byte, 8> room{};
      EXPECT_EQ((co_await with_timeout(1s, beside.near.read_some(room))).error(), errc::timed_out) << "it is none of its business";
    }
  });
  EXPECT_GT(resets, 0);
  EXPECT_GT(whole, 0);
}

TEST_P(a_simulation, loses_datagrams_as_often_as_it_is_told_to) {
  const auto arrived_of = [&](unsigned percent) {
    int arrived = 0;
    runtime& rt = in_world({.loss_percent = percent});
    in_color(rt, [&]() -> task<> {
      auto to = udp::bind(rt, "127.0.0.1:0", {.color = color{7}});
      auto from = udp::bind(rt, "127.0.0.1:0", {.color = color{7}});
      const std::array<std::byte, 1> one{};
      for (int n = 0; n < 100; ++n) EXPECT_TRUE(co_await from.send_to(one, *to.local_address()));
      std::array<std::byte, 8> room{};
      while (co_await with_timeout(1s, to.receive(room))) ++arrived;
    });
    return arrived;
  };
  EXPECT_EQ(arrived_of(0), 100);
  EXPECT_EQ(arrived_of(100), 0);
}

TEST_P(a_simulation, picks_ports_from_one_range_again_and_again) {
  runtime& rt = in_world();
  in_color(rt, [&]() -> task<> {
    int low = 0;
    for (int n = 0; n < 60'000; ++n) {
      const auto s = udp::bind(rt, "127.0.0.1:0", {.color = color{7}});
      low += s.local_address()->port() <= 32'768 ? 1 : 0;
    }
    EXPECT_EQ(low, 0);
    co_return;
  });
}

TEST_P(a_simulation, pauses_a_listener_that_finds_no_descriptor_and_lets_it_go_on) {
  runtime& rt = in_world({.most_descriptors = 8});
  in_color(rt, [&]() -> task<> {
    auto door = tcp::listen(rt, "127.0.0.1:0", {.color = color{7}});
    const address at = *door.local_address();
    std::deque<tcp::stream> coming;
    for (int n = 0; n < 7; ++n) {
      auto made = co_await tcp::connect(at);
      EXPECT_TRUE(made);
      coming.push_back(std::move(*made));
    }
    EXPECT_EQ((co_await tcp::connect(at)).error(), std::errc::too_many_files_open);
    EXPECT_EQ(world().descriptors(), 8u);
    EXPECT_EQ((co_await with_timeout(10s, door.accept(color{7}))).error(), errc::timed_out);
    bool accepted = false;
    door.accept(color{7}, [&](const result<tcp::stream>& got) { accepted = got.has_value(); });
    EXPECT_TRUE(co_await sleep(10s));
    EXPECT_FALSE(accepted);
    coming.pop_back();
    EXPECT_TRUE(co_await sleep(1ms));  // sooner than it would have tried again
    EXPECT_TRUE(accepted);
  });
}

TEST_P(a_simulation, ends_quietly_with_nothing_left) {
  echo_program program;
  runtime& rt = in_world();
  for (int round = 0; round < 20; ++round) {
    program.run(rt, [&] { return world().elapsed(); });
    program.expect_complete();
  }
  const std::chrono::nanoseconds ended = world().elapsed();
  rt.run_until_idle();
  EXPECT_EQ(world().elapsed(), ended) << "nothing was on its way";
}

TEST_P(a_simulation, has_no_signals_and_no_directories) {
  runtime& rt = in_world();
  try {
    const signal_set none{rt, {SIGUSR1}, color{7}};
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::not_supported);
  }
  in_color(rt, [&]() -> task<> {
    EXPECT_EQ(directory_watch::open(rt, "/", color{7}).error(), std::errc::not_supported);
    co_return;
  });
}

TEST_P(a_simulation, wakes_for_what_other_threads_post) {
  runtime& rt = in_world();
  std::atomic<int> ran{0};
  std::thread poster{[&] {
    for (int n = 1; n <= 100; ++n) {
      rt.post(color{8}, [&] { ran.fetch_add(1); });
      test::spin_until([&] { return ran.load() == n; });
    }
    rt.stop();
  }};
  EXPECT_EQ(rt.run(), 0);
  poster.join();
  EXPECT_EQ(ran.load(), 100);
}

}  // namespace
}  // namespace tartan
