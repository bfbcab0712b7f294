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

#include "core/guard_word.h"
#include "core/idle_set.h"
#include "core/memory.h"
#include "core/run_word.h"
#include "core/worker.h"

namespace tartan::detail {

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
  [[nodiscard]] idle& sleepers() noexcept { return idle_; }
  [[nodiscard]] worker& at(unsigned index) noexcept { return *workers_[index]; }
  [[nodiscard]] const worker& at(unsigned index) const noexcept { return *workers_[index]; }
  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }

  /// Whether this worker is to return from its loop, between two turns.
  [[nodiscard]] bool leaving(const worker& w) noexcept {
    if (w.index != 0) return leave_.load(std::memory_order_acquire);
    return run_.is_over() || (limited_ && limit_passed());
  }

  /// running -> searching; nothing if it searches already.
  void begin_search(worker& w) noexcept;
  /// searching -> running, when work was found; nothing if it runs already. Sees to it that what else there is will be found.
  void found_work(worker& w) noexcept {
    if (w.searching) end_search(w);
  }
  /// Searching: sleeps until something happens, unless something has. `polls`: readiness ends the sleep too, and this worker posts it;
  /// without, it sleeps where no readiness comes, and somebody else has to take it (its-policy-polls).
  void rest(worker& w, bool polls) noexcept;

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
  /// Wakes this one, if it sleeps; or somebody in its stead, who will look everywhere. Gives whether it did.
  bool wake(unsigned index, worker* from) noexcept;
  /// Wakes this one and no other, if it sleeps: for what only it can do. Async-signal-safe.
  void summon(unsigned index, worker* from) noexcept;
  /// Whether this worker has called the other one because its line is long, so that who comes need not watch it first; and that has come.
  [[nodiscard]] bool wants_help(unsigned index) const noexcept { return wants_help_.load(std::memory_order_relaxed) == index; }
  void help_has_come() noexcept { wants_help_.store(idle::nobody, std::memory_order_relaxed); }
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
  [[nodiscard]] bool get_up(const worker& w) noexcept;
  void pass_on_call(worker& w, bool stands_in) noexcept;
  // Standing by: lifecycle_standby.cpp
  [[nodiscard]] bool may_stand_by(const worker& w) noexcept;
  void stand_by(worker& w) noexcept;
  void end_watch(worker& w) noexcept;
  [[nodiscard]] bool is_attended(worker& w) noexcept;
  void attend(worker& w, bool has_slept) noexcept;
  void ask_for_help(worker& w, bool has_slept) noexcept;
  [[nodiscard]] bool waits_for_called(worker& w) noexcept;
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
  // Of two workers, one of which stands by; thieves look here often, and it changes seldom.
  alignas(64) guard_word<real_memory> guard_;
  real_memory::atomic<std::uint64_t> both_wait_until_{0};    ///< until then nobody stands by: relaxed
  real_memory::atomic<unsigned> wants_help_{idle::nobody};  ///< who has called the other one: relaxed
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<std::thread> threads_;
  std::mutex paused_lock_;
  std::condition_variable paused_;
  std::unique_ptr<stall_watch> stalls_;
  std::unique_ptr<outside_descriptor> outside_;
  std::unique_ptr<fork_guard> fork_guard_;
  /// Release by who makes it, pairs with each acquire load before it is used.
  real_memory::atomic<outside_descriptor*> outside_open_{nullptr};

  // Read by every worker at each turn, written rarely; each acquire load pairs with the release of whoever wrote.
  /// Workers but 0: rest until the next run. pairs with leaving() and worker_thread()
  alignas(64) real_memory::atomic<bool> leave_{true};
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
