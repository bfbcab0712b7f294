#pragma once
/// When workers run, sleep and leave: run, stop, drain, and the loop around a policy.

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <source_location>
#include <tartan/core/runtime.h>
#include <thread>
#include <vector>

#include "core/sleep/guard_word.h"
#include "core/sleep/idle_set.h"
#include "core/memory.h"
#include "core/run_word.h"
#include "core/worker.h"

namespace tartan::detail {

class cpu_follower;
class fork_guard;
class outside_descriptor;
class runtime_state;
class stall_watch;

/// Starts, pauses and ends the workers of one runtime.
class lifecycle {
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

  // For workers and policies.
  using idle = idle_set<real_memory>;
  static constexpr std::uint32_t spreading = 0x8000'0000;  ///< of worker::wants_help
  [[nodiscard]] idle& sleepers() noexcept { return idle_; }
  [[nodiscard]] worker& at(unsigned index) noexcept { return *workers_[index]; }
  [[nodiscard]] const worker& at(unsigned index) const noexcept { return *workers_[index]; }
  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }

  /// Whether this worker is to return from its loop, between two turns.
  [[nodiscard]] bool leaving(const worker& w) noexcept {
    if (w.index != 0) return leave_.load(std::memory_order_acquire) || is_too_many(w);
    return run_.is_over() || (limited_ && limit_passed());
  }

  // Workers that come and go: lifecycle_workers.cpp
  /// runtime::set_workers. Threads: any, but for a signal handler.
  void set_workers(unsigned wanted);
  /// Those with lower numbers are there, or will be by the next run.
  [[nodiscard]] unsigned wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }

  /// running -> searching; nothing if it searches already.
  void begin_search(worker& w) noexcept;
  /// searching -> running, when work was found; nothing if it runs already. Sees to it that what else there is will be found.
  void found_work(worker& w) noexcept {
    if (w.searching) end_search(w);
  }
  /// Searching: sleeps until something happens, unless something has. What becomes ready meanwhile is posted as the policy wants it.
  void rest(worker& w, polling how) noexcept;

  /// Looks at the clock, at timers and outside, without waiting. Gives whether anything was posted.
  bool look(worker& w) noexcept;
  /// The same for a worker that will rest at once if there is nothing: what its sleep would find is left to that, unless the last look was a full one.
  bool look_before_rest(worker& w) noexcept;
  /// Posts the timers that are due. Gives whether there were any. Cost: a clock read if any timer is set.
  bool look_at_timers() noexcept;
  /// Operations that may complete at once in one event (contract 12).
  static constexpr std::uint32_t inline_completions = 64;

  /// Whether there are descriptors, so that idle workers sleep where readiness wakes them.
  [[nodiscard]] bool watches_outside() const noexcept;

  /// Whether this worker is only to do what is ready now, in run_for(0).
  [[nodiscard]] bool hurried(const worker& w) const noexcept {
    return w.index == 0 && goal_.load(std::memory_order_relaxed) == until::nothing_ready;
  }

  /// Wakes some sleeper unless somebody searches; gives whether it did. Cost: a system call.
  bool wake_any(worker* from) noexcept;
  /// The same although the caller, or so many others, search.
  bool wake_another(worker& from, unsigned searchers) noexcept;
  /// Wakes this one, if it sleeps. Gives whether it did. Async-signal-safe, with null.
  bool wake(unsigned index, worker* from) noexcept;
  /// The same, of what only this one can do.
  void summon(unsigned index, worker* from) noexcept { static_cast<void>(wake(index, from)); }
  /// Whether this worker has called others because its line is long, so that one that comes need not watch it first; and one has come.
  [[nodiscard]] bool wants_help(unsigned index) const noexcept { return workers_[index]->wants_help.load(std::memory_order_relaxed) != 0; }
  /// Gives whether it is the last one of several that were called.
  bool help_has_come(worker& helper, unsigned index) noexcept;
  /// By a worker that has robbed a stuck one of half of what waits there: another worker is to come for the rest, when this one has found_work().
  void call_for(unsigned victim, worker& by) noexcept {
    workers_[victim]->wants_help.store(spreading | 1, std::memory_order_relaxed);
    by.calls_for_victim = true;
  }
  /// Whether a worker's post to another one's color may wait until the poster has nothing else to do, or looks: the guard sees to what is
  /// left there for long, and a turn is worth less than a wake-up. Then notes that something was left.
  [[nodiscard]] bool leaves_to_poster(worker& from, idle_view seen) noexcept;
  /// A post while nobody runs: shows at the embedding descriptor.
  void posted_outside(idle_view seen) noexcept;

  void timer_set(std::uint64_t deadline_ns, bool own_color) noexcept;
  /// At the end of a turn with more to do: makes sure of the timers that the turn's events have set in their own color.
  void publish_deferred(worker& w) noexcept;

  /// The poller has got a source of readiness: workers that sleep go to sleep in it. Threads: any.
  void source_changed() noexcept;

  /// Something that run_until_idle waits for has ended.
  void reconsider() noexcept;

  /// Whether workers run events; false before and after each run, and while a drain destroys what is left.
  [[nodiscard]] bool running() const noexcept { return !idle_.view().paused(); }

  /// Whether the runtime is over: nothing is posted any more, by anybody.
  [[nodiscard]] bool over() const noexcept { return over_.load(std::memory_order_acquire); }

 private:
  friend struct lifecycle_probe;  // a test's

  enum class until : std::uint8_t { stopped, idle, nothing_ready };
  static constexpr std::uint64_t finished = run_word<real_memory>::finished;

  void start_workers();
  [[nodiscard]] bool is_too_many(const worker& w) const noexcept { return w.index >= wanted_.load(std::memory_order_relaxed); }
  void call_up();
  void start_thread(unsigned index);
  void dismiss() noexcept;
  [[nodiscard]] bool resign(worker& w) noexcept;
  [[nodiscard]] bool has_threads() const noexcept;
  void call_hook(const std::function<void(unsigned)>& hook);
  void worker_thread(worker& w) noexcept;
  void await_all_asleep() noexcept;
  void follow_signals(worker& w) noexcept;
  void work(until what, std::uint64_t limit_ns);
  // Shutting down: lifecycle_shutdown.cpp
  void work_or_shut_down(until what, std::uint64_t limit_ns);
  [[nodiscard]] bool is_to_shut_down() const noexcept;
  void shut_doors() noexcept;
  [[nodiscard]] bool nothing_left() noexcept;
  [[nodiscard]] bool enter(std::source_location site);
  void pause() noexcept;
  void end_search(worker& w) noexcept;
  [[nodiscard]] bool watches_on(worker& w, std::uint64_t until_ns) noexcept;
  [[nodiscard]] std::uint64_t watch_again_ns(const worker& w, std::uint64_t last_ns) noexcept;
  bool limit_passed() noexcept;
  [[nodiscard]] bool quiescent() noexcept;
  void finish_if_quiescent(std::uint64_t this_run) noexcept;
  [[nodiscard]] std::uint64_t next_timer() const noexcept;
  [[nodiscard]] std::uint64_t sleep_until(const worker& w) noexcept;
  void sleep(worker& w, std::uint64_t until_ns, bool watch) noexcept;
  void get_up(worker& w) noexcept;
  // The poller and the guard: lifecycle_guard.cpp
  [[nodiscard]] bed choose_bed(worker& w, polling how) noexcept;
  [[nodiscard]] bool take_bed(worker& w, polling how) noexcept;
  [[nodiscard]] bool is_in_wrong_bed(const worker& w, polling how, idle_view seen) const noexcept;
  [[nodiscard]] bool may_watch(const worker& w) const noexcept;
  void leave_bed(worker& w) noexcept;
  void end_watch(const worker& w) noexcept;
  [[nodiscard]] bool is_attended(worker& w) noexcept;
  [[nodiscard]] std::uint64_t guard_due(const worker& by, std::uint64_t looked_ns) const noexcept;
  [[nodiscard]] std::uint64_t last_look_ns(const worker& guard) const noexcept;
  [[nodiscard]] bool any_left_asleep() const noexcept;
  void attend(worker& w, bool has_slept) noexcept;
  void ask_for_help(worker& w, bool has_slept) noexcept;
  void hand_on(worker& w, idle_view seen) noexcept;
  void spread(worker& w) noexcept;
  [[nodiscard]] bool all_poll() noexcept;
  bool harvest(worker& w) noexcept;
  void look_sooner(worker& w) noexcept;
  void set_aside(worker& w) noexcept;
  void seat_sleepers() noexcept;
  void secure_timer(std::uint64_t deadline_ns, worker* from) noexcept;
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

  runtime_state& rt_;
  idle idle_;
  alignas(64) guard_word<real_memory> guard_;  // all that run read it often, and it changes seldom
  real_memory::atomic<std::uint64_t> dear_until_{0};  ///< until then an edge is worth a wake-up: relaxed
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<std::thread> threads_;  ///< by worker; the first is none. Changed under threads_lock_, while called_up_
  std::mutex threads_lock_;           ///< guards called_up_, and that a worker is too many until it has left
  bool called_up_ = false;            ///< there is a run: workers may come and go
  std::mutex paused_lock_;
  std::condition_variable paused_;
  std::unique_ptr<stall_watch> stalls_;
  std::unique_ptr<cpu_follower> follower_;
  std::unique_ptr<outside_descriptor> outside_;
  std::unique_ptr<fork_guard> fork_guard_;
  /// Release by who makes it, pairs with each acquire load before it is used.
  real_memory::atomic<outside_descriptor*> outside_open_{nullptr};

  // Read by every worker at each turn, written rarely; each acquire load pairs with the release of whoever wrote.
  /// Workers but 0: rest until the next run. pairs with leaving() and worker_thread()
  alignas(64) real_memory::atomic<bool> leave_{true};
  /// So many workers there are to be. Changed under threads_lock_; relaxed: whoever acts on it takes that lock
  real_memory::atomic<unsigned> wanted_;
  /// Which run there is, and whether worker 0 is to return from it
  run_word<real_memory> run_;
  /// With leave_: threads end. pairs with worker_thread() and sleep()
  real_memory::atomic<bool> terminate_{false};
  /// How often block_signals was called; what is to be blocked by now is written before. pairs with follow_signals() and sleep()
  real_memory::atomic<std::uint32_t> signals_asked_{0};
  sigset_t to_block_{};
  /// Nothing is posted any more. pairs with over()
  real_memory::atomic<bool> over_{false};
  /// By when a shutdown stops, by the runtime's clock; the earliest of all calls. pairs with is_to_shut_down()
  real_memory::atomic<std::uint64_t> shut_by_ns_{never_ns};
  /// Somebody is in run or drain. leave() pairs with enter()
  real_memory::atomic<bool> occupied_{false};
  /// What the run waits for. pairs with quiescent() and reconsider()
  real_memory::atomic<until> goal_{until::stopped};
  std::uint64_t shutting_by_ns_ = 0;            ///< worker 0's: the time that the shutdown goes by; 0: its doors are open
  bool zero_started_ = false;                   ///< worker 0's: its hook was called
  bool limited_ = false;                        ///< worker 0's: a deadline or a number of turns
  std::uint64_t limit_ns_ = never_ns;           ///< worker 0's
  std::uint64_t turns_left_ = 0;                ///< worker 0's, if the goal is nothing_ready
};

}  // namespace tartan::detail
