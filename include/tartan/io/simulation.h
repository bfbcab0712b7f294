#pragma once
/// A simulated machine for tests: a clock that jumps and sockets in memory, from one seed.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tartan/core/options.h>

namespace tartan {

namespace detail {
class simulated_world;
}

/// How the simulated network behaves.
struct simulation_options {
  /// Decides every latency, every part and every loss, and what modules draw at random (TLS, ids of DNS). The same seed and one worker: the same run.
  std::uint64_t seed = 1;
  /// What bytes, connections and ends of streams take to the peer; drawn anew for each, never overtaking within a stream.
  std::chrono::nanoseconds least_latency = std::chrono::microseconds{20};
  std::chrono::nanoseconds most_latency = std::chrono::microseconds{500};
  /// Bytes that a stream keeps between writer and reader.
  std::size_t stream_buffer = 64 * 1024;
  /// In percent: a read or write of a stream moves less than it could.
  unsigned partial_percent = 30;
  /// In percent: a write to a stream resets the connection instead.
  unsigned reset_percent = 0;
  /// In percent: a datagram is lost.
  unsigned loss_percent = 0;
  /// Descriptors open at a time; beyond it, EMFILE.
  std::size_t most_descriptors = 20'000;
  /// Real time. When no blocking job has begun or ended for so long, the next one begins, and the clock goes on: they may be waiting for each other, or
  /// for it.
  std::chrono::nanoseconds longest_job = std::chrono::seconds{10};
};

/// A world for one runtime at a time: give `with.poller = world.poller()` in its options, and the same program runs on it without a
/// changed line. Time stands still while a worker or a blocking job works, and jumps to whatever comes next when all sleep.
///
/// TCP, UDP, Unix sockets and pipes exist within it and reach nothing outside. Files and blocking jobs are real, and take no simulated
/// time: they run one after the other, in the order in which they were handed in, each while all workers sleep. Only what a job posts before its end
/// runs beside it. Signals, child processes and directories cannot be watched in it: ENOTSUP.
/// Threads: any.
/// Lifetime: must outlive the runtime.
class simulation {
 public:
  explicit simulation(const simulation_options& with = {});
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;
  ~simulation();

  [[nodiscard]] detail::poller* poller() noexcept;

  /// The simulated time since it began.
  [[nodiscard]] std::chrono::nanoseconds elapsed() noexcept;

  /// Sockets and pipes that are open.
  [[nodiscard]] std::size_t descriptors() noexcept;

 private:
  std::unique_ptr<detail::simulated_world> world_;
};

}  // namespace tartan
