#pragma once
/// How many CPUs the process may use, and which.

#include <sched.h>

#include <string>
#include <system_error>
#include <vector>

namespace tartan::detail {

/// The system calls that tell about and change affinity; a test puts failing ones here.
struct affinity_calls {
  int (*get)(pid_t, std::size_t, cpu_set_t*) = &::sched_getaffinity;
  int (*set)(pid_t, std::size_t, const cpu_set_t*) = &::sched_setaffinity;
};

/// The numbers of the CPUs that a thread may run on, ascending.
///
/// To be read before workers bind themselves: a thread started by a bound one is bound as well.
class cpu_mask {
 public:
  cpu_mask() = default;

  /// What the calling thread may use; empty if the system does not tell.
  [[nodiscard]] static cpu_mask of_this_thread(const affinity_calls& calls = {});

  [[nodiscard]] unsigned count() const noexcept { return static_cast<unsigned>(cpus_.size()); }
  [[nodiscard]] const std::vector<unsigned>& cpus() const noexcept { return cpus_; }

  /// Where so many workers are if each is bound (bind_to_cpu); 0, 1, 2 ... if the mask is empty. Errors: std::bad_alloc.
  [[nodiscard]] std::vector<unsigned> in_turn(unsigned workers) const;

 private:
  std::vector<unsigned> cpus_;
};

/// Binds the calling thread to the n-th CPU of the mask, counted round; an empty mask binds nothing.
///
/// Errors: what the system says; the thread then runs where it did.
[[nodiscard]] std::error_code bind_to_cpu(const cpu_mask& mask, unsigned nth, const affinity_calls& calls = {});

/// Lets the calling thread run on every CPU of the mask: undoes bind_to_cpu, and what a new thread inherited.
[[nodiscard]] std::error_code bind_to_all(const cpu_mask& mask, const affinity_calls& calls = {});

/// Where usable_cpus looks.
struct cpu_sources {
  std::string root;  ///< put before /proc and before the mount points that it names
  affinity_calls affinity;
};

/// The CPUs that the process may use: its affinity mask, cut to its cgroup's quota rounded up; at least 1.
///
/// What cannot be read does not limit: an unreadable quota is no quota.
[[nodiscard]] unsigned usable_cpus(const cpu_sources& from = {});

/// The CPUs of the machine, also those that are offline or not the process's; at least 1.
[[nodiscard]] unsigned all_cpus() noexcept;

}  // namespace tartan::detail
