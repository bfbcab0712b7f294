// How much processor time a runtime takes that has nothing to do for 10 s but to wait for a timer.
// The number is not that of a runtime that has just worked: it is let fall asleep first.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <tartan/core/runtime.h>
#include <tartan/time/post_after.h>

#include "bench/harness/process.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  if (argc != 2) return 2;
  tartan::options with;
  with.workers = static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10));
  tartan::runtime rt{with};
  tartan::post_after(rt, 1h, [] {});
  rt.run_for(1s);
  const bench::process_usage before = bench::process_usage::now();
  rt.run_for(10s);
  const double cpu_ms = bench::process_usage::now().since(before).cpu_s() * 1e3;
  std::printf("{\"question\": \"idle\", \"contender\": \"tartan_idle\", \"workers\": %u, \"cpu_ms\": %.3f}\n", rt.workers(), cpu_ms);
  return 0;
}
