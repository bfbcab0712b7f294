#pragma once
/// Who blocks a worker, and where its event was posted.

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <tartan/core/options.h>
#include <vector>

#include "core/cpus.h"
#include "core/memory.h"

namespace tartan::detail {

class runtime_state;

/// What the watch sees of the workers. All of it may be a little old, none of it may cost a worker more than plain stores.
///
/// Threads: called by the watch's, while workers run.
class stall_probe {
 public:
  stall_probe() = default;
  stall_probe(const stall_probe&) = delete;
  stall_probe& operator=(const stall_probe&) = delete;
  virtual ~stall_probe() = default;

  [[nodiscard]] virtual unsigned workers() const noexcept = 0;

  /// A number that changes with every event of the worker.
  [[nodiscard]] virtual std::uint64_t events(unsigned worker) const noexcept = 0;

  /// Tells which event the worker runs: color, post site, colors that wait. False if it is in none.
  [[nodiscard]] virtual bool snapshot(unsigned worker, stalled_handler& into) const noexcept = 0;

  /// The name of a color, for a report; empty if it has none.
  [[nodiscard]] virtual std::string name_of(color c) const = 0;

  /// Whether any worker may be running a handler. Looked at after a heavy barrier; pairs with stall_watch::notice_awake.
  [[nodiscard]] virtual bool anybody_awake() const noexcept = 0;
};

/// What a watch is made from.
struct stall_setup {
  std::chrono::nanoseconds stall_after{};                ///< a handler that runs longer is reported; zero: never
  std::function<void(const stalled_handler&)> on_stall;  ///< empty: one line on stderr
  cpu_mask unbound;  ///< where its thread may run if workers get bound; empty: where its starter runs
  int (*create_thread)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = &::pthread_create;
};

/// A thread that looks at the workers four times per `stall_after` and reports each handler that runs longer, once.
///
/// It asks one plain store per event of the workers: they count their turns anyway, and show how many events of a turn are left. A number made
/// of both that stands still is a stall. While all workers sleep it sleeps too, without a time limit.
class stall_watch {
 public:
  /// Watches the workers of a runtime, as its options say; does not start yet.
  explicit stall_watch(runtime_state& rt);
  stall_watch(const stall_probe& probe, stall_setup with);
  stall_watch(const stall_watch&) = delete;
  stall_watch& operator=(const stall_watch&) = delete;
  ~stall_watch() { stop(); }

  /// Starts the thread, if stall_after is not zero and it does not run yet.
  ///
  /// Errors: std::system_error.
  void start();

  /// Ends the thread. While on_stall runs, waits for it.
  void stop() noexcept;

  /// To be called by a worker whose rest has ended, after it is counted as awake, and by one that enters run().
  ///
  /// Cost: one relaxed load; the first one after a long idle phase wakes the watch.
  void notice_awake() noexcept {
    real_memory::light_barrier();  // pairs with park()'s heavy one: the watch sees us awake, or we see it parked
    if (parked_.load(std::memory_order_relaxed)) unpark();
  }

  /// One look at all workers, at this time of a monotonic clock. Gives whether there is reason to look again after a
  /// period; false once nobody has been awake for a whole `stall_after`. The thread calls nothing else; tests call it with times of their own.
  bool look(std::uint64_t now_ns);

  [[nodiscard]] std::chrono::nanoseconds period() const noexcept { return period_; }

 private:
  /// What was seen of a worker at the last look.
  struct sight {
    std::uint64_t events = 0;
    std::uint64_t since_ns = 0;  // when this handler was seen first
    bool known = false;          // a handler ran at the last look
    bool reported = false;
  };

  stall_watch(std::unique_ptr<stall_probe> probe, stall_setup with);
  bool look_at(unsigned worker, std::uint64_t now_ns);
  void report(unsigned worker, stalled_handler what);
  void watch() noexcept;
  void park(std::unique_lock<std::mutex>& held);
  void unpark() noexcept;

  const std::unique_ptr<stall_probe> own_probe_;  // null in tests
  const stall_probe& probe_;
  const stall_setup setup_;
  const std::chrono::nanoseconds period_;
  std::vector<sight> seen_;
  unsigned quiet_looks_ = 0;

  real_memory::atomic<bool> parked_{false};
  std::mutex lock_;  // guards stopping_, and parked_'s changes
  std::condition_variable wake_;
  bool stopping_ = false;
  bool started_ = false;
  pthread_t thread_{};
};

/// `a handler on worker 1 has been running for 312 ms: color 7 "page cache", posted at ...; 12 colors wait`
[[nodiscard]] std::string stall_text(const stalled_handler& what);

}  // namespace tartan::detail
