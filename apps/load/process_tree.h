#pragma once
/// What the system says about the server under load.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace load {

/// What some processes have used so far.
struct tree_usage {
  struct times {
    double cpu_s = 0;     ///< exact; of those it has started that have ended, and were waited for, in the clock's ticks
    double user_ticks = 0;
    double system_ticks = 0;
  };
  std::map<pid_t, times> by_process;
  [[nodiscard]] times sum() const;

  std::map<pid_t, std::uint64_t> involuntary_switches;  ///< by thread
  std::vector<pid_t> processes;
  std::vector<pid_t> ended_roots;
};

/// Between two looks.
struct used_between {
  double cpu_s = 0;
  double user_s = 0;    ///< the CPU time, divided as the clock's ticks were
  double system_s = 0;
  std::uint64_t involuntary_switches = 0;  ///< of threads that are there at the end
  std::uint64_t ended_roots = 0;           ///< whose part is missing
};
[[nodiscard]] used_between between(const tree_usage& before, const tree_usage& after);

struct tree_memory {
  std::uint64_t rss_kb = 0;
  std::uint64_t pss_kb = 0;  ///< pages that several processes share are divided among them
};

/// Some processes, and all that they have started, as far as those have not been given to another parent. Never this process.
class process_tree {
 public:
  explicit process_tree(std::vector<pid_t> roots) : roots_{std::move(roots)} {}

  [[nodiscard]] bool empty() const noexcept { return roots_.empty(); }
  /// One of them that is not there, or has ended without being waited for; 0: all are.
  [[nodiscard]] pid_t missing() const;

  /// Who there is, and everything but their CPU time: takes milliseconds where there are many.
  [[nodiscard]] tree_usage look() const;
  /// Adds that, quickly.
  static void add_times(tree_usage& to);
  /// Adds to processes with their times what a look finds now, and the times of those that it did not have.
  void add_others(tree_usage& to) const;
  [[nodiscard]] tree_memory memory() const;

 private:
  /// Without this process, and what it has started.
  [[nodiscard]] std::vector<pid_t> all() const;

  std::vector<pid_t> roots_;
};

}  // namespace load
