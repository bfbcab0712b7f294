// Ping-pong by epoll_wait, recv and send: the floor.
// The number is not that of a program that can do anything else: no timers, no other threads, no callbacks, no writes that wait (one
// that does not go out whole ends the program).

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/io_ping_pong/workload.h"

namespace {

class bare_epoll {
 public:
  explicit bare_epoll(unsigned /*workers*/) : epoll_{epoll_create1(EPOLL_CLOEXEC)} {}

  void echo(bench::transport /*over*/, const std::vector<int>& sockets) {
    std::vector<connection> all(sockets.size());
    for (std::size_t n = 0; n < all.size(); ++n) {
      all[n].socket = sockets[n];
      epoll_event edges{};
      edges.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
      edges.data.ptr = &all[n];
      if (epoll_ctl(epoll_, EPOLL_CTL_ADD, sockets[n], &edges) != 0) std::exit((std::perror("epoll_ctl"), 1));
    }
    std::array<epoll_event, 128> events;
    for (left_ = all.size(); left_ > 0;) {
      const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int n = 0; n < ready; ++n) {
        const epoll_event& edge = events[static_cast<std::size_t>(n)];
        // The end of the stream has no edge of its own if it came together with a message.
        while (answer(*static_cast<connection*>(edge.data.ptr)) && (edge.events & EPOLLRDHUP) != 0) {
        }
      }
    }
  }

 private:
  struct connection {
    int socket;
    std::array<char, bench::read_buffer_bytes> buffer;
  };

  /// Gives whether there was something to read.
  bool answer(connection& on) {
    const ssize_t got = recv(on.socket, on.buffer.data(), on.buffer.size(), 0);
    if (got > 0) {
      // The client has gone if this fails, which the next edge tells.
      const ssize_t sent = send(on.socket, on.buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
      if (sent >= 0 && sent != got) std::exit((std::fprintf(stderr, "an echo does not fit into the socket\n"), 1));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      close(on.socket);
      --left_;
    }
    return got > 0;
  }

  int epoll_;
  std::size_t left_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::ping_pong<bare_epoll>({argc, argv, "bare_epoll"});
}
