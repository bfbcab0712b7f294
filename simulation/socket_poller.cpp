#include "simulation/socket_poller.h"

#include <algorithm>
#include <utility>

#include "core/clock.h"

namespace simulation {

using namespace tartan::detail;

namespace {

constexpr unsigned nobody = ~0u;

/// By the sequencer's clock, of a time by the workers'.
picoseconds until(std::uint64_t end_ns, std::uint64_t now_ns) noexcept {
  if (end_ns == never_ns) return sequencer::never;
  return running->current().clock + (end_ns <= now_ns ? 0 : (end_ns - now_ns) * 1000);
}

}  // namespace

socket_poller::socket_poller(const constants& from, std::function<bool(mark)> posts)
    : wait_{from.ps("web_wait_ns")}, each_{from.ps("web_event_ns")}, posts_{std::move(posts)} {}

std::uint64_t socket_poller::now_ns() noexcept { return real_now_ns(); }

/// One that is ready already is told once.
void socket_poller::edge(mark at, picoseconds now) noexcept {
  const unpaid_scope kernel;  // its memory is in what a call costs
  if (at >= is_ready_.size()) is_ready_.resize(at + 1);
  if (is_ready_[at]) return;
  is_ready_[at] = true;
  ready_.push_back(at);
  if (waiter_ == nobody) return;
  running->wake(std::exchange(waiter_, nobody), now + running->on().wake_to_run);
}

picoseconds socket_poller::slept(picoseconds now) const noexcept {
  picoseconds all = 0;
  for (const taker& each : workers_) all += each.slept + (each.since != 0 && each.since < now ? now - each.since : 0);
  return all;
}

/// What is ready by now, as much as a look takes. Gives whether anything was.
bool socket_poller::collect(unsigned worker) noexcept {
  running->take_turn();
  taker& own = workers_[worker];
  const std::size_t room = workers_.size() == 1 ? readiness_source::most_alone : 128;  // as epoll_source
  {
    const unpaid_scope kernel;
    while (own.haul.size() < room && !ready_.empty()) {
      own.haul.push_back(ready_.front());
      is_ready_[ready_.front()] = false;
      ready_.pop_front();
    }
  }
  own.full = own.haul.size() == room;
  running->spend(each_ * own.haul.size());
  return !own.haul.empty();
}

bool socket_poller::post(unsigned worker) noexcept {
  bool posted = false;
  for (const mark at : workers_[worker].haul) posted = posts_(at) || posted;
  workers_[worker].haul.clear();
  return posted;
}

bool socket_poller::harvest(unsigned worker) noexcept {
  running->take_turn();
  running->spend(wait_);
  return collect(worker) && post(worker);
}

/// For the next harvest, whoever's.
bool socket_poller::set_aside(unsigned worker) noexcept {
  const unpaid_scope kernel;
  std::vector<mark>& own = workers_[worker].haul;
  const bool any = !own.empty();
  for (const mark at : own) is_ready_[at] = true;
  ready_.insert(ready_.begin(), own.begin(), own.end());
  own.clear();
  return any;
}

void socket_poller::doze(unsigned worker, std::uint64_t end_ns) noexcept {
  taker& own = workers_[worker];
  own.since = running->current().clock;
  if (own.sleeps == bed::source) waiter_ = worker;
  if (own.sleeps == bed::guard) guard_ = worker;
  running->sleep(until(end_ns, real_now_ns()));
  if (guard_ == worker) guard_ = nobody;
  if (waiter_ == worker) waiter_ = nobody;
  own.slept += running->current().clock - std::exchange(own.since, 0);
}

slept socket_poller::sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept {
  sequencer& all = *running;
  const bed in = workers_[worker].sleeps;
  all.take_turn();
  all.spend(in == bed::source ? wait_ : all.on().sleep);
  const std::uint64_t now = real_now_ns();
  const std::uint64_t end = std::min(limit.until_ns, limit.at_most_ns < never_ns - now ? now + limit.at_most_ns : never_ns);
  for (;;) {
    all.take_turn();
    if (in == bed::source && collect(worker)) return slept::ready;
    // relaxed: there is one thread
    if (token.load(std::memory_order_relaxed) != token_asleep) return slept::alone;
    const std::uint64_t by_now = real_now_ns();
    if (in == bed::guard && alarm_ns_ <= by_now) return alarm_ns_ = never_ns, slept::alarm;
    if (end <= by_now) return slept::alone;
    doze(worker, in == bed::guard ? std::min(end, alarm_ns_) : end);
  }
}

/// As virtual_poller's.
void socket_poller::wake(unsigned worker, wake_token& /*token*/) noexcept {
  sequencer& all = *running;
  all.take_turn();
  all.wake(worker, all.current().clock + all.on().wake_to_run);
  all.spend(all.on().wake);
}

/// A guard that has gone to sleep for a later time is called earlier; one that wakes for an earlier time sees that it is not yet time.
void socket_poller::set_alarm(std::uint64_t at_ns) noexcept {
  sequencer& all = *running;
  all.take_turn();
  all.spend(all.on().sleep);
  alarm_ns_ = at_ns == 0 ? never_ns : at_ns;
  if (guard_ != nobody && alarm_ns_ != never_ns) all.wake(guard_, until(alarm_ns_, real_now_ns()));
}

}  // namespace simulation
