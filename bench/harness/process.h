#pragma once
// What the kernel says about this process.

#include <cstddef>
#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

namespace bench {

/// Processor time and context switches of the whole process, since it began or between two looks.
struct process_usage {
  double user_s = 0;
  double system_s = 0;
  double voluntary_switches = 0;
  double involuntary_switches = 0;

  [[nodiscard]] static process_usage now() {
    rusage r{};
    getrusage(RUSAGE_SELF, &r);
    return from(r);
  }
  [[nodiscard]] static process_usage from(const rusage& r) {
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return {seconds(r.ru_utime), seconds(r.ru_stime), static_cast<double>(r.ru_nvcsw),
            static_cast<double>(r.ru_nivcsw)};
  }
  [[nodiscard]] process_usage since(const process_usage& before) const {
    return {user_s - before.user_s, system_s - before.system_s, voluntary_switches - before.voluntary_switches,
            involuntary_switches - before.involuntary_switches};
  }
  [[nodiscard]] double cpu_s() const { return user_s + system_s; }
};

[[nodiscard]] inline std::size_t resident_bytes() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::FILE* statm = std::fopen("/proc/self/statm", "re");
  if (statm == nullptr || std::fscanf(statm, "%zu %zu", &total, &resident) != 2) resident = 0;
  if (statm != nullptr) std::fclose(statm);
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace bench
