#pragma once
// Clients, each with one request under way at a time. They are the same for all contenders.

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>
#include <vector>

namespace bench {

/// One thread, one epoll descriptor. A client sends its request, waits for the whole answer, and sends again. A run with an error
/// has no figures.
///
/// Errors: exceptions.
/// Answer: can be copied; `bool add(std::string_view)` takes what has come, tells whether that is all of it, and then starts afresh.
template <class Answer>
class closed_loop {
 public:
  /// `spins`: asks without sleeping. Then the server never pays for waking this process, as it would not if it were on another machine.
  closed_loop(const std::vector<int>& sockets, std::string request, const Answer& answer, bool spins)
      : request_{std::move(request)}, spins_{spins}, epoll_{epoll_create1(EPOLL_CLOEXEC)} {
    if (epoll_ < 0) fail("epoll_create1");
    for (const int socket : sockets) {
      epoll_event edges{};
      edges.events = EPOLLIN | EPOLLET;
      edges.data.u64 = clients_.size();
      if (epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &edges) != 0) fail("epoll_ctl");
      clients_.push_back({socket, answer});
    }
    for (const client& each : clients_) ask(each);
  }

  /// Goes on until so many more answers have come. Requests are under way when it returns.
  void run(std::size_t answers) {
    std::array<epoll_event, 256> events;
    for (const std::size_t until = answered_ + answers; answered_ < until;) {
      const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), spins_ ? 0 : -1);
      if (ready < 0 && errno != EINTR) fail("epoll_wait");
      for (int n = 0; n < ready; ++n) hear(clients_[events[static_cast<std::size_t>(n)].data.u64]);
    }
  }

  /// How many each client has got.
  [[nodiscard]] std::vector<std::size_t> answers() const {
    std::vector<std::size_t> all;
    for (const client& each : clients_) all.push_back(each.answers);
    return all;
  }

 private:
  struct client {
    int socket;
    Answer answer;
    std::size_t answers = 0;
  };

  [[noreturn]] static void fail(const char* call) { throw std::system_error{errno, std::system_category(), call}; }

  void ask(const client& by) const {
    // Small, and nothing else is under way: there is room for it.
    if (send(by.socket, request_.data(), request_.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request_.size())) fail("send");
  }
  void hear(client& by) {
    const ssize_t got = recv(by.socket, buffer_.data(), buffer_.size(), 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) fail("recv");
    if (got == 0) throw std::runtime_error{"the server has closed a connection"};
    if (!by.answer.add({buffer_.data(), static_cast<std::size_t>(got)})) return;
    ++by.answers;
    ++answered_;
    ask(by);
  }

  std::string request_;
  bool spins_;
  int epoll_;
  std::vector<client> clients_;
  std::size_t answered_ = 0;
  std::array<char, 16384> buffer_;  // more than any answer has
};

}  // namespace bench
