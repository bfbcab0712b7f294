#pragma once
/// Where workers get the time from, where they sleep, and where what is ready outside reaches them.

#include <cstdint>

#include "core/memory.h"
#include "core/readiness_source.h"

namespace tartan::detail {

/// No deadline.
inline constexpr std::uint64_t never_ns = ~std::uint64_t{0};

class io_system;

/// A worker's wake token; see docs/design/idle-set.md.
enum token_state : std::uint32_t { token_awake = 0, token_asleep = 1, token_woken = 2, token_summoned = 3 };
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
  called,  ///< a wake-up that may have been meant for any sleeper
  alarm,   ///< of who stands by: set_alarm()'s time has come, or another one had it set for an earlier time
};

/// The source of time, sleep and readiness of one runtime.
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

  /// Monotonic; the same on all threads.
  [[nodiscard]] virtual std::uint64_t now_ns() noexcept = 0;

  /// The worker is about to say that it sleeps: chooses where. `beside`: where no readiness will wake it, as its policy wants it, or
  /// because it has taken some in this pause.
  virtual void approach(unsigned /*worker*/, bool /*beside*/) noexcept {}
  /// Whether a worker may sleep here where no readiness wakes it, but an alarm that others set.
  [[nodiscard]] virtual bool has_standby() const noexcept { return false; }
  /// Instead of approach(), by one at a time.
  virtual void stand_by(unsigned /*worker*/) noexcept {}
  /// By the poller's clock. Threads: any. Cost: a system call.
  virtual void set_alarm(std::uint64_t /*at_ns*/) noexcept {}
  /// Whether readiness would wake it there, if any comes here. Threads: any; about a worker that has said that it sleeps.
  [[nodiscard]] virtual bool is_seated(unsigned /*worker*/) const noexcept { return true; }

  /// Blocks while the token is `token_asleep`, at most as long as the limit says. May return early for no reason. Posts nothing: who sleeps may
  /// only wake others (alone-awake).
  virtual slept sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept = 0;

  /// Ends the sleep of a worker whose token was just changed. Async-signal-safe.
  virtual void wake(unsigned worker, wake_token& token) noexcept = 0;

  /// Ends the sleep of somebody else than the caller, who was `called` although another was meant.
  virtual void call_again() noexcept {}

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

  /// Looks, without waiting, whether something outside is ready, and posts it. Gives whether anything was.
  virtual bool harvest(unsigned worker) noexcept = 0;
  /// Whether that has taken as much as it takes at once: there may be more.
  [[nodiscard]] virtual bool may_have_left(unsigned /*worker*/) const noexcept { return false; }
  /// Whether that has taken a call that was to end a sleep; forgets it.
  [[nodiscard]] virtual bool took_call(unsigned /*worker*/) noexcept { return false; }
  /// Whether a sleep ends at once for whatever a harvest would give; what was set aside ends none.
  [[nodiscard]] virtual bool finds_in_sleep() const noexcept { return false; }
  /// A descriptor that is readable while something is ready that no worker has taken; -1: none.
  [[nodiscard]] virtual int descriptor() const noexcept { return -1; }

  /// The sockets of this poller's world; null: it has none, and those of the kernel are used.
  [[nodiscard]] virtual io_system* sockets() noexcept { return nullptr; }

  /// Whether it can wait for the kernel's descriptors; and from now on it does. Workers that sleep already go on sleeping where they are.
  [[nodiscard]] virtual bool takes_source() const noexcept { return false; }
  virtual void take_source(readiness_source& /*source*/) noexcept {}
  /// Before that: makes the place where one of two workers may stand by, if this clock has such a one and the descriptors for it.
  virtual void make_standby() noexcept {}
};

}  // namespace tartan::detail
