// The floor of H1 to H6: an epoll loop that sends bytes prepared before, head and body in one send(): floor ROOT PORT WORKERS [close]
// The number is not a web server's: a request in two pieces would be answered twice, and Date stands still. With one file below ROOT nothing
// of a request is read; with more, a file is found by a hash of what stands between "GET " and the next space. `close`: it ends each
// connection after its answer (H5). With several workers each is a thread with a door of its own (SO_REUSEPORT), and nothing is shared.

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "bench/web/files.h"
#include "bench/web/port.h"

namespace {

void check(int result, const char* call) {
  if (result < 0) std::exit((std::perror(call), 1));
}

/// Answers by target: an open table, at most half full.
class answers {
 public:
  answers(const std::string& root, bool closing) {
    const auto files = bench::files_below(root);
    if (files.empty()) std::exit((std::fprintf(stderr, "no files in %s\n", root.c_str()), 1));
    while (slots_.size() < 2 * files.size()) slots_.resize(slots_.empty() ? 1 : 2 * slots_.size());
    for (const auto& [target, body] : files) {
      std::size_t at = first(target);
      while (!slots_[at].target.empty()) at = next(at);
      slots_[at].target = target;
      slots_[at].bytes = bench::head_of(body.size(), "floor") + (closing ? "Connection: close\r\n" : "") + "Date: Sat, 21 Nov 2026 12:00:00 GMT\r\n\r\n" + body;
      if (files.size() == 1) only_ = slots_[at].bytes;
    }
  }

  [[nodiscard]] std::string_view of(std::string_view request) const {
    if (!only_.empty()) return only_;
    constexpr std::size_t method = 4;
    const std::string_view target = request.size() < method ? request : request.substr(method, request.find(' ', method) - method);
    for (std::size_t at = first(target);; at = next(at)) {
      if (slots_[at].target == target) return slots_[at].bytes;
      if (slots_[at].target.empty()) return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    }
  }

 private:
  struct slot {
    std::string target;
    std::string bytes;
  };
  [[nodiscard]] std::size_t first(std::string_view target) const { return std::hash<std::string_view>{}(target) & (slots_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  std::vector<slot> slots_;
  std::string_view only_;
};

class loop {
 public:
  loop(const answers& with, std::uint16_t port, bool closing) : with_{&with}, closing_{closing}, epoll_{epoll_create1(EPOLL_CLOEXEC)} {
    const int on = 1;
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    door_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(door_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(door_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    check(bind(door_, reinterpret_cast<const sockaddr*>(&at), sizeof at), "bind");
    check(listen(door_, SOMAXCONN), "listen");
    watch(EPOLL_CTL_ADD, door_, EPOLLIN);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 128> events;
    for (;;) {
      const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int n = 0; n < ready; ++n) {
        const epoll_event& event = events[static_cast<std::size_t>(n)];
        if (event.data.fd == door_) {
          accept_all();
        } else {
          serve(event.data.fd);
        }
      }
    }
  }

 private:
  void watch(int how, int descriptor, std::uint32_t events) const {
    epoll_event edges{};
    edges.events = events | EPOLLRDHUP | EPOLLET;
    edges.data.fd = descriptor;
    check(epoll_ctl(epoll_, how, descriptor, &edges), "epoll_ctl");
  }

  void accept_all() {
    const int on = 1;
    for (int peer = 0; (peer = accept4(door_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
      if (unsent_.size() <= static_cast<std::size_t>(peer)) unsent_.resize(2 * static_cast<std::size_t>(peer) + 1);
      unsent_[static_cast<std::size_t>(peer)] = {};
      setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      watch(EPOLL_CTL_ADD, peer, EPOLLIN);
    }
  }

  void serve(int peer) {
    std::string_view& unsent = unsent_[static_cast<std::size_t>(peer)];
    const bool goes_on = !unsent.empty();
    if (!goes_on) {
      std::array<char, 4096> buffer;
      const ssize_t got = recv(peer, buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) close(peer);
        return;
      }
      unsent = with_->of({buffer.data(), static_cast<std::size_t>(got)});
    }
    const ssize_t sent = send(peer, unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) {
      close(peer);
      return;
    }
    unsent.remove_prefix(sent < 0 ? 0 : static_cast<std::size_t>(sent));
    if (closing_ && unsent.empty()) {
      close(peer);
    } else if (goes_on == unsent.empty()) {  // room is asked for only while something waits for it
      watch(EPOLL_CTL_MOD, peer, unsent.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
    }
  }

  const answers* with_;
  bool closing_;
  int epoll_;
  int door_ = -1;
  std::vector<std::string_view> unsent_;  // by descriptor
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fprintf(stderr, "floor ROOT PORT WORKERS [close]\n"), 2;
  const bool closing = argc > 4 && std::string_view{argv[4]} == "close";
  const answers with{argv[1], closing};
  const auto port = bench::port_of(argv[2]);
  std::vector<std::thread> others;
  for (int n = 1; n < std::atoi(argv[3]); ++n) others.emplace_back([&] { loop{with, port, closing}.run(); });
  loop{with, port, closing}.run();
}
