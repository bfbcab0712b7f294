// tartan-web: a static web server.
#include <fcntl.h>
#include <sys/resource.h>
#include <tartan/core/spawn.h>
#include <tartan/io/signal_set.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "one_line.h"
#include "server.h"
#include "settings.h"

namespace {

/// Each connection needs a descriptor, and what the system gives by default is made for programs that use select(). A quarter is left
/// for files that are read or sent, one for each file, however many want it. If that is not enough, pages in memory are served on, other
/// files are answered with 503, and who connects waits.
std::size_t most_connections(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t possible = std::max<std::size_t>(1, limit.rlim_cur - limit.rlim_cur / 4);
  if (wanted <= possible) return wanted;
  std::fprintf(stderr, "tartan-web: %zu connections at a time instead of %zu: this process may open %zu files (ulimit -n)\n", possible,
               wanted, static_cast<std::size_t>(limit.rlim_cur));
  return possible;
}

/// If they are closed, whatever is opened next gets their numbers, and then messages that were meant for somebody else.
void fill_standard_descriptors() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) opened = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (opened >= 0) ::close(opened);
}

tartan::task<> drain(web::server& server, tartan::runtime& rt) {
  co_await server.drain();
  rt.stop();
}

/// The first signal lets requests in progress end, the second one nothing. runtime::stop_on would be too much: it cancels what waits,
/// responses that are being written among it.
tartan::task<> end_on(tartan::signal_set& signals, web::server& server, tartan::runtime& rt) {
  if (!co_await signals.next()) co_return;
  tartan::spawn(drain(server, rt));
  if (const tartan::result<int> second = co_await signals.next()) std::_Exit(128 + *second);
}

int serve(web::settings with) {
  with.max_connections = most_connections(with.max_connections);
  tartan::options options;
  options.workers = with.workers;
  tartan::runtime rt{options};
  web::server server{rt, with};
  tartan::signal_set signals{rt, {SIGINT, SIGTERM}};
  // epoll: the library's only poller for real sockets.
  std::printf("tartan-web: %s on http://%s with %u worker%s (epoll); Ctrl-C ends it\n", web::one_line(with.root).c_str(),
              server.address().to_string().c_str(), rt.workers(), rt.workers() == 1 ? "" : "s");
  std::fflush(stdout);
  rt.spawn(server.run());
  rt.spawn(end_on(signals, server, rt));
  return rt.run();
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  const web::command_line command = web::read_command_line(argc, argv);
  if (!command.serve) return command.exit_status;
  try {
    return serve(command.what);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tartan-web: %s\n", web::one_line(e.what()).c_str());
    return 2;
  }
}
