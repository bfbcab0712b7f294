#include "load/injector.h"

#include <sys/resource.h>
#include <tartan/core/in.h>
#include <tartan/core/post.h>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace load {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t connects_at_a_time = 256;
constexpr auto most_patience = 10s;  // with clients that cannot connect: a server that takes no more keeps them waiting for ever

struct own_usage {
  double cpu_s;
  std::uint64_t involuntary_switches;
};

own_usage own_usage_now() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return {seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<std::uint64_t>(used.ru_nivcsw)};
}

}  // namespace

injector::injector(tartan::runtime& rt, const load_settings& of, std::uint64_t first)
    : settings_{of}, rt_{rt}, first_{first}, pages_{settings_}, counts_{rt, of.requests}, connects_{connects_at_a_time},
      state_{rt, settings_, pages_, counts_, connects_, {}, {}}, clients_{rt} {
  state_.arrived = [this] {
    tartan::post([this] {
      if (++arrived_ == settings_.clients) static_cast<void>(all_here_.try_send(true));
    });
  };
  state_.complete = [this] { static_cast<void>(complete_.try_send(true)); };
}

tartan::task<> injector::start() {
  for (std::uint64_t n = 0; n < settings_.clients; ++n) clients_.spawn_in(tartan::color::unordered, &injector::run_client, this, first_ + n);
  const tartan::result<bool> all = co_await tartan::with_timeout(most_patience, all_here_.receive());
  static_cast<void>(all);
}

/// Color: the client's.
tartan::task<> injector::run_client(std::uint64_t number) {
  const auto one = std::make_unique<client>(state_, number);
  co_await one->run();
  const std::uint64_t answers = one->answers();
  const bool is_starved = one->is_starved();
  const bool was_connected = one->was_connected();
  const std::uint64_t waits = one->waits();
  co_await tartan::in(tartan::color{}, [this, answers, is_starved, was_connected, waits] {
    sums_.shares.add(answers);
    if (is_starved) ++sums_.starved;
    if (was_connected) ++sums_.open_connections;
    if (waits > counts_.length() / 2) ++sums_.abandoned;
    sums_.longest_wait_ns = std::max(sums_.longest_wait_ns, waits);
  });
}

void injector::begin() {
  const own_usage used = own_usage_now();
  cpu_s_ = used.cpu_s;
  involuntary_switches_ = used.involuntary_switches;
  counts_.begin(now_ns(rt_));
}

tartan::task<bool> injector::wait_for_end() {
  if (settings_.requests != 0) co_return co_await wait_for_answers();
  const tartan::result<> slept = co_await tartan::sleep(std::chrono::duration<double>{settings_.seconds});
  co_return slept.has_value();
}

/// A server that gives no right answer would keep it waiting for ever. In twice the time that one may take, each client has met an error.
tartan::task<bool> injector::wait_for_answers() {
  const auto patience = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>{2 * settings_.timeout});
  for (;;) {
    const std::uint64_t before = so_far().answers;
    const tartan::result<bool> told = co_await tartan::with_timeout(patience, complete_.receive());
    if (told) co_return true;
    if (told.error() != tartan::errc::timed_out) co_return false;
    if (so_far().answers == before) co_return true;
  }
}

void injector::end() {
  if (std::exchange(has_ended_, true)) return;
  if (!counts_.is_over()) counts_.end(now_ns(rt_));
  if (!counts_.has_begun()) return;
  const own_usage used = own_usage_now();
  sums_.cpu_s = used.cpu_s - cpu_s_;
  sums_.saturated = is_saturated(sums_.cpu_s, static_cast<double>(counts_.length()) / 1e9, rt_.workers()) ? 1 : 0;
  sums_.involuntary_switches = used.involuntary_switches - involuntary_switches_;
}

tartan::task<> injector::finish() {
  clients_.cancel();
  co_await clients_.join();
}

load_result injector::result() {
  load_result all = sums_;
  counts_.tell(all);
  return all;
}

}  // namespace load
