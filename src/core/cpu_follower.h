#pragma once
/// Keeps as many workers as the process may use CPUs.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace tartan::detail {

class lifecycle;

/// A thread that counts the CPUs once a second, and sets the number of workers when that has changed: options.follow_cpus.
///
/// Cost: some system calls a second, on a thread that sleeps otherwise.
class cpu_follower {
 public:
  static constexpr std::chrono::seconds period{1};

  /// Of that runtime. Errors: std::system_error.
  explicit cpu_follower(lifecycle& life);
  cpu_follower(const cpu_follower&) = delete;
  cpu_follower& operator=(const cpu_follower&) = delete;
  ~cpu_follower();

  /// What the looks before have led to.
  struct state {
    unsigned workers = 0;  ///< that were set
    unsigned told = 0;     ///< for how many it was said that there are no threads
  };
  /// One look, by these numbers of CPUs and of workers at most: sets the workers if the first has changed. Where threads cannot be started, says so once
  /// and asks again next time. Tests call it.
  static void look(unsigned cpus, unsigned most, state& last, const std::function<void(unsigned)>& set_workers);

 private:
  void watch();

  lifecycle& life_;
  std::mutex lock_;  // guards stopping_
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tartan::detail
