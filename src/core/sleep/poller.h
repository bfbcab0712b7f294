#pragma once
/// Where workers get the time from, where they sleep, and where what is ready outside reaches them.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/memory.h"
#include "core/sleep/idle_set.h"
#include "core/sleep/readiness_source.h"

namespace tartan::detail {

/// No deadline.
inline constexpr std::uint64_t never_ns = ~std::uint64_t{0};

class io_system;

/// A worker's wake token; see docs/design/sleeping.md.
enum token_state : std::uint32_t { token_awake = 0, token_asleep = 1, token_woken = 2, token_gone = 3 };
using wake_token = real_memory::atomic<std::uint32_t>;

/// How long a sleep may last.
struct sleep_limit {
  std::uint64_t until_ns = never_ns;     ///< by the poller's clock
  std::uint64_t at_most_ns = never_ns;   ///< by real time, whatever the poller's clock: a watcher's patience
};

/// What ended a sleep.
enum class slept : std::uint8_t {
  alone,   ///< its token was changed, or time ended it
  ready,   ///< something is ready, and is kept for deliver() or set_aside()
  alarm,   ///< of the guard: set_alarm()'s time has come, or another one had it set for an earlier time
};

/// The source of time, sleep, readiness and chance of one runtime.
///
/// Threads: every worker calls it at once, for itself.
class poller {
 public:
  poller() = default;
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;
  virtual ~poller() = default;

  /// Told once, before anything else: how many workers may sleep here.
  virtual void attach(unsigned workers) = 0;

  /// A worker's thread is about to be started: from now on it is awake. Worker 0 is told nothing.
  virtual void starts(unsigned /*worker*/) noexcept {}
  /// It leaves, and does nothing any more.
  virtual void leaves(unsigned /*worker*/) noexcept {}

  /// Monotonic; the same on all threads.
  [[nodiscard]] virtual std::uint64_t now_ns() noexcept = 0;

  /// The worker is about to say that it sleeps, in this bed. One at a time may sleep at the guard's, and one at the source's.
  virtual void approach(unsigned /*worker*/, bed /*where*/) noexcept {}
  /// When the guard is to wake, by the poller's clock. Threads: any. Cost: a system call.
  virtual void set_alarm(std::uint64_t /*at_ns*/) noexcept {}
  /// Whether it chose its bed in view of what there is to wait for by now. Threads: any; about a worker that has said that it sleeps.
  [[nodiscard]] virtual bool is_seated(unsigned /*worker*/) const noexcept { return true; }

  /// Blocks while the token is `token_asleep`, at most as long as the limit says. May return early for no reason. Posts nothing: who sleeps may
  /// only wake others (alone-awake).
  virtual slept sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept = 0;

  /// Ends the sleep of a worker whose token was just changed. Async-signal-safe.
  virtual void wake(unsigned worker, wake_token& token) noexcept = 0;

  /// Posts the readiness that has ended this worker's sleep, now that it is seen to be awake.
  virtual void deliver(unsigned /*worker*/) noexcept {}
  /// Or leaves it to the next harvest, whoever's. Gives whether there was any.
  virtual bool set_aside(unsigned /*worker*/) noexcept { return false; }
  /// Threads: any.
  [[nodiscard]] virtual bool has_aside() const noexcept { return false; }

  /// A blocking job was accepted: from now on something works that is no worker. And it has ended: what it posts is posted.
  ///
  /// Threads: any.
  virtual void job_begins() noexcept {}
  virtual void job_ended() noexcept {}
  /// By the thread that is to run one of them: returns when it may. False: there is none any more.
  virtual bool await_job_turn() noexcept { return true; }
  /// What has had its turn has run, or was no more there.
  virtual void end_job_turn() noexcept {}

  /// Whether chance is this poller's; otherwise it is the system's. And bytes of it.
  [[nodiscard]] virtual bool has_chance() const noexcept { return false; }
  virtual void draw(std::span<std::byte> /*into*/) noexcept {}

  /// Looks, without waiting, whether something outside is ready, and posts it. Gives whether anything was.
  virtual bool harvest(unsigned worker) noexcept = 0;
  /// Whether that has taken as much as it takes at once: there may be more.
  [[nodiscard]] virtual bool may_have_left(unsigned /*worker*/) const noexcept { return false; }
  /// Whether a look has seen a call at the source. Then nobody sleeps there any more who was meant, or that one still comes; in the first case the
  /// call is to be forgotten, or it would end the next sleep and show at descriptor().
  [[nodiscard]] virtual bool saw_call(unsigned /*worker*/) const noexcept { return false; }
  /// Threads: the one that may sleep at the source.
  virtual void forget_call() noexcept {}
  /// Whether a sleep ends at once for whatever a harvest would give; what was set aside ends none.
  [[nodiscard]] virtual bool finds_in_sleep() const noexcept { return false; }
  /// A descriptor that is readable while something is ready that no worker has taken; -1: none.
  [[nodiscard]] virtual int descriptor() const noexcept { return -1; }

  /// The sockets of this poller's world; null: it has none, and those of the kernel are used.
  [[nodiscard]] virtual io_system* sockets() noexcept { return nullptr; }

  /// Whether there is anything outside to wait for.
  [[nodiscard]] virtual bool has_source() const noexcept { return false; }
  /// Whether it can wait for the kernel's descriptors; and from now on it does. Workers that sleep already go on sleeping where they are.
  [[nodiscard]] virtual bool takes_source() const noexcept { return false; }
  virtual void take_source(readiness_source& /*source*/) noexcept {}
  /// Before that, where the policy leaves polling to whoever is awake: makes the guard's bed. Threads: any.
  /// Errors: std::system_error if there are no descriptors for it.
  virtual void make_guard_bed() {}
};

}  // namespace tartan::detail
