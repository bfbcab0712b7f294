// A signal handler may do little more than write a byte; so it does that, into a pair of sockets whose other end is a stream.
#include "stop_signal.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace web {

namespace {

volatile std::sig_atomic_t handler_end = -1;
volatile std::sig_atomic_t signals = 0;

extern "C" void on_stop_signal(int number) {
  const int saved = errno;
  if (signals != 0) ::_exit(128 + number);
  signals = 1;
  [[maybe_unused]] const auto written = ::write(handler_end, "!", 1);
  errno = saved;
}

}  // namespace

stop_signal::stop_signal(tartan::runtime& rt) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    throw std::system_error{errno, std::system_category(), "no socket for signals"};
  }
  auto made = tartan::tcp::stream::from_fd(rt, ends[0], tartan::color{});
  if (!made) throw std::system_error{made.error(), "no stream for signals"};
  received_ = std::move(*made);
  handler_end = ends[1];
  struct sigaction action {};
  action.sa_handler = &on_stop_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

tartan::task<> stop_signal::wait() {
  std::array<std::byte, 1> byte;
  static_cast<void>(co_await received_.read_some(byte));
}

}  // namespace web
