#pragma once
/// Signals that ask a program to stop, and threads that want none.

#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <system_error>

namespace tartan::detail {

/// What a signal calls, with the time that it was asked for with; must be async-signal-safe.
using stop_function = void (*)(void*, std::uint64_t within_ns) noexcept;

/// The system call behind stop_signals; a test puts a failing one here.
struct signal_calls {
  int (*action)(int, const struct sigaction*, struct sigaction*) = &::sigaction;
};

/// The signals that stop one runtime: the first one calls stop(target, its time), a second one of any of them ends the process at once
/// with status 128 + its number.
///
/// There is one per process at a time, because a signal is told to the process, not to an object. It belongs to the process
/// that asked: in a child of fork() the signals do what they did before.
/// Lifetime: the target's; the destructor puts the former handlers back.
class stop_signals {
 public:
  stop_signals(stop_function stop, void* target, signal_calls calls = {}) noexcept
      : stop_{stop}, target_{target}, calls_{calls} {}
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  ~stop_signals() { release(); }

  /// Asks for these signals too. Twice the same is once, with the later time.
  ///
  /// Threads: any, one at a time.
  /// Errors: std::system_error for a signal that cannot be caught; then none of this call's is. If another target has signals,
  /// the program ends with a message.
  void stop_on(std::initializer_list<int> signals, std::uint64_t within_ns = 0);

  /// Puts the former handlers back, except where the program has put its own meanwhile; when this returns, no signal calls stop any more.
  void release() noexcept;

 private:
  stop_function stop_;
  void* target_;
  signal_calls calls_;
};

/// For an object that reads signals from a descriptor: a signal is one object's, or stop_on's.
///
/// Threads: any.
/// Errors: std::errc::device_or_resource_busy if one of them is somebody else's; then none is the caller's.
[[nodiscard]] std::error_code claim_signals(const sigset_t& all) noexcept;
void give_back_signals(const sigset_t& all) noexcept;

/// Blocks signals in the calling thread, and in the threads it starts, until the end of the scope.
///
/// A thread of the runtime's must not be picked to run the program's handlers. Open stay those that a thread brings upon
/// itself (SIGSEGV and its like), so that crash reports work, and SIGPROF, so that profilers see the thread.
class signals_blocked {
 public:
  signals_blocked() noexcept;
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked();

 private:
  sigset_t before_;
};

}  // namespace tartan::detail
