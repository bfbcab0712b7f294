#pragma once
// Processor time of other processes, from outside and in ns.

#include <cstdint>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bench {

/// The process and its children, as they are now: a server may have workers of its own.
[[nodiscard]] inline std::vector<pid_t> family_of(pid_t process) {
  std::vector<pid_t> all{process};
  for (std::size_t n = 0; n < all.size(); ++n) {
    const std::string id = std::to_string(all[n]);
    std::ifstream children{"/proc/" + id + "/task/" + id + "/children"};
    for (pid_t child = 0; children >> child;) all.push_back(child);
  }
  return all;
}

/// User and system time together; throws if one is gone. A thread that runs on another CPU is counted up to its last timer tick.
[[nodiscard]] inline std::uint64_t cpu_ns_of(const std::vector<pid_t>& processes) {
  std::uint64_t sum = 0;
  for (const pid_t process : processes) {
    clockid_t clock{};
    timespec t{};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &t) != 0) {
      throw std::runtime_error{"no CPU clock of process " + std::to_string(process)};
    }
    sum += static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
  }
  return sum;
}

}  // namespace bench
