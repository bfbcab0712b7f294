#include "load/progress.h"

#include <tartan/time/interval.h>

#include <chrono>
#include <cstdio>

namespace load {

tartan::task<> show_progress(const injector& of) {
  tartan::interval every{std::chrono::seconds{1}};
  measure::glance before;
  for (unsigned long seconds = 0;;) {
    const tartan::result<std::uint64_t> ticks = co_await every.next();
    if (!ticks) co_return;
    seconds += *ticks;
    const measure::glance now = of.so_far();
    const auto per_s = [&ticks](std::uint64_t more) { return static_cast<double>(more) / static_cast<double>(*ticks); };
    std::fprintf(stderr, "%4lu s  %10.0f requests/s  %8.2f MB/s  %llu errors%s\n", seconds, per_s(now.answers - before.answers),
                 per_s(now.bytes - before.bytes) / 1e6, static_cast<unsigned long long>(now.errors), of.is_measuring() ? "" : "  (warming up)");
    before = now;
  }
}

}  // namespace load
