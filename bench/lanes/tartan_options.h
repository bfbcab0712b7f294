#pragma once
// What all of Tartan's benchmarks are started with.

#include <cstdlib>
#include <string_view>
#include <tartan/core/options.h>

namespace bench {

/// Which scheduler it is, and whether workers are bound to CPUs, the environment says: TARTAN_SCHEDULER, and TARTAN_BENCH_BIND=1, which is ours.
[[nodiscard]] inline tartan::options tartan_options(unsigned workers) {
  const char* const bind = std::getenv("TARTAN_BENCH_BIND");
  tartan::options with;
  with.workers = workers;
  with.bind_workers = bind != nullptr && std::string_view{bind} == "1";
  return with;
}

}  // namespace bench
