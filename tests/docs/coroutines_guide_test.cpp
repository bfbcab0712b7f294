// The code of docs/guide/coroutines.md.
#include <gtest/gtest.h>

#include <tartan/tartan.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <functional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

tartan::options one_worker() {
  tartan::options with;
  with.workers = 1;
  return with;
}

int load(const std::string& name) { return static_cast<int>(name.size()); }

tartan::task<int> size_of(std::string name) {
  co_return co_await tartan::blocking([&] { return load(name); });  // off the workers; others run meanwhile
}

tartan::task<int> size_of_all(std::vector<std::string> names) {
  int sum = 0;
  for (const std::string& name : names) sum += co_await size_of(name);
  co_return sum;
}

TEST(the_coroutines_guide, shows_a_task) {
  tartan::runtime rt{one_worker()};
  int sum = 0;
  std::vector<std::string> names{"a", "bc"};
  tartan::spawn(rt, [&]() -> tartan::task<> { sum = co_await size_of_all(names); });
  rt.run_until_idle();
  EXPECT_EQ(sum, 3);
}

/// A library with threads of its own, which calls back on one of them.
class sensor {
 public:
  void read_later(std::function<void(double)> call_back) {
    threads_.emplace_back([call_back = std::move(call_back)] { call_back(36.5); });
  }
  ~sensor() {
    for (std::thread& each : threads_) each.join();
  }

 private:
  std::vector<std::thread> threads_;
};

/// `co_await reading{s}`: the usual awaiter around a callback. It knows nothing of Tartan.
struct reading {
  sensor& from;
  double value = 0;

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    from.read_later([this, waiting](double got) {
      value = got;
      waiting.resume();  // on the library's thread
    });
  }
  double await_resume() const { return value; }
};

TEST(the_coroutines_guide, shows_an_awaitable_of_another_library) {
  sensor body;
  tartan::runtime rt{one_worker()};
  tartan::color seen;
  tartan::spawn_in(rt, tartan::color{5}, [&]() -> tartan::task<> {
    const double celsius = co_await reading{body};  // resumed on the sensor's thread, and here again in our color
    if (celsius > 36.0) seen = tartan::current_color();
  });
  rt.run_until_idle();
  EXPECT_EQ(seen, tartan::color{5});
}

tartan::task<int> answer(int question) {
  co_await tartan::yield();
  co_return 2 * question;
}

TEST(the_coroutines_guide, shows_how_to_spawn) {
  tartan::runtime rt{one_worker()};
  int got = 0;
  tartan::spawn(rt, [&]() -> tartan::task<> {
    auto first = tartan::spawn_in(tartan::color{1}, answer, 10);  // in parallel, each in a color of its own
    auto second = tartan::spawn_in(tartan::color{2}, answer, 11);
    got = co_await first.join() + co_await second.join();         // here again, in our own color
  });
  rt.run_until_idle();
  EXPECT_EQ(got, 42);
}

class directory {
 public:
  explicit directory(tartan::runtime& rt) : strand_{rt, "directory"} {}

  tartan::task<int> number_of(std::string name) {             // callable from any color
    co_return co_await tartan::in(strand_, [&] {
      return numbers_.try_emplace(name, static_cast<int>(numbers_.size())).first->second;
    });
  }

 private:
  tartan::strand strand_;
  std::unordered_map<std::string, int> numbers_;              // touched in strand_ only
};

TEST(the_coroutines_guide, shows_going_to_another_color) {
  tartan::runtime rt{one_worker()};
  directory numbers{rt};
  tartan::color seen{9};
  tartan::spawn_in(rt, tartan::color{3}, [&]() -> tartan::task<> {
    EXPECT_EQ(co_await numbers.number_of("one"), 0);
    EXPECT_EQ(co_await numbers.number_of("two"), 1);
    co_await tartan::on(tartan::color::unordered);  // in parallel with everything from here on
    co_await tartan::on(tartan::color{});           // and back among the events of the default color
    seen = tartan::current_color();
  });
  rt.run_until_idle();
  EXPECT_EQ(seen, tartan::color{});
}

tartan::task<tartan::result<int>> fetch(int n) {
  if (auto waited = co_await tartan::sleep(1ms); !waited) co_return waited.error();
  co_return n;
}

TEST(the_coroutines_guide, shows_several_at_once) {
  tartan::runtime rt{one_worker()};
  int sum = 0;
  tartan::spawn(rt, [&]() -> tartan::task<> {
    auto [a, b] = co_await tartan::when_all(fetch(1), fetch(2));
    auto [index, value] = co_await tartan::when_any(fetch(3), tartan::sleep(1h));
    auto in_time = co_await tartan::with_timeout(1h, fetch(4));
    sum = *a + *b + static_cast<int>(index) + *std::get<0>(value) + *in_time;
  });
  rt.run_until_idle();
  EXPECT_EQ(sum, 10);
}

tartan::task<> visit(tartan::task_group& group, std::atomic<int>& count, int depth) {
  ++count;
  for (int n = 0; depth > 0 && n < 2; ++n) {
    group.spawn_in(tartan::color{10 * depth + n}, visit, std::ref(group), std::ref(count), depth - 1);
  }
  co_return;
}

TEST(the_coroutines_guide, shows_a_task_group) {
  tartan::runtime rt{one_worker()};
  std::atomic<int> count{0};
  tartan::spawn(rt, [&]() -> tartan::task<> {
    co_await tartan::with_task_group([&](tartan::task_group& group) -> tartan::task<> {
      group.spawn(visit, std::ref(group), std::ref(count), 3);
      co_return;
    });                                             // all have ended, also those that others have spawned
    EXPECT_EQ(count.load(), 15);
  });
  rt.run_until_idle();
  EXPECT_EQ(count.load(), 15);
}

TEST(the_coroutines_guide, shows_a_channel) {
  tartan::runtime rt{one_worker()};
  tartan::channel<int> lines{tartan::capacity{16}};
  int sum = 0;
  tartan::spawn_in(rt, tartan::color{1}, [&]() -> tartan::task<> {
    for (int n = 1; n <= 100; ++n) {
      if (!co_await lines.send(n)) co_return;       // waits while 16 are in it
    }
    lines.close();
  });
  tartan::spawn_in(rt, tartan::color{2}, [&]() -> tartan::task<> {
    while (auto line = co_await lines.receive()) sum += *line;
  });
  rt.run_until_idle();
  EXPECT_EQ(sum, 5050);
}

TEST(the_coroutines_guide, shows_a_watch) {
  tartan::runtime rt{one_worker()};
  std::vector<int> seen;
  tartan::watch<int> level{1};
  rt.spawn_in(tartan::color{1}, [&]() -> tartan::task<> {
    auto reader = level.subscribe();
    while (const auto value = co_await reader.next()) seen.push_back(*value);  // false: closed, or asked to end
  });
  rt.run_until_idle();
  level.set(2);                                     // from any thread
  rt.run_until_idle();
  level.close();
  rt.run_until_idle();
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
  EXPECT_EQ(level.get(), 2);
}

tartan::task<> follow(tartan::broadcast<std::string>::receiver news, std::vector<std::string>& log) {
  for (;;) {
    const auto line = co_await news.receive();
    if (line) {
      log.push_back(*line);
    } else if (line.error() == tartan::errc::lagged) {
      log.push_back(std::to_string(news.lost()) + " lines lost");  // and on with the oldest that is kept
    } else {
      co_return;                                    // closed, or asked to end
    }
  }
}

TEST(the_coroutines_guide, shows_a_broadcast) {
  tartan::runtime rt{one_worker()};
  std::vector<std::string> log;
  tartan::broadcast<std::string> news{tartan::capacity{2}};
  rt.spawn_in(tartan::color{1}, follow, news.subscribe(), std::ref(log));
  for (const char* line : {"one", "two", "three"}) news.send(line);  // the follower has not begun
  news.close();
  rt.run_until_idle();
  EXPECT_EQ(log, (std::vector<std::string>{"1 lines lost", "two", "three"}));
}

TEST(the_coroutines_guide, shows_how_long_work_ends_early) {
  tartan::runtime rt{one_worker()};
  int rounds = 0;
  tartan::spawn(rt, [&]() -> tartan::task<> {
    const tartan::stop_token token = co_await tartan::get_stop_token();
    while (!token.stop_requested()) {
      if (++rounds == 3) rt.stop();
      co_await tartan::yield();                     // others of this color go first
    }
  });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_GE(rounds, 3);
}

std::size_t look_up(const std::string& host) { return host.size(); }

tartan::task<> find(std::string host, std::size_t& found) {
  auto job = [host = std::move(host)] { return look_up(host); };  // owns its host: no reference
  const auto address = co_await tartan::with_timeout(1s, tartan::abandonable_blocking(job));
  if (address) found = *address;
}

TEST(the_coroutines_guide, shows_blocking_work_that_may_be_left_behind) {
  tartan::runtime rt{one_worker()};
  std::size_t found = 0;
  rt.spawn(find, std::string{"localhost"}, std::ref(found)).detach();
  rt.run_until_idle();
  EXPECT_EQ(found, 9u);
}

TEST(the_coroutines_guide, shows_values_per_worker) {
  tartan::runtime rt{one_worker()};
  tartan::per_worker<int> hits{rt};
  for (int n = 0; n < 10; ++n) rt.post(tartan::color{n}, [&] { ++hits.local(); });
  rt.run_until_idle();
  const int all = hits.fold(0, [](int sum, int each) { return sum + each; });
  EXPECT_EQ(all, 10);
}

}  // namespace
