#pragma once
/// What all of these programs do around their server.

#include <sys/resource.h>
#include <tartan/core/runtime.h>
#include <tartan/io/signal_set.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>

#include "colorings/common/settings.h"

namespace colorings {

/// A descriptor for each client: as many as the system lets this process have.
inline void allow_descriptors() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

/// Server: made of the runtime and settings; has accept_next(), which is called in its color `door`, address() and counts_clients.
template <class Server>
int run_server(int argc, const char* const* argv, const char* program) {
  int status = 0;
  try {
    const std::optional<settings> with = read_settings(argc, argv, program, Server::counts_clients, status);
    if (!with) return status;
    allow_descriptors();
    tartan::options options;
    options.workers = with->workers;
    options.blocking_queue = 1 << 20;  // more than there are clients: each reads a file at most
    tartan::runtime rt{options};
    Server server{rt, *with};
    rt.stop_on({SIGINT, SIGTERM});
    rt.post(Server::door, [&server] { server.accept_next(); });
    std::printf("%s: %s on http://%s with %u worker%s; Ctrl-C ends it\n", program, with->root.c_str(), server.address().to_string().c_str(), rt.workers(),
                rt.workers() == 1 ? "" : "s");
    std::fflush(stdout);
    return rt.run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return 2;
  }
}

}  // namespace colorings
