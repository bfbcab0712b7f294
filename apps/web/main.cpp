// tartan-web: a static web server.
#include <sys/resource.h>
#include <tartan/core/spawn.h>
#include <tartan/io/signal_set.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "server.h"
#include "settings.h"

namespace {

/// Each connection needs a descriptor, and what the system gives by default is made for programs that use select().
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
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

int serve(const web::settings& with) {
  raise_descriptor_limit();
  tartan::options options;
  options.workers = with.workers;
  tartan::runtime rt{options};
  web::server server{rt, with};
  tartan::signal_set signals{rt, {SIGINT, SIGTERM}};
  std::printf("tartan-web: %s on http://%s with %u worker%s (epoll); Ctrl-C ends it\n", with.root.c_str(),
              server.address().to_string().c_str(), rt.workers(), rt.workers() == 1 ? "" : "s");
  std::fflush(stdout);
  rt.spawn(server.run());
  rt.spawn(end_on(signals, server, rt));
  return rt.run();
}

}  // namespace

int main(int argc, char** argv) {
  const web::command_line command = web::read_command_line(argc, argv);
  if (!command.serve) return command.exit_status;
  try {
    return serve(command.what);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tartan-web: %s\n", e.what());
    return 2;
  }
}
