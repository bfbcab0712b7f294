#pragma once
/// When workers run, sleep and leave: run, stop, drain, and the loop around a policy.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <source_location>
#include <tartan/core/runtime.h>
#include <thread>
#include <vector>

#include "core/memory.h"
#include "core/sleep/sleep_control.h"

namespace tartan::detail {

class cpu_follower;
class fork_guard;
class outside_descriptor;

/// Starts, pauses and ends the workers of one runtime.
class lifecycle final : public sleep_control {
 public:
  explicit lifecycle(runtime_state& rt);
  lifecycle(const lifecycle&) = delete;
  lifecycle& operator=(const lifecycle&) = delete;
  ~lifecycle();

  /// Ends all workers. Threads: while no thread runs the runtime.
  void end() noexcept;

  // For the public class. Threads: one at a time, never from an event.
  int run(std::source_location site);
  void run_until_idle(std::source_location site);
  std::uint64_t run_for(std::uint64_t duration_ns, std::source_location site);
  drained drain(std::uint64_t within_ns, std::source_location site);
  [[nodiscard]] std::vector<waiting_coroutine> waiting(std::source_location site);
  /// Threads: as above; what it opens is told to all others by outside_open_.
  int descriptor();

  /// Threads: any. Async-signal-safe.
  void stop() noexcept;

  /// runtime::shutdown. Threads: any. Async-signal-safe.
  void shut_down(std::uint64_t within_ns) noexcept;

  /// Blocks these signals, besides those of earlier calls, in the threads of all workers but 0, also of those that are started later.
  /// Returns when it is done.
  ///
  /// Threads: as a run, which it is instead of.
  void block_signals(const sigset_t& these, std::source_location site);

  /// Ends an entry. Threads: who is in run or drain.
  void leave() noexcept { occupied_.store(false, std::memory_order_release); }  // pairs with enter

  // Workers that come and go: lifecycle_workers.cpp
  /// runtime::set_workers. Threads: any, but for a signal handler.
  void set_workers(unsigned wanted);

  /// The poller has got a source of readiness: workers that sleep go to sleep in it. Threads: any.
  void source_changed() noexcept;

 private:
  friend struct lifecycle_probe;  // a test's

  using until = run_control::until;
  static constexpr std::uint64_t finished = run_word<real_memory>::finished;

  void start_workers();
  void call_up();
  void start_thread(unsigned index);
  void dismiss() noexcept;
  [[nodiscard]] bool resign(worker& w) noexcept;
  [[nodiscard]] bool has_threads() const noexcept;
  void call_hook(const std::function<void(unsigned)>& hook);
  void call_beside(const std::function<void(unsigned)>& hook, worker& w) noexcept;
  void worker_thread(worker& w) noexcept;
  void await_all_asleep() noexcept;
  void follow_signals(worker& w) noexcept;
  void work(until what, std::uint64_t limit_ns);
  // Shutting down: lifecycle_shutdown.cpp
  void work_or_shut_down(until what, std::uint64_t limit_ns);
  [[nodiscard]] bool is_to_shut_down() const noexcept;
  void shut_doors() noexcept;
  [[nodiscard]] bool nothing_left() noexcept override;
  [[nodiscard]] bool enter(std::source_location site);
  void pause() noexcept;
  void bind(const worker& w) noexcept;
  void cancel_waits() noexcept;
  [[nodiscard]] std::chrono::steady_clock::time_point real_deadline(std::uint64_t until_ns) const noexcept;
  std::size_t await_blocking(std::uint64_t until_ns) noexcept;
  [[noreturn]] void report_stuck_jobs() noexcept;
  void mark_forked() noexcept;
  drained finish_off(std::uint64_t within_ns);
  std::size_t destroy_rest() noexcept;
  void note_coroutines() noexcept;
  void tell_destroyed(const drained& outcome);
  void show_outside() noexcept;
  void show_source_outside() noexcept;
  void hide_source_outside() noexcept;

  sigset_t signals_of_workers_{};     ///< that are blocked in the thread of the first run, and so in theirs
  std::vector<std::thread> threads_;  ///< by worker; the first is none. Changed under threads_lock_, while called_up_
  std::mutex threads_lock_;           ///< guards called_up_, and that a worker is too many until it has left
  bool called_up_ = false;            ///< there is a run: workers may come and go
  std::unique_ptr<cpu_follower> follower_;
  std::unique_ptr<outside_descriptor> outside_;
  std::unique_ptr<fork_guard> fork_guard_;

  sigset_t to_block_{};
  /// By when a shutdown stops, by the runtime's clock; the earliest of all calls. pairs with is_to_shut_down()
  real_memory::atomic<std::uint64_t> shut_by_ns_{never_ns};
  /// Somebody is in run or drain. leave() pairs with enter()
  real_memory::atomic<bool> occupied_{false};
  std::uint64_t shutting_by_ns_ = 0;            ///< worker 0's: the time that the shutdown goes by; 0: its doors are open
  bool zero_started_ = false;                   ///< worker 0's: its hook was called
};

}  // namespace tartan::detail
