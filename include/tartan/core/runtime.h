#pragma once
/// The runtime: workers that run events, same color in order, different colors in parallel.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <tartan/core/color.h>
#include <tartan/core/drained.h>
#include <tartan/core/event.h>
#include <tartan/core/options.h>
#include <tartan/core/spawn_call.h>
#include <tartan/core/waiting.h>
#include <vector>

namespace tartan {

class event_batch;
class strand;


/// Sums over all workers since the runtime was made; exact while it does not run.
struct runtime_counters {
  std::uint64_t events = 0;        ///< events run
  std::uint64_t turns = 0;         ///< batches of one color
  std::uint64_t steals = 0;        ///< successful visits to another worker
  std::uint64_t stolen_colors = 0; ///< color queues that moved
  std::uint64_t wakes = 0;         ///< sleeping workers woken
  std::uint64_t sleeps = 0;        ///< times a worker went to sleep
};

/// Runs events on one thread per CPU.
///
/// Lifetime: starts no thread before run(). Its destructor drains with no time at all: what is left is destroyed, not run.
/// Limits: events are bounded by memory; workers by 1024.
class runtime {
 public:
  /// Errors: std::invalid_argument for an option out of its range; std::system_error if the system refuses a resource.
  explicit runtime(options with = {}, std::source_location site = std::source_location::current());
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime();

  /// Hands a callable to the runtime, to be run in a color; without one, in the default color.
  ///
  /// Threads: any, at any time, also before run().
  /// Errors: false, and the callable is destroyed here, after stop() from a foreign thread. std::bad_alloc if there is no memory for the
  /// event; if there is none to make a color that had no events, the program ends with a message. So it does for the
  /// color of another runtime's strand.
  /// Order: posts to one color by one thread, or ordered by happens-before, run in that order.
  /// Cost: no allocation for a callable of up to 40 bytes; no lock, read-modify-write or system call for a post to the running color.
  /// Source: libasync-smp, section 3 (cpucb with a color).
  template <detail::callable_without_arguments F>
  bool post(color c, F&& f, std::source_location site = std::source_location::current()) {
    return detail::post_event(*state_, c, std::forward<F>(f), site);
  }
  template <detail::callable_without_arguments F>
  bool post(F&& f, std::source_location site = std::source_location::current()) {
    return post(color{}, std::forward<F>(f), site);
  }
  template <class... Args>
    requires detail::ends_in_no_event<Args...>
  detail::needs_a_callable_without_arguments post(Args&&... args) = delete;

  /// Starts a coroutine, in the default color or in `c`: tartan::spawn and tartan::spawn_in with this runtime, in spawn.h.
  ///
  /// Threads: any, at any time, also before run().
  /// Limits: spawn takes eight arguments, spawn_in any number of them.
  template <class F, class A = detail::no_argument, class B = detail::no_argument, class C = detail::no_argument,
            class D = detail::no_argument, class E = detail::no_argument, class G = detail::no_argument,
            class H = detail::no_argument, class I = detail::no_argument>
    requires detail::spawnable_with<F, A, B, C, D, E, G, H, I>
  auto spawn(F&& f, A&& a = {}, B&& b = {}, C&& c = {}, D&& d = {}, E&& e = {}, G&& g = {}, H&& h = {}, I&& i = {},
             std::source_location site = std::source_location::current());
  template <class F, class... Args>
    requires detail::spawnable<F, Args...>
  auto spawn_in(detail::placed_color c, F&& f, Args&&... args);
  template <class F, class... Args>
    requires(!detail::spawnable<F, Args...>)
  detail::needs_a_function_that_gives_a_task_for_the_arguments spawn(F&& f, Args&&... args) = delete;
  template <class F, class... Args>
    requires(!detail::spawnable<F, Args...>)
  detail::needs_a_function_that_gives_a_task_for_the_arguments spawn_in(detail::placed_color, F&&, Args&&...) = delete;

  /// Posts everything in the batch, in its order.
  ///
  /// Errors: as post, for all of it; a batch that was made for another runtime ends the program.
  bool post(event_batch&& batch, std::source_location site = std::source_location::current());

  /// Runs events, as worker 0, until stop(). Then it gives what is left `options.drain_within` and destroys the rest. After stop() it only
  /// does the latter.
  ///
  /// Threads: one at a time; not from an event. Starts the other workers.
  /// Errors: 0 if everything that was posted has run, else 1. `options.on_destroyed` hears what was destroyed; without it, one line on
  /// stderr says so.
  int run(std::source_location site = std::source_location::current());

  /// Runs until no event, operation, timer, blocking job or work_guard is left, or until stop().
  void run_until_idle(std::source_location site = std::source_location::current());

  /// Runs, waiting if need be, for this long, or until stop(); zero: only what is ready.
  ///
  /// Gives the number of events run.
  std::uint64_t run_for(std::chrono::nanoseconds duration, std::source_location site = std::source_location::current());

  /// Asks run() to return: foreign posts are refused from now on, waits and timers complete with `canceled`.
  ///
  /// Threads: any, and signal handlers through stop_on.
  void stop() noexcept;
  [[nodiscard]] bool stopped() const noexcept;

  /// Ends gracefully: takes in no new work, lets what is under way end, and stops when nothing is left, or when the time has passed.
  ///
  /// At once, between two events: listeners close, and what waits for new work ends with errc::canceled: accept, interval::next,
  /// signal_set::next, directory_watch::next. A coroutine hears of it by shutdown_begun() and until_shutdown() of shutdown.h. All else goes
  /// on: streams, timers, sleep, connect, spawned coroutines, blocking jobs, posts, also those of foreign threads. Nothing is left when no
  /// event, operation or blocking job is, and no timer that is due within the time. Coroutines that wait for each other do not count.
  /// The runtime then stops, as by stop(): run() cancels what still waits and gives it `options.drain_within`.
  ///
  /// Threads: any, also before run(), and signal handlers through shutdown_on. The time runs from this call. A second call can only
  /// make it shorter; stop() ends it; zero is stop().
  void shutdown(std::chrono::nanoseconds within) noexcept;
  /// Whether shutdown() or stop() was called. Threads: any.
  [[nodiscard]] bool shutting_down() const noexcept;

  /// Shuts down at one of these signals, with this much time; a second one exits at once, as with stop_on.
  ///
  /// Errors: as stop_on. For a signal that was asked for before, the last call decides what it does.
  void shutdown_on(std::initializer_list<int> signals, std::chrono::nanoseconds within);

  /// Stops at one of these signals; a second one exits at once with status 128 + signal.
  ///
  /// Errors: std::system_error, also for a signal that belongs to a signal_set. One runtime at a time: another one's call ends the program
  /// with a message.
  void stop_on(std::initializer_list<int> signals);

  /// Stops, and runs until nothing is left or the time has passed; what remains is destroyed here, never run, and counted.
  ///
  /// Waits for blocking jobs that are running, and for coroutines that wait for an awaitable of another library, which may still resume
  /// them. What has not ended when the time and `drain_within` have both passed, counted from this call, ends the program with a report.
  /// Threads: not while another thread runs this runtime; not from an event.
  drained drain(std::chrono::nanoseconds within, std::source_location site = std::source_location::current());

  /// A descriptor that is readable while run_for(0) would find something to do: for another event loop.
  ///
  /// Threads: one at a time; not from an event, nor while another thread runs or drains the runtime. What it gives may be waited
  /// for on any.
  /// Lifetime: the runtime's; do not read or close it.
  /// Errors: std::system_error; ENOTSUP with a scheduler that uses select().
  [[nodiscard]] int descriptor();

  /// The spawned coroutines that are suspended: where each was spawned, and what it waits for. After run_until_idle() these wait for
  /// something that only another thread or a later event can give, or for each other. See options.report_waiting.
  ///
  /// Threads: not from an event, nor while another thread runs or drains the runtime; else the program ends with a message.
  /// Order: none. Cost: a look at each coroutine; coroutines that nobody asks about pay nothing.
  [[nodiscard]] std::vector<waiting_coroutine> waiting(std::source_location site = std::source_location::current()) const;

  /// How many workers run, or will by the next run.
  [[nodiscard]] unsigned workers() const noexcept;

  /// Changes that, from 1 up to options.max_workers: more workers for handlers that block on a disk, or fewer beside other programs. No event is lost, and
  /// those of a color run in their order. New workers are there when this returns; those that are too many, the ones with the highest numbers, leave
  /// after 64 events more at most. While nobody runs the runtime, both wait for the next run. Each that comes calls options.on_worker_start, each that
  /// leaves on_worker_stop.
  ///
  /// Threads: any; also from an event. Cost: a thread's start for each new one.
  /// Errors: std::invalid_argument for 0, for more than max_workers, and if the scheduler keeps its number of workers (one of the papers', or
  /// options.stealing is off); std::system_error if a thread cannot be started, with as many workers as there are then.
  void set_workers(unsigned workers);
  [[nodiscard]] runtime_counters counters() const noexcept;

  /// Gives a color a name that reports show. Strands bring their own.
  void name(color c, std::string_view name);
  [[nodiscard]] std::string name_of(color c) const;

  /// The time by the runtime's clock: monotonic, or a test's.
  [[nodiscard]] std::chrono::steady_clock::time_point now() const noexcept;

  [[nodiscard]] detail::runtime_state& state() noexcept { return *state_; }

 private:
  std::unique_ptr<detail::runtime_state> state_;
};

}  // namespace tartan
