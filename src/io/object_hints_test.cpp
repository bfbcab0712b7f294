// Hints of objects: the order in which colors are served whose descriptors were ready at the same time, and what a scheduler sees.

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <tartan/core/hints.h>
#include <tartan/core/post.h>
#include <tartan/io/directory_watch.h>
#include <tartan/io/file.h>
#include <tartan/io/local.h>
#include <tartan/io/pipe.h>
#include <tartan/io/process.h>
#include <tartan/io/signal_set.h>
#include <tartan/io/tcp.h>
#include <tartan/io/udp.h>
#include <tartan/time/sleep.h>
#include <utility>
#include <vector>

#include "core/sched/annotation.h"
#include "core/sched/serial_policy_fixture.h"
#include "io/machine_fixture.h"
#include "tests/connected_socket.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

/// An object of any kind, in a color.
class subject {
 public:
  subject() = default;
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;
  virtual ~subject() = default;
  virtual void hint(const hints& h) = 0;
  /// Begins an operation that has to wait. In its color.
  virtual void wait(std::function<void()> then) = 0;
  /// Now the operation can be done, by a system call outside of the runtime.
  virtual void feed() = 0;
};
using maker = std::unique_ptr<subject> (*)(runtime&, color);

template <class Object>
class subject_with : public subject {
 public:
  explicit subject_with(Object object) : object_{std::move(object)} {}
  void hint(const hints& h) override { object_.hint(h); }

 protected:
  Object object_;
  std::array<std::byte, 8> room_{};
};

/// A stream of bytes, fed through the descriptor of its other end.
template <class Stream>
struct reader : subject_with<Stream> {
  reader(Stream near, int far) : subject_with<Stream>{std::move(near)}, far_{far} {}
  ~reader() override { ::close(far_); }
  void wait(std::function<void()> then) override {
    this->object_.read_some(this->room_, [then = std::move(then)](const result<std::size_t>&) { then(); });
  }
  void feed() override { EXPECT_EQ(::write(far_, "x", 1), 1); }

 private:
  int far_;
};
std::unique_ptr<subject> make_tcp_reader(runtime& rt, color c) {
  auto both = local::pair(rt, c, c);
  return std::make_unique<reader<tcp::stream>>(*tcp::stream::from_fd(rt, both->first.release(), c), both->second.release());
}
std::unique_ptr<subject> make_local_reader(runtime& rt, color c) {
  auto both = local::pair(rt, c, c);
  return std::make_unique<reader<local::stream>>(std::move(both->first), both->second.release());
}
std::unique_ptr<subject> make_pipe_reader(runtime& rt, color c) {
  auto both = pipe::open(rt, c, c);
  return std::make_unique<reader<pipe::read_end>>(std::move(both->read), both->write.release());
}

struct tcp_acceptor : subject_with<tcp::listener> {
  using subject_with::subject_with;
  ~tcp_acceptor() override { ::close(guest_); }
  void wait(std::function<void()> then) override {
    object_.accept([then = std::move(then)](const result<tcp::stream>&) { then(); });
  }
  void feed() override {
    guest_ = test::connected_to(*object_.local_address());
  }
  static std::unique_ptr<subject> make(runtime& rt, color c) {
    return std::make_unique<tcp_acceptor>(tcp::listen(rt, "127.0.0.1:0", {.color = c}));
  }

 private:
  int guest_ = -1;
};

struct udp_receiver : subject_with<udp::socket> {
  using subject_with::subject_with;
  void wait(std::function<void()> then) override {
    object_.receive(room_, [then = std::move(then)](const result<udp::received>&) { then(); });
  }
  void feed() override {
    EXPECT_TRUE(object_.connect(*object_.local_address()));
    EXPECT_EQ(::send(object_.native_handle(), "x", 1, 0), 1);
  }
  static std::unique_ptr<subject> make(runtime& rt, color c) {
    return std::make_unique<udp_receiver>(udp::bind(rt, "127.0.0.1:0", {.color = c}));
  }
};

/// Of a pipe that is full.
struct pipe_writer : subject_with<pipe::write_end> {
  pipe_writer(pipe::write_end near, int far) : subject_with{std::move(near)}, far_{far} {
    while (::write(object_.native_handle(), all_.data(), all_.size()) > 0) {
    }
  }
  ~pipe_writer() override { ::close(far_); }
  void wait(std::function<void()> then) override {
    object_.write(std::as_bytes(std::span{all_}), [then = std::move(then)](const result<std::size_t>&) { then(); });
  }
  void feed() override {
    std::vector<char> drained(std::size_t{1} << 20);
    EXPECT_GT(::read(far_, drained.data(), drained.size()), 0);
  }
  static std::unique_ptr<subject> make(runtime& rt, color c) {
    auto both = pipe::open(rt, c, c);
    return std::make_unique<pipe_writer>(std::move(both->write), both->read.release());
  }

 private:
  int far_;
  std::string all_ = std::string(4096, 'x');
};

/// Of a program that runs until its input ends.
struct child : subject_with<process> {
  using subject_with::subject_with;
  void wait(std::function<void()> then) override {
    object_.wait([then = std::move(then)](const result<process_end>&) { then(); });
  }
  void feed() override {
    EXPECT_TRUE(object_.kill(SIGKILL));
    siginfo_t ended{};  // it stays to be waited for
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(object_.id()), &ended, WEXITED | WNOWAIT), 0);
  }
  static std::unique_ptr<subject> make(runtime& rt, color c) {
    return std::make_unique<child>(*process::spawn(rt, {.arguments = {"cat"}, .input = child_stream::pipe}, c));
  }
};

struct watched_folder : subject_with<directory_watch> {
  watched_folder(std::unique_ptr<test::temporary_folder> folder, directory_watch watch)
      : subject_with{std::move(watch)}, folder_{std::move(folder)} {}
  void wait(std::function<void()> then) override {
    object_.next([then = std::move(then)](const result<directory_change>&) { then(); });
  }
  void feed() override { std::ofstream{*folder_ / "new"} << "text"; }
  static std::unique_ptr<subject> make(runtime& rt, color c) {
    auto folder = std::make_unique<test::temporary_folder>();
    auto watch = directory_watch::open(rt, folder->path(), c);
    return std::make_unique<watched_folder>(std::move(folder), std::move(*watch));
  }

 private:
  std::unique_ptr<test::temporary_folder> folder_;
};

/// Each of a signal of its own.
struct signal_taker : subject_with<signal_set> {
  signal_taker(signal_set set, int number) : subject_with{std::move(set)}, number_{number} {}
  void wait(std::function<void()> then) override {
    object_.next([then = std::move(then)](const result<int>&) { then(); });
  }
  void feed() override { EXPECT_EQ(::kill(::getpid(), number_), 0); }
  static std::unique_ptr<subject> make(runtime& rt, color c) {
    const int number = SIGRTMIN + static_cast<int>(c.value());
    return std::make_unique<signal_taker>(signal_set{rt, {number}, c}, number);
  }

 private:
  int number_;
};

struct kind_of_object {
  const char* name;
  maker make;
};
std::ostream& operator<<(std::ostream& out, const kind_of_object& kind) {
  return out << kind.name;
}
constexpr kind_of_object kinds[] = {
    {"tcp_stream", &make_tcp_reader},  {"local_stream", &make_local_reader}, {"listener", &tcp_acceptor::make},
    {"udp_socket", &udp_receiver::make}, {"read_end", &make_pipe_reader},    {"write_end", &pipe_writer::make},
    {"process", &child::make},         {"directory_watch", &watched_folder::make}, {"signal_set", &signal_taker::make},
};

/// One worker, and any of the schedulers.
options one_worker(const char* scheduler) {
  options with;
  with.workers = 1;
  with.stall_after = {};
  with.scheduler = scheduler;
  return with;
}

/// Two of a kind that are ready at the same time; on one worker, with one scheduler after the other.
class two_ready_objects : public testing::TestWithParam<kind_of_object> {
 protected:
  void SetUp() override { ::pthread_sigmask(SIG_SETMASK, nullptr, &before_); }
  void TearDown() override { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  /// 0 and 1, in the order in which they were served.
  static std::vector<int> order(const char* scheduler, const std::array<hints, 2>& told) {
    runtime rt{one_worker(scheduler)};
    const std::array both{GetParam().make(rt, color{1}), GetParam().make(rt, color{2})};
    std::vector<int> served;
    for (std::size_t n = 0; n < 2; ++n) {
      both[n]->hint(told[n]);
      rt.post(color{n + 1}, [&, n] { both[n]->wait([&served, n] { served.push_back(static_cast<int>(n)); }); });
    }
    rt.run_for(0s);
    EXPECT_TRUE(served.empty());
    for (const auto& each : both) each->feed();
    while (served.size() < 2) rt.run_for(1ms);
    return served;
  }
  /// The other way round than without hints: news comes in the order of the system.
  static void expect_reversed(const char* scheduler, const hints& first, const hints& second) {
    const std::vector<int> usual = order(scheduler, {});
    const bool swap = usual.front() != 0;
    EXPECT_EQ(order(scheduler, swap ? std::array{second, first} : std::array{first, second}), (std::vector<int>{usual[1], usual[0]})) << scheduler;
  }
  static void expect_usual(const char* scheduler, const hints& both) {
    EXPECT_EQ(order(scheduler, {both, both}), order(scheduler, {})) << scheduler;
  }
  static constexpr const char* schedulers[] = {"default", "shared_queue", "per_worker"};

 private:
  sigset_t before_{};
};
INSTANTIATE_TEST_SUITE_P(of, two_ready_objects, testing::ValuesIn(kinds), [](const auto& of) { return std::string{of.param.name}; });

TEST_P(two_ready_objects, are_served_by_priority) {
  for (const char* const scheduler : schedulers) {
    expect_reversed(scheduler, {}, {.priority = 1});
    expect_reversed(scheduler, {.priority = 1}, {.priority = 3});
  }
}

TEST_P(two_ready_objects, are_served_in_the_order_of_their_news_if_neither_is_more_urgent) {
  for (const char* const scheduler : schedulers) expect_usual(scheduler, {.priority = 3});
}

TEST_P(two_ready_objects, are_served_in_the_order_of_their_news_by_a_scheduler_without_priorities) {
  for (const char* const scheduler : {"serial", "color_queues"}) {
    const std::vector<int> usual = order(scheduler, {});
    for (std::size_t n = 0; n < 2; ++n) {
      std::array<hints, 2> told{};
      told[n].priority = 3;
      EXPECT_EQ(order(scheduler, told), usual) << scheduler;
    }
  }
}

/// What a scheduler sees of the events.
class hints_of_an_object : public test::with_a_serial_policy {
 protected:
  hints_of_an_object() { use_policy(rt_); }

  /// Of the events that have come from a descriptor or an operation, since the last call.
  std::vector<unsigned> priorities() {
    std::vector<unsigned> all;
    for (const auto& each : policy->seen) {
      if (each.from == detail::origin::io) all.push_back(each.hints.priority);
    }
    policy->seen.clear();
    return all;
  }
  /// Runs it in the color of the near end.
  template <class F>
  void here(F f) {
    rt_.post(test::here_color, std::move(f));
    rt_.run_for(0s);
  }
  void read() {
    near().read_some(room_, [this](const result<std::size_t>&) { ++read_; });
  }
  void feed() { EXPECT_EQ(::send(far().native_handle(), "12345678", 8, 0), 8); }

  [[nodiscard]] local::stream& near() { return ends_.first; }
  [[nodiscard]] local::stream& far() { return ends_.second; }

  runtime rt_{options{.workers = 1, .stall_after = {}}};
  std::pair<local::stream, local::stream> ends_{*local::pair(rt_, test::here_color, color{8})};
  std::array<std::byte, 8> room_{};
  int read_ = 0;
};

TEST_F(hints_of_an_object, are_those_of_its_news) {
  near().hint({.cost = 12us, .penalty = 1000, .priority = 3});
  here([this] { read(); });
  feed();
  rt_.run_until_idle();
  ASSERT_EQ(policy->seen.size(), 2u);
  EXPECT_EQ(policy->seen[1].hints.cost_ns, 12'000u);
  EXPECT_EQ(policy->seen[1].hints.penalty, 1000u);
  EXPECT_EQ(policy->seen[1].hints.priority, 3u);
  EXPECT_EQ(read_, 1);
}

using news_of_an_object = hints_of_an_object;

TEST_F(news_of_an_object, can_be_looked_at_before_its_turn_and_looks_at_those_that_follow) {
  here([this] { read(); });
  EXPECT_EQ(policy->looks_ahead, 0);
  feed();
  rt_.run_until_idle();
  EXPECT_EQ(policy->seen.back().from, detail::origin::io);
  EXPECT_TRUE(policy->seen.back().can_be_looked_at);
  EXPECT_EQ(policy->looks_ahead, 1);
  EXPECT_FALSE(policy->seen.front().can_be_looked_at);
}

TEST_F(hints_of_an_object, end_at_their_limits) {
  near().hint({.cost = 1h, .penalty = 1'000'000, .priority = 1000});
  here([this] { read(); });
  feed();
  rt_.run_until_idle();
  EXPECT_EQ(policy->seen.back().hints.cost_ns, 0xffff'ffffu);
  EXPECT_EQ(policy->seen.back().hints.penalty, 0xffffu);
  EXPECT_EQ(policy->seen.back().hints.priority, 0xffu);
}

TEST_F(hints_of_an_object, may_change_from_one_operation_to_the_next) {
  for (const unsigned priority : {2u, 0u, 1u}) {
    here([this, priority] {
      near().hint({.priority = priority});
      read();
    });
    feed();
    rt_.run_until_idle();
    EXPECT_EQ(priorities(), (std::vector<unsigned>{priority}));
  }
}

TEST_F(hints_of_an_object, are_those_of_a_callback_whose_operation_is_done_at_once) {
  here([this] {
    near().write("a", [](const result<std::size_t>&) {});
    near().hint({.priority = 2});
    near().write("b", [](const result<std::size_t>&) {});
    near().hint({});
    near().write("c", [](const result<std::size_t>&) {});
  });
  EXPECT_EQ(priorities(), (std::vector<unsigned>{0, 2, 0}));
}

TEST_F(hints_of_an_object, are_those_of_callbacks_also_without_a_priority) {
  here([this] {
    near().hint({.cost = 12us});
    near().write("a", [](const result<std::size_t>&) {});
    near().hint({.penalty = 10});
    near().write("b", [](const result<std::size_t>&) {});
  });
  ASSERT_EQ(policy->seen.size(), 3u);  // what posts them, and both
  EXPECT_EQ(policy->seen[1].hints.cost_ns, 12'000u);
  EXPECT_EQ(policy->seen[1].hints.penalty, 1u);
  EXPECT_EQ(policy->seen[2].hints.cost_ns, 0u);
  EXPECT_EQ(policy->seen[2].hints.penalty, 10u);
}

/// Who looks for hints has to look at each color that becomes runnable.
TEST_F(hints_of_an_object, that_are_none_make_nobody_look_for_hints) {
  const bool before = detail::hints_in_use.load(std::memory_order_relaxed);
  detail::hints_in_use.store(false, std::memory_order_relaxed);
  near().hint({});
  EXPECT_FALSE(detail::hints_in_use.load(std::memory_order_relaxed));
  near().hint({.cost = 1us});
  EXPECT_TRUE(detail::hints_in_use.load(std::memory_order_relaxed));
  detail::hints_in_use.store(before, std::memory_order_relaxed);
}

TEST_F(hints_of_an_object, give_way_to_those_of_a_callback) {
  here([this] {
    near().write("a", with_hints({.priority = 5}, [](const result<std::size_t>&) {}));
    near().hint({.priority = 2});
    near().write("b", with_hints({.priority = 6}, [](const result<std::size_t>&) {}));
    near().write("c", with_hints({}, [](const result<std::size_t>&) {}));
  });
  EXPECT_EQ(priorities(), (std::vector<unsigned>{5, 6, 0}));
}

TEST_F(hints_of_an_object, are_those_of_callbacks_whose_operations_are_done_together) {
  std::array<std::array<std::byte, 4>, 2> rooms{};
  int done = 0;
  here([&] {
    near().hint({.priority = 2});
    for (auto& room : rooms) near().read_some(room, [&](const result<std::size_t>&) { ++done; });
  });
  feed();
  rt_.run_until_idle();
  EXPECT_EQ(done, 2);
  EXPECT_EQ(priorities(), (std::vector<unsigned>{2, 2, 2}));  // the news, and both
}

TEST_F(hints_of_an_object, are_those_of_the_event_that_a_coroutine_goes_on_in) {
  near().hint({.priority = 2});
  unsigned reads = 0;
  rt_.spawn_in(test::here_color, [&]() -> task<> {
      for (; reads < 2; ++reads) EXPECT_EQ(*co_await near().read_some(room_), 8u);
    }).detach();
  rt_.run_for(0s);
  for (unsigned n = 1; n <= 2; ++n) {
    feed();
    rt_.run_for(0s);
    EXPECT_EQ(reads, n);
  }
  EXPECT_EQ(priorities(), (std::vector<unsigned>{2, 2}));
}

TEST_F(hints_of_an_object, come_along_when_it_is_moved) {
  near().hint({.priority = 2});
  local::stream moved = std::move(near());
  here([&] { moved.read_some(room_, [](const result<std::size_t>&) {}); });
  feed();
  rt_.run_until_idle();
  EXPECT_EQ(priorities(), (std::vector<unsigned>{2}));
}

// The next one lies where the closed one lay.
TEST_F(hints_of_an_object, end_when_it_is_closed) {
  near().hint({.priority = 2});
  near().close();
  near().hint({.priority = 3});
  ends_ = *local::pair(rt_, test::here_color, color{8});
  here([this] { read(); });
  feed();
  rt_.run_until_idle();
  EXPECT_EQ(read_, 1);
  EXPECT_EQ(priorities(), (std::vector<unsigned>{0}));
}

TEST_F(hints_of_an_object, are_not_those_of_what_it_accepts) {
  auto door = tcp::listen(rt_, "127.0.0.1:0", {.color = test::here_color});
  door.hint({.priority = 2});
  rt_.spawn_in(test::here_color, [&]() -> task<> {
      auto made = co_await tcp::connect(*door.local_address());
      auto accepted = co_await door.accept(test::here_color);
      EXPECT_TRUE(made && accepted);
      policy->seen.clear();
      EXPECT_TRUE(co_await accepted->write("x"));
      EXPECT_TRUE(co_await made->read_some(room_));
      door.close();
    }).detach();
  rt_.run_until_idle();
  for (const unsigned each : priorities()) EXPECT_EQ(each, 0u);
}

TEST_F(hints_of_an_object, are_told_in_its_color) {
  EXPECT_DEATH(
      {
        rt_.post(color{9}, [this] { near().hint({.priority = 1}); });
        rt_.run_until_idle();
      },
      "object_hints_test.cpp");
}

TEST_F(hints_of_an_object, are_those_of_a_callback_where_there_is_no_descriptor) {
  const test::temporary_folder folder;
  std::ofstream{folder / "file"} << "text";
  runtime with_a_thread{options{.workers = 1, .stall_after = {}}};  // gone before the test looks for what is left
  use_policy(with_a_thread);
  with_a_thread.post(color{1}, [&] { file::open(folder / "file", file_flags::read, with_hints({.priority = 4}, [](const result<file>&) {})); });
  with_a_thread.run_until_idle();
  EXPECT_EQ(priorities(), (std::vector<unsigned>{4}));
}

// The worker that polls posts the news of a descriptor, and copies its hints, while its color tells others: for ThreadSanitizer.
TEST(hints_of_a_busy_object, change_while_its_news_is_posted) {
  options with = one_worker("per_worker");
  with.workers = 2;
  runtime rt{with};
  auto ends = local::pair(rt, color{1}, color{2});  // of which the first one is worker 1's, and the one that polls is worker 0's
  constexpr int rounds = 100;
  rt.spawn_in(color{1}, [&]() -> task<> {
      std::array<std::byte, 1> byte{};
      for (int n = 0; n < rounds; ++n) {
        EXPECT_TRUE(co_await ends->first.read_some(byte));
        for (unsigned told = 0; told < 5000; ++told) ends->first.hint({.priority = told % 4});  // meanwhile the next byte comes
        EXPECT_TRUE(co_await ends->first.read_some(byte));
        EXPECT_TRUE(co_await ends->first.write("x"));
      }
    }).detach();
  rt.spawn_in(color{2}, [&]() -> task<> {
      std::array<std::byte, 1> byte{};
      for (int n = 0; n < rounds; ++n) {
        EXPECT_TRUE(co_await ends->second.write("x"));
        EXPECT_TRUE(co_await sleep(10us));
        EXPECT_TRUE(co_await ends->second.write("x"));
        EXPECT_TRUE(co_await ends->second.read_some(byte));
      }
    }).detach();
  rt.run_until_idle();
}

}  // namespace
}  // namespace tartan
