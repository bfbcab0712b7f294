// Which part of a request's, and of a connection's, system time is whose call: the shares by which simulation/web_costs.py deals out what whole
// requests and connections were measured to cost. As JSON on stdout.
//
//   build/release/simulation/measure_sockets > simulation/constants/sockets.json
//
// One thread is both ends of connections over loopback, so a write that reaches its peer is part of the writer's call, as in bench/web. Only the
// server's calls are timed. Each figure is the lower quartile of some rounds.
//
// And what it takes more to serve a connection that another core has served last: a second thread, on another core than the clients', answers
// requests, those of every other round alone. In both cases the request has come from the clients' core, whose kernel has had the socket for it.

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <thread>
#include <vector>

#include "bench/harness/clock.h"

namespace {

using bench::now_ns;

constexpr int rounds = 301;
constexpr std::size_t at_once = 32;  ///< readiness_source::most_alone
constexpr std::array<char, 100> request{};
constexpr std::array<char, 1200> answer{};

void check(bool holds, const char* what) {
  if (!holds) std::exit((std::perror(what), 1));
}

double lower_quartile(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 4];
}

/// What one of `times` calls takes, which are made one after the other.
template <class F>
double each_of(std::size_t times, F&& f) {
  const std::uint64_t begin = now_ns();
  for (std::size_t n = 0; n < times; ++n) f(n);
  return static_cast<double>(now_ns() - begin) / static_cast<double>(times);
}

void bind_to(unsigned cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  check(sched_setaffinity(0, sizeof only, &only) == 0, "two CPUs");
}

/// Runs what it is given on the second CPU while the caller, on the first one, waits.
class other_core {
 public:
  other_core() : thread_{[this] {
    bind_to(1);
    for (unsigned done = 0;;) {
      while (asked_.load(std::memory_order_acquire) == done) __builtin_ia32_pause();
      if (what_ == nullptr) return;
      what_(of_);
      answered_.store(++done, std::memory_order_release);
    }
  }} {}
  ~other_core() {
    what_ = nullptr;
    asked_.fetch_add(1, std::memory_order_release);
    thread_.join();
  }

  template <class F>
  void run(F& f) {
    what_ = [](void* of) { (*static_cast<F*>(of))(); };
    of_ = &f;
    const unsigned number = asked_.fetch_add(1, std::memory_order_acq_rel) + 1;
    while (answered_.load(std::memory_order_acquire) != number) __builtin_ia32_pause();
  }

 private:
  void (*what_)(void*) = nullptr;
  void* of_ = nullptr;
  std::atomic<unsigned> asked_{0};
  std::atomic<unsigned> answered_{0};
  std::thread thread_;
};

class machine_of_sockets {
 public:
  machine_of_sockets() : door_{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)}, epoll_{::epoll_create1(0)} {
    check(door_ >= 0 && epoll_ >= 0, "a listener and epoll");
    at_.sin_family = AF_INET;
    at_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(::bind(door_, reinterpret_cast<sockaddr*>(&at_), sizeof at_) == 0 && ::listen(door_, 128) == 0, "listen");
    socklen_t length = sizeof at_;
    check(::getsockname(door_, reinterpret_cast<sockaddr*>(&at_), &length) == 0, "getsockname");
    clients_.fill(-1);
  }

  void connect_all() {
    for (int& client : clients_) {
      client = ::socket(AF_INET, SOCK_STREAM, 0);
      check(client >= 0 && ::connect(client, reinterpret_cast<sockaddr*>(&at_), sizeof at_) == 0, "connect");
    }
    accept_.push_back(each_of(at_once, [this](std::size_t n) { servers_[n] = ::accept4(door_, nullptr, nullptr, SOCK_NONBLOCK); }));
    check(std::all_of(servers_.begin(), servers_.end(), [](int server) { return server >= 0; }), "accept4");
    register_.push_back(each_of(at_once, [this](std::size_t n) {
      epoll_event edges{};
      edges.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
      check(::epoll_ctl(epoll_, EPOLL_CTL_ADD, servers_[n], &edges) == 0, "epoll_ctl");
    }));
  }

  /// The first of the clients ask.
  double time_to_wait(std::size_t askers) {
    for (std::size_t n = 0; n < askers; ++n) check(::send(clients_[n], request.data(), request.size(), 0) > 0, "a request");
    int got = 0;
    const double took = each_of(1, [&](std::size_t) { got = ::epoll_wait(epoll_, found_.data(), static_cast<int>(at_once), 0); });
    check(got == static_cast<int>(askers), "edges");
    return took;
  }
  void answer_all(std::size_t askers) {
    const double read = each_of(askers, [this](std::size_t n) { check(::recv(servers_[n], into_.data(), into_.size(), 0) > 0, "recv"); });
    const double written = each_of(askers, [this](std::size_t n) { check(::send(servers_[n], answer.data(), answer.size(), 0) > 0, "send"); });
    for (std::size_t n = 0; n < askers; ++n) check(::recv(clients_[n], into_.data(), into_.size(), 0) > 0, "an answer");
    if (askers != at_once) return;
    read_.push_back(read);
    write_.push_back(written);
  }
  void round() {
    wait_one_.push_back(time_to_wait(1));
    answer_all(1);
    wait_all_.push_back(time_to_wait(at_once));
    answer_all(at_once);
  }

  /// Of requests that are read and answered: by the other core, which has answered the last one, or has not.
  void answer_by(other_core& other) {
    for (int round = 0; round < 40; ++round) {
      const bool both = round >= 20;
      for (const int client : clients_) check(::send(client, request.data(), request.size(), 0) > 0, "a request");
      static_cast<void>(::epoll_wait(epoll_, found_.data(), static_cast<int>(at_once), 0));
      double took = 0;
      auto serve = [&] {
        took = each_of(at_once, [this](std::size_t n) {
          check(::recv(servers_[n], into_.data(), into_.size(), 0) > 0 && ::send(servers_[n], answer.data(), answer.size(), 0) > 0, "an exchange");
        });
      };
      const bool here = both && round % 2 == 0;
      if (here) {
        serve();
      } else {
        other.run(serve);
      }
      for (const int client : clients_) check(::recv(client, into_.data(), into_.size(), 0) > 0, "an answer");
      if (!here && round % 20 > 1) (both ? moved_ : stayed_).push_back(took);
    }
  }
  void close_all() {
    for (const int client : clients_) ::close(client);
    close_.push_back(each_of(at_once, [this](std::size_t n) {
      check(::recv(servers_[n], into_.data(), into_.size(), 0) == 0, "the end");
      check(::epoll_ctl(epoll_, EPOLL_CTL_DEL, servers_[n], nullptr) == 0, "epoll_ctl");
      ::close(servers_[n]);
    }));
    static_cast<void>(::epoll_wait(epoll_, found_.data(), static_cast<int>(at_once), 0));
  }

  void print() {
    const double all = lower_quartile(wait_all_);
    const double event = (all - lower_quartile(wait_one_)) / (at_once - 1);
    std::printf("{\n  \"recv_ns\": %.1f,\n  \"send_ns\": %.1f,\n  \"epoll_event_ns\": %.1f,\n  \"epoll_wait_ns\": %.1f,\n", lower_quartile(read_),
                lower_quartile(write_), event, lower_quartile(wait_one_) - event);
    std::printf("  \"accept_ns\": %.1f,\n  \"epoll_ctl_ns\": %.1f,\n  \"close_ns\": %.1f,\n", lower_quartile(accept_), lower_quartile(register_),
                lower_quartile(close_));
  }
  void print_moved() {
    std::printf("  \"exchange_after_own_ns\": %.1f,\n  \"exchange_after_other_ns\": %.1f\n}\n", lower_quartile(stayed_), lower_quartile(moved_));
  }

 private:
  const int door_;
  const int epoll_;
  sockaddr_in at_{};
  std::array<int, at_once> clients_;
  std::array<int, at_once> servers_{};
  std::array<epoll_event, at_once> found_{};
  std::array<char, 4096> into_{};
  std::vector<double> accept_, register_, wait_one_, wait_all_, read_, write_, close_, stayed_, moved_;
};

}  // namespace

int main() {
  bind_to(0);
  machine_of_sockets all;
  for (int n = 0; n < rounds; ++n) {
    all.connect_all();
    for (int requests = 0; requests < 10; ++requests) all.round();
    all.close_all();
  }
  all.print();
  other_core other;
  for (int n = 0; n < rounds; ++n) {
    all.connect_all();
    all.answer_by(other);
    all.close_all();
  }
  all.print_moved();
}
