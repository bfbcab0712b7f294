#pragma once
/// What a runtime consists of; the public class holds one.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <source_location>
#include <span>
#include <string>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <tartan/core/options.h>
#include <tartan/core/runtime.h>
#include <unordered_map>
#include <vector>

#include "core/clockwork.h"
#include "core/cpus.h"
#include "core/destroyed_list.h"
#include "core/guest.h"
#include "core/line_pool.h"
#include "core/memory.h"
#include "core/sleep/poller.h"
#include "core/sched/papers/scheduler_choice.h"
#include "core/worker.h"

namespace tartan::detail {

class blocking_pool;
class descriptors;
class foreign_waits;
class frame_pool;
class root_registry;
class scheduler;
class lifecycle;
class sleep_control;
class stop_signals;
class work_view;

/// The parts of a runtime and how they find each other.
///
/// Lifetime: made by runtime, destroyed after the last worker thread was joined.
class runtime_state {
 public:
  explicit runtime_state(options with, std::source_location made_at);
  runtime_state(const runtime_state&) = delete;
  runtime_state& operator=(const runtime_state&) = delete;
  ~runtime_state();

  [[nodiscard]] const options& settings() const noexcept { return settings_; }
  /// Where the program has made it, for messages.
  [[nodiscard]] std::source_location made_at() const noexcept { return made_at_; }
  /// In the colors of its strands: see strand_color.
  [[nodiscard]] std::uint64_t strand_mark() const noexcept { return strand_mark_; }
  [[nodiscard]] const scheduler_choice& choice() const noexcept { return choice_; }
  /// As many as there may ever be.
  [[nodiscard]] unsigned workers() const noexcept { return most_workers_; }
  /// When the runtime is made.
  [[nodiscard]] unsigned first_workers() const noexcept { return workers_; }
  [[nodiscard]] scheduler& policy() noexcept { return *policy_; }
  /// The lifecycle, as far as workers search and sleep.
  [[nodiscard]] sleep_control& sleep() noexcept;
  /// The policy, as far as it ends sleeps.
  [[nodiscard]] work_view& work() noexcept;
  [[nodiscard]] const work_view& work() const noexcept { return const_cast<runtime_state&>(*this).work(); }
  /// Another policy from now on. Threads: whoever made the runtime, before it is used.
  void use(std::unique_ptr<scheduler> other) noexcept;
  /// The same for the pool of blocking threads.
  void use(std::unique_ptr<blocking_pool> other) noexcept;
  [[nodiscard]] lifecycle& life() noexcept { return *life_; }
  [[nodiscard]] blocking_pool& blocking() noexcept { return *blocking_; }
  [[nodiscard]] frame_pool& frames() noexcept { return *frames_; }
  [[nodiscard]] root_registry& roots() noexcept { return *roots_; }
  [[nodiscard]] foreign_waits& foreign() noexcept { return *foreign_; }
  [[nodiscard]] poller& clock() noexcept { return *poller_; }
  [[nodiscard]] std::uint64_t now_ns() noexcept { return poller_->now_ns(); }

  /// Whether stop() was called; then waits and timers complete as canceled.
  [[nodiscard]] bool stopping() const noexcept { return (phase_.load(std::memory_order_acquire) & stop_begun) != 0; }
  /// Whether stop() or shutdown() was called; then no new work is taken in.
  [[nodiscard]] bool closing() const noexcept { return phase_.load(std::memory_order_acquire) != 0; }
  /// Threads: any. Async-signal-safe.
  void begin_stop() noexcept { phase_.fetch_or(stop_begun, std::memory_order_release); }
  void begin_shutdown() noexcept { phase_.fetch_or(shutdown_begun, std::memory_order_release); }

  /// Where workers may run; read before any of them was bound.
  [[nodiscard]] const cpu_mask& cpus() const noexcept { return cpus_; }

  /// The number of the worker that the calling thread is; `workers()` for a foreign thread.
  [[nodiscard]] unsigned this_worker() const noexcept;
  /// The worker that the calling thread is; null for a foreign thread.
  [[nodiscard]] worker* worker_here() const noexcept {
    thread_context* const context = here;
    return context != nullptr && context->owner == this ? static_cast<worker*>(context) : nullptr;
  }
  [[nodiscard]] line_pool& events() noexcept { return events_; }
  [[nodiscard]] detail::guests& guests() noexcept { return guests_; }
  [[nodiscard]] destroyed_list& destroyed() noexcept { return destroyed_; }
  /// `within_ns`: of a shutdown; 0: a stop.
  void stop_on(std::initializer_list<int> signals, std::uint64_t within_ns);
  /// Posts all, or, after stop, none: then they are still the caller's.
  [[nodiscard]] bool post_all(std::span<addressed_event> many) noexcept;

  /// Timers: null until the first one was set.
  [[nodiscard]] clockwork* timers() const noexcept { return timers_.load(std::memory_order_acquire); }
  /// Plugs timers in; if another thread was first, its stay and these are destroyed. Gives those that stayed.
  clockwork& plug_in(std::unique_ptr<clockwork> timers);
  /// Open descriptors: null until the first one was opened.
  [[nodiscard]] descriptors* open_descriptors() const noexcept { return descriptors_.load(std::memory_order_acquire); }
  /// The same for them.
  descriptors& plug_in(std::unique_ptr<descriptors> all);

  /// To be called after a timer was set: makes sure that somebody will be awake for it.
  /// `own_color`: it belongs to the running color, which delays it anyway, so that this can wait until the event ends.
  void timer_set(std::uint64_t deadline_ns, bool own_color) noexcept;

  /// What run_until_idle waits for besides events and timers: blocking jobs, I/O operations.
  void operation_started() noexcept { operations_.fetch_add(1, std::memory_order_relaxed); }
  /// To be called after the completion was posted.
  void operation_ended() noexcept;
  /// The same for operations that begin and end on workers: no word of theirs is shared.
  void waits_changed(int more) noexcept {
    if (worker* const w = worker_here()) [[likely]] {
      w->io_waits.add(static_cast<std::uint64_t>(more));
    } else {
      operations_.fetch_add(static_cast<std::size_t>(more), std::memory_order_acq_rel);  // pairs with operations()
    }
  }
  /// Exact while all workers sleep.
  [[nodiscard]] std::size_t operations() const noexcept;

  /// A work_guard keeps run_until_idle from returning. Threads: any; inside a gate if no worker.
  void guard_opened() noexcept { guards_.fetch_add(1, std::memory_order_relaxed); }
  void guard_closed() noexcept;
  /// Whether there is a work_guard that counts: after stop() none does.
  [[nodiscard]] bool guarded() const noexcept {
    return guards_.load(std::memory_order_acquire) != 0 && !stopping();  // pairs with guard_closed
  }

  /// A spawned coroutine, which a handle may keep after its end, was made or is freed, wherever its memory is from.
  void roots_changed(int more) noexcept;

  /// The same for other objects of the user's that use the runtime when they end: set timers, batches with events, task
  /// groups.
  void objects_changed(int more) noexcept;

  void name(color c, std::string_view name);
  void forget_name(color c) noexcept;
  [[nodiscard]] std::string name_of(color c) const;

  /// The exception that is being handled left an event: to the user's handler, or the end of the program.
  void escaped(color c, std::source_location site);

 private:
  /// Ends the program if a handle, or another of the user's objects, outlives the runtime.
  void expect_no_objects() const noexcept;
  /// The same for a work_guard.
  void expect_no_guards() const noexcept;

  options settings_;
  std::source_location made_at_;
  std::uint64_t strand_mark_;
  scheduler_choice choice_;
  cpu_mask cpus_;
  unsigned workers_;
  unsigned most_workers_;
  line_pool events_;
  detail::guests guests_;
  destroyed_list destroyed_;
  std::unique_ptr<poller> own_poller_;
  poller* poller_;
  static constexpr std::uint8_t stop_begun = 1;
  static constexpr std::uint8_t shutdown_begun = 2;
  /// Release by begin_stop and begin_shutdown; pairs with stopping() and closing().
  real_memory::atomic<std::uint8_t> phase_{0};
  /// Release by plug_in; pairs with timers().
  real_memory::atomic<clockwork*> timers_{nullptr};
  /// Release by plug_in; pairs with open_descriptors().
  real_memory::atomic<descriptors*> descriptors_{nullptr};
  /// Release by operation_ended, after its completion was posted; pairs with operations().
  real_memory::atomic<std::size_t> operations_{0};
  /// Release by guard_closed; pairs with guarded().
  real_memory::atomic<std::size_t> guards_{0};
  /// Those of foreign threads; relaxed, for it is read when no other thread uses the runtime.
  real_memory::atomic<std::size_t> roots_outside_{0};
  real_memory::atomic<std::size_t> objects_outside_{0};
  std::unique_ptr<frame_pool> frames_;
  std::unique_ptr<root_registry> roots_;
  std::unique_ptr<foreign_waits> foreign_;
  std::unique_ptr<blocking_pool> blocking_;
  std::unique_ptr<lifecycle> life_;
  std::unique_ptr<scheduler> policy_;
  std::unique_ptr<stop_signals> signals_;
  mutable std::mutex names_lock_;  ///< guards names_
  std::unordered_map<color, std::string> names_;
};

}  // namespace tartan::detail
