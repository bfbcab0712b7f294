#include "simulation/clients.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace simulation {

namespace {

std::uint64_t next(std::uint64_t& drawn) noexcept {
  drawn ^= drawn << 13;
  drawn ^= drawn >> 7;
  drawn ^= drawn << 17;
  return drawn >> 20;
}

picoseconds now() noexcept { return running->current().clock; }

}  // namespace

clients::clients(const order& what, socket_poller& tells)
    : tells_{tells},
      mean_{what.on.ps("web_client_ns")},
      each_{static_cast<std::size_t>(what.on.at("requests"))},
      warm_up_{what.size / 4},
      size_{what.size},
      clients_(static_cast<std::size_t>(what.on.at("clients"))),
      starters_{clients_.size()} {
  late_.reserve(size_);
}

/// Their first connections are of all ages, as they are in a server that has run for a while.
void clients::begin() {
  const unpaid_scope elsewhere;
  running->outside = [this](picoseconds when) { arrive(when); };
  for (client& c : clients_) {
    c.drawn = static_cast<std::uint64_t>(&c - clients_.data() + 1) * 0x9e3779b97f4a7c15u;
    for (int times = 0; times < 8; ++times) static_cast<void>(next(c.drawn));
    connect(c, now() + delay(c));
    if (each_ != 0) c.left = 1 + next(c.drawn) % each_;
  }
}

picoseconds clients::delay(client& of) const noexcept { return mean_ * (512 + next(of.drawn) % 1025) / 1024; }

void clients::send(mark at, picoseconds when, bool connects) {
  due_.push({when, ++sent_, at, connects});
  running->expect(when);
}

void clients::connect(client& c, picoseconds when) {
  c.uses = 1 - c.uses;
  if (std::exchange(c.open[c.uses], true)) std::exit((std::fputs("simulate: a connection outlives the one after it\n", stderr), 1));
  c.left = each_ == 0 ? ~std::size_t{0} : each_;
  c.asked = when;
  send(mark_of(c), when, true);
}

void clients::arrive(picoseconds when) noexcept {
  while (!due_.empty() && due_.top().when <= when) {
    const due first = due_.top();
    due_.pop();
    if (over_) continue;
    if (first.connects) backlog_.push_back(first.at);
    tells_.edge(first.connects ? door : first.at, when);
  }
}

bool clients::accept(mark& into) noexcept {
  const unpaid_scope kernel;
  if (backlog_.empty()) return false;
  into = backlog_.front();
  backlog_.pop_front();
  if (began_ != 0) ++connections_;
  return true;
}

void clients::closed(mark at) noexcept { of(at).open[(at - 1) / clients_.size()] = false; }

bool clients::answered(mark at) noexcept {
  const unpaid_scope elsewhere;
  client& c = of(at);
  if (over_) return false;
  ++answers_;
  if (began_ != 0) {
    late_.push_back(now() - c.asked);
    ++c.answers;
  } else {
    if (c.starts != 0 && --c.starts == 0) --starters_;
    if (starters_ == 0 && answers_ >= warm_up_) {
      answers_ = 0;
      began_ = now();
      slept_before_ = tells_.slept(began_);
    }
  }
  if (began_ != 0 && answers_ == size_) {
    ended_ = now();
    slept_ = tells_.slept(ended_) - slept_before_;
    return over_ = true;
  }
  const picoseconds when = now() + delay(c);
  c.asked = when;
  send(at, when, false);  // the next request, or the end
  if (--c.left == 0) connect(c, when + delay(c));
  return false;
}

/// Jain's index over the clients' answers: 1 if all had as many.
double clients::jain() const noexcept {
  double sum = 0;
  double squares = 0;
  for (const client& c : clients_) {
    sum += static_cast<double>(c.answers);
    squares += static_cast<double>(c.answers * c.answers);
  }
  return sum * sum / (static_cast<double>(clients_.size()) * squares);
}

figures clients::measured(unsigned workers) const {
  const auto took = static_cast<double>(ended_ - began_);
  std::vector<picoseconds> sorted = late_;
  std::sort(sorted.begin(), sorted.end());
  const auto requests = static_cast<double>(size_);
  const auto us = [&sorted](double share) {
    return static_cast<double>(sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))]) / 1e6;
  };
  return {{"clients", static_cast<double>(clients_.size())},
          {"requests", requests},
          {"connections", static_cast<double>(connections_)},
          {"requests_per_s", requests / took * 1e12},
          {"cpu_us", (took * workers - static_cast<double>(slept_)) / requests / 1e6},
          {"p50_us", us(0.5)},
          {"p99_us", us(0.99)},
          {"jain", jain()}};
}

}  // namespace simulation
