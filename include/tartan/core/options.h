#pragma once
/// How a runtime is set up.

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <tartan/core/color.h>
#include <tartan/core/drained.h>

namespace tartan {

/// An exception that left an event, and where the event came from.
struct escaped_exception {
  std::exception_ptr exception;
  color in;
  std::string name;  ///< of the color, if it has one
  std::source_location post_site;
};

/// A handler that has been running for too long.
struct stalled_handler {
  unsigned worker = 0;
  color in;
  std::string name;  ///< of the color, if it has one
  std::source_location post_site;
  std::chrono::nanoseconds running_for{};
  std::size_t colors_waiting = 0;  ///< colors that wait for the worker meanwhile; one posted to by others while it runs or waits counts once more
};

namespace detail {
class poller;
}

/// Settings of a runtime; all have a default that suits a server.
struct options {
  /// Number of workers; 0: as many as CPUs that the process may use (affinity and cgroup quota, rounded up). Limit: 1024.
  unsigned workers = 0;

  /// So many workers at most, for runtime::set_workers(); 0: as many as `workers`, or with follow_cpus as many as the machine has CPUs. Each that is not
  /// there costs some KB. Only the default scheduler, with stealing, changes their number. Limit: 1024.
  unsigned max_workers = 0;

  /// The number of workers is that of the CPUs that the process may use, up to max_workers, whatever `workers` says: a thread of its own looks once a
  /// second whether the affinity or the cgroup's quota has changed.
  bool follow_cpus = false;

  /// Binds each worker to one of the CPUs of the process's affinity mask; the thread of the first run stays bound.
  bool bind_workers = false;

  /// Runs the default color on worker 0 only, the thread that called run(): for thread-affine libraries.
  bool pin_default_color = false;

  /// The program ignores SIGPIPE (SIG_IGN), from before the first run until the runtime is gone. Then what keeps the signal away from the program is left
  /// out of each write to a pipe and each sendfile of send_file: two system calls, three where only a part went. If that is not true, such a call raises the
  /// signal, which by default ends the program; without this option none does. Other writes to sockets raise none either way, and pay nothing for it.
  bool pipe_signal_ignored = false;

  /// Events of one color that a worker runs, at most, before it looks at other colors: 16, and beyond that those that were there when the
  /// color's turn began, for 0.5 ms and what the 16 under way then take. The papers' schedulers have their own rules. Limit: 1 to 65536.
  unsigned batch = 256;

  /// Priority of looking outside for readiness and timers, which a worker does every 64 events, or sooner (hints.h). While a color waits on
  /// it whose priority is higher, it looks one time in 16. At 3 and above nothing goes before it.
  unsigned poll_priority = 3;

  /// Lets idle workers take colors from busy ones. Off: only for measurements; contract 7 does not hold then.
  bool stealing = true;

  /// Which scheduler: "default", or one of the papers', which are there to be compared with: "serial", "shared_queue", "per_worker",
  /// "color_queues", each perhaps with flags behind a colon ("color_queues:base"). Empty: what the environment variable TARTAN_SCHEDULER
  /// says, or the default. Theirs keep promises 1 to 5 of the contract, and neither its fairness nor its costs; "serial" has one worker.
  /// docs/design/paper-schedulers.md tells them apart, and lists the flags. "shared_queue:most-frequent" takes the color with the most waiting
  /// events first; "color_queues:measured-penalty" measures penalties instead of looking at hints::penalty. With "shared_queue:select" and
  /// "per_worker:select" descriptors are waited for by select() instead of epoll: they need numbers below FD_SETSIZE, 1024, or are refused with
  /// EMFILE.
  std::string scheduler{};

  /// Threads that run blocking jobs, at most; started when needed.
  unsigned blocking_threads = 16;

  /// Blocking jobs that wait for a thread, at most; beyond it a callback gets errc::busy and a coroutine waits.
  std::size_t blocking_queue = 1024;

  /// Time that run() gives what is left after stop(), before it is destroyed.
  std::chrono::nanoseconds drain_within = std::chrono::seconds{10};

  /// Gets what run() had to destroy, on the thread that called run(), before run() returns 1. Empty: one line on stderr. A function that
  /// does nothing keeps run() silent. drain() returns the same and reports nothing.
  std::function<void(const drained&)> on_destroyed{};

  /// run_until_idle() that returns while coroutines wait says on stderr what each of them waits for, one line for those that were spawned
  /// at one place and wait for the same. For programs whose coroutines should all have ended by then.
  bool report_waiting = false;

  /// A handler that runs longer is reported; zero: never.
  std::chrono::nanoseconds stall_after = std::chrono::milliseconds{250};

  /// Gets the reports of stalled handlers, on a thread of the runtime's; empty: one line on stderr each.
  std::function<void(const stalled_handler&)> on_stall{};

  /// Gets an exception that left an event, in the event's color and on its worker. If it returns, just that event is
  /// destroyed and the runtime goes on. Empty: the program ends with color and post site in the message.
  std::function<void(const escaped_exception&)> on_exception{};

  /// Called on each worker's thread with its number, before its first event and after its last one. For worker 0 that is the thread
  /// of the first run, and the thread that destroys the runtime. They are no events, but stand on their worker: tartan::post posts
  /// into its runtime, at the end in vain. What on_worker_start(0) throws reaches the caller of the run, and the next run calls it again;
  /// what the others throw ends the program.
  std::function<void(unsigned)> on_worker_start{};
  std::function<void(unsigned)> on_worker_stop{};

  /// The source of time and of sleep; null: the real one. For tests: see tests/virtual_time.h.
  detail::poller* poller = nullptr;
};

}  // namespace tartan
