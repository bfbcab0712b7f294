// H1 by an epoll loop that answers whatever comes with bytes prepared before, and parses nothing: the floor.
// The number is not a web server's: a request in two pieces would be answered twice.

#include <array>
#include <cerrno>
#include <sys/epoll.h>

#include "bench/io_h1/workload.h"

namespace {

void check(int result, const char* call) {
  if (result < 0) std::exit((std::perror(call), 1));
}

/// As many bytes as a real server sends.
std::string prepared() {
  return "HTTP/1.1 200 OK\r\nServer: floor\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: " + std::to_string(bench::page_bytes) +
         "\r\nLast-Modified: Sat, 21 Nov 2026 12:00:00 GMT\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\n\r\n" + bench::page_text();
}

void add(int epoll, int descriptor) {
  epoll_event edges{};
  edges.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
  edges.data.fd = descriptor;
  check(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &edges), "epoll_ctl");
}

void accept_all(int epoll, int door) {
  const int on = 1;
  for (int peer = 0; (peer = accept4(door, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    add(epoll, peer);
  }
}

void answer(int peer, const std::string& with) {
  std::array<char, 4096> buffer;
  const ssize_t got = recv(peer, buffer.data(), buffer.size(), 0);
  if (got > 0) {
    const ssize_t sent = send(peer, with.data(), with.size(), MSG_NOSIGNAL);
    if (sent >= 0 && static_cast<std::size_t>(sent) != with.size()) std::exit((std::fprintf(stderr, "an answer does not fit\n"), 1));
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    close(peer);
  }
}

void serve(std::uint16_t port) {
  const std::string with = prepared();
  const sockaddr_in at = bench::loopback(port);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const int door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  check(bind(door, reinterpret_cast<const sockaddr*>(&at), sizeof at), "bind");
  check(listen(door, SOMAXCONN), "listen");
  add(epoll, door);
  std::array<epoll_event, 128> events;
  for (;;) {
    const int ready = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int n = 0; n < ready; ++n) {
      const int which = events[static_cast<std::size_t>(n)].data.fd;
      if (which == door) {
        accept_all(epoll, door);
      } else {
        answer(which, with);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::web_server({argc, argv, "prepared_bytes"}, [](const bench::web_folder&, std::uint16_t port) { serve(port); });
}
