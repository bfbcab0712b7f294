#pragma once
// Counts system calls of another process, and the wake-ups that it causes, by the kernel's tracepoints.

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <linux/perf_event.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bench {

/// Counts between begin() and end().
///
/// Counting slows the other process down: do not count while time is measured. Needs the privilege to trace and
/// /sys/kernel/tracing; without them works() is false.
class kernel_counts {
 public:
  /// The process must not have started threads yet; later threads are counted, too. Wake-ups of threads named `but` do
  /// not count.
  kernel_counts(pid_t process, const std::string& but) {
    const std::array<const char*, 2> names{"raw_syscalls/sys_enter", "sched/sched_wakeup"};
    for (std::size_t n = 0; n < names.size(); ++n) counters_[n] = open_one(process, names[n]);
    const std::string filter = "comm != \"" + but + "\"";
    if (counters_[1] >= 0 && ioctl(counters_[1], PERF_EVENT_IOC_SET_FILTER, filter.c_str()) != 0) close_all();
  }
  kernel_counts(const kernel_counts&) = delete;
  kernel_counts& operator=(const kernel_counts&) = delete;
  ~kernel_counts() { close_all(); }

  [[nodiscard]] bool works() const { return counters_[0] >= 0 && counters_[1] >= 0; }
  void begin() { all(PERF_EVENT_IOC_ENABLE); }
  void end() { all(PERF_EVENT_IOC_DISABLE); }
  [[nodiscard]] double system_calls() const { return read_one(counters_[0]); }
  [[nodiscard]] double wake_ups() const { return read_one(counters_[1]); }

 private:
  static int open_one(pid_t process, const std::string& name) {
    std::uint64_t id = 0;
    std::ifstream{"/sys/kernel/tracing/events/" + name + "/id"} >> id;
    if (id == 0) return -1;
    perf_event_attr what;
    std::memset(&what, 0, sizeof what);
    what.type = PERF_TYPE_TRACEPOINT;
    what.size = sizeof what;
    what.config = id;
    what.disabled = 1;
    what.inherit = 1;
    return static_cast<int>(syscall(SYS_perf_event_open, &what, process, -1, -1, PERF_FLAG_FD_CLOEXEC));
  }
  static double read_one(int counter) {
    std::uint64_t value = 0;
    return read(counter, &value, sizeof value) == static_cast<ssize_t>(sizeof value) ? static_cast<double>(value) : 0;
  }
  void all(unsigned long request) {
    for (const int each : counters_) ioctl(each, request, 0);
  }
  void close_all() {
    for (int& each : counters_) {
      if (each >= 0) close(each);
      each = -1;
    }
  }

  std::array<int, 2> counters_{-1, -1};
};

}  // namespace bench
