// tartan-web: a static web server.
#include <sys/resource.h>
#include <tartan/core/spawn.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "server.h"
#include "settings.h"
#include "stop_signal.h"

namespace {

/// Each connection needs a descriptor, and what the system gives by default is made for programs that use select().
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

tartan::task<> end_on(web::stop_signal& stop, web::server& server, tartan::runtime& rt) {
  co_await stop.wait();
  co_await server.drain();
  rt.stop();
}

int serve(const web::settings& with) {
  raise_descriptor_limit();
  std::signal(SIGPIPE, SIG_IGN);
  tartan::options options;
  options.workers = with.workers;
  tartan::runtime rt{options};
  web::server server{rt, with};
  web::stop_signal stop{rt};
  std::printf("tartan-web: %s on http://%s with %u worker%s (epoll); Ctrl-C ends it\n", with.root.c_str(),
              server.address().to_string().c_str(), rt.workers(), rt.workers() == 1 ? "" : "s");
  std::fflush(stdout);
  rt.spawn(server.run());
  rt.spawn(end_on(stop, server, rt));
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
