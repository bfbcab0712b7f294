#pragma once
// Which CPUs a run may use, and who gets which.

#include <cstdio>
#include <cstdlib>
#include <sched.h>

namespace bench {

/// Parts a server from its client, if there are CPUs for both: the client gets the last one, the server the others. Else both share
/// all, as the kernel sees fit.
class processors {
 public:
  explicit processors(unsigned workers) {
    CPU_ZERO(&all_);
    if (sched_getaffinity(0, sizeof all_, &all_) != 0) std::exit((std::perror("sched_getaffinity"), 1));
    parted_ = workers < static_cast<unsigned>(CPU_COUNT(&all_));
    for (int n = 0; n < CPU_SETSIZE; ++n) {
      if (CPU_ISSET(n, &all_)) last_ = n;
    }
  }

  /// Whether the client has a CPU of its own, so that it may spin.
  [[nodiscard]] bool parted() const { return parted_; }

  /// Binds the calling thread and those that it will start.
  void bind_client() const {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(last_, &only);
    if (parted_) bind(only);
  }
  void bind_server() const {
    cpu_set_t others = all_;
    CPU_CLR(last_, &others);
    if (parted_) bind(others);
  }

 private:
  static void bind(const cpu_set_t& to) {
    if (sched_setaffinity(0, sizeof to, &to) != 0) std::exit((std::perror("sched_setaffinity"), 1));
  }

  cpu_set_t all_;
  int last_ = 0;
  bool parted_ = false;
};

}  // namespace bench
