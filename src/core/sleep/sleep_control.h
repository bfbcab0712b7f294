#pragma once
/// How the workers of a runtime search, sleep and are woken; docs/design/sleeping.md. This is all that a scheduler sees of it.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/memory.h"
#include "core/sleep/guard_word.h"
#include "core/sleep/idle_set.h"
#include "core/sleep/run_control.h"
#include "core/worker.h"

namespace tartan::detail {

class outside_descriptor;
class runtime_state;
class stall_watch;

/// The workers of one runtime, as far as they search and sleep. The lifecycle starts, pauses and ends them.
///
/// Threads: w's own, if a worker is named; else any.
class sleep_control {
 public:
  using idle = idle_set<real_memory>;
  static constexpr std::uint32_t spreading = 0x8000'0000;  ///< of worker::wants_help
  [[nodiscard]] idle& sleepers() noexcept { return idle_; }
  [[nodiscard]] worker& at(unsigned index) noexcept { return *workers_[index]; }
  [[nodiscard]] const worker& at(unsigned index) const noexcept { return *workers_[index]; }
  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }

  /// Whether this worker is to return from its loop, between two turns.
  [[nodiscard]] bool leaving(const worker& w) noexcept {
    if (w.index != 0) return control_.leave.load(std::memory_order_acquire) || control_.is_too_many(w);
    return control_.run.is_over() || (control_.limited && limit_passed());
  }

  /// Those with lower numbers are there, or will be by the next run.
  [[nodiscard]] unsigned wanted() const noexcept { return control_.wanted.load(std::memory_order_relaxed); }

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
    return w.index == 0 && control_.goal.load(std::memory_order_relaxed) == run_control::until::nothing_ready;
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

  /// Something that run_until_idle waits for has ended.
  void reconsider() noexcept;

  /// Whether workers run events; false before and after each run, and while a drain destroys what is left.
  [[nodiscard]] bool running() const noexcept { return !idle_.view().paused(); }

  /// Whether the runtime is over: nothing is posted any more, by anybody.
  [[nodiscard]] bool over() const noexcept { return control_.over.load(std::memory_order_acquire); }


 protected:
  explicit sleep_control(runtime_state& rt);
  sleep_control(const sleep_control&) = delete;
  sleep_control& operator=(const sleep_control&) = delete;
  ~sleep_control();

  /// Whether no event, operation, timer or blocking job is left. Asked while all workers sleep.
  [[nodiscard]] virtual bool nothing_left() noexcept = 0;

  // For the lifecycle.
  /// By a worker that has just woken up, or looked.
  void attend(worker& w, bool has_slept) noexcept;
  void hand_on(worker& w, idle_view seen) noexcept;
  void seat_sleepers() noexcept;
  [[nodiscard]] std::uint64_t next_timer() const noexcept;

  runtime_state& rt_;
  idle idle_;
  alignas(64) guard_word<real_memory> guard_;  // all that run read it often, and it changes seldom
  real_memory::atomic<std::uint64_t> dear_until_{0};  ///< until then an edge is worth a wake-up: relaxed
  std::vector<std::unique_ptr<worker>> workers_;
  run_control control_;
  std::mutex paused_lock_;
  std::condition_variable paused_;  ///< a worker rests, or has left
  std::unique_ptr<stall_watch> stalls_;
  /// Release by the lifecycle, which makes it; pairs with each acquire load before it is used.
  real_memory::atomic<outside_descriptor*> outside_open_{nullptr};

 private:
  friend struct lifecycle_probe;  // a test's

  void end_search(worker& w) noexcept;
  [[nodiscard]] bool watches_on(worker& w, std::uint64_t until_ns) noexcept;
  [[nodiscard]] std::uint64_t watch_again_ns(const worker& w, std::uint64_t last_ns) noexcept;
  bool limit_passed() noexcept;
  [[nodiscard]] bool quiescent() noexcept;
  void finish_if_quiescent(std::uint64_t this_run) noexcept;
  [[nodiscard]] std::uint64_t sleep_until(const worker& w) noexcept;
  void sleep(worker& w, std::uint64_t until_ns, bool watch) noexcept;
  void get_up(worker& w) noexcept;
  // The poller and the guard: polling.cpp
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
  void ask_for_help(worker& w, bool has_slept) noexcept;
  void spread(worker& w) noexcept;
  [[nodiscard]] unsigned usable_cpus_now() const noexcept;
  [[nodiscard]] bool all_poll() noexcept;
  bool harvest(worker& w) noexcept;
  void look_sooner(worker& w) noexcept;
  void set_aside(worker& w) noexcept;
  void secure_timer(std::uint64_t deadline_ns, worker* from) noexcept;
};

}  // namespace tartan::detail
