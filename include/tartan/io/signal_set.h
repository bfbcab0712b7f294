#pragma once
/// Signals as operations.

#include <initializer_list>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/io/object.h>
#include <tartan/io/wait.h>
#include <utility>

namespace tartan {

namespace detail {

class next_signal_op : public io_wait {
 public:
  using value_type = int;
  explicit next_signal_op(slot_key on) noexcept : io_wait{on, flow::in} {}
  [[nodiscard]] const char* name() const noexcept final { return "a signal"; }
  [[nodiscard]] result<int> take() const noexcept { return error() ? result<int>{error()} : result<int>{number_}; }

 private:
  step attempt(io_slot& on) noexcept final;
  int number_ = 0;
};

}  // namespace detail

/// Some signals, which come as values instead of calling handlers: `while (auto number = co_await signals.next())`.
///
/// What the program has to do: make it before a run or between two, on the thread that will call run(), before the program starts threads
/// of its own. The signals are blocked there, in the threads started from there, and in those of this runtime's workers, so that no
/// thread gets them; they stay blocked when it is closed. Threads for blocking jobs and for stalls have all signals blocked anyway. Not
/// blocked are they in threads that were there before, as those of another runtime that has run: a signal that finds one of these does
/// there what it would do without a signal_set, which for most is to end the program.
/// Only signals to the process come, as from kill(1) or a terminal; not those to a thread, as from raise or pthread_kill.
/// The system keeps one of each number until it is read; of real-time signals, all.
/// runtime::stop_on: a signal belongs to it or to one signal_set of the process; whoever asks second gets an error. A program that
/// wants to do something before it stops takes the signal here, and calls runtime::stop.
/// Color: see io_object. Each operation comes in two forms: awaited, and with a callback.
class signal_set : private io_object {
 public:
  /// Closed.
  signal_set() noexcept = default;

  /// Errors: std::system_error: std::errc::device_or_resource_busy if one of them belongs to another signal_set, or to
  /// stop_on; std::errc::invalid_argument for a number that is none, or that cannot be waited for (SIGKILL, SIGSTOP,
  /// and those that a thread brings upon itself, as SIGSEGV); what the system says, as std::errc::too_many_files_open.
  /// After an error, no signal is blocked that was not blocked before. While the runtime runs, ends the program with a
  /// message.
  signal_set(runtime& rt, std::initializer_list<int> signals, tartan::color c = {},
             std::source_location site = std::source_location::current());

  /// The number of the next signal.
  ///
  /// Errors: errc::canceled, errc::closed.
  [[nodiscard]] auto next() noexcept { return detail::io_awaitable<detail::next_signal_op>{std::in_place, key()}; }
  template <detail::completion_of<detail::next_signal_op> F>
  void next(F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::next_signal_op>(std::forward<F>(f), site, key());
  }

  using io_object::cancel;
  using io_object::close;
  using io_object::color;
  using io_object::hint;
  using io_object::is_open;
  using io_object::native_handle;
};

}  // namespace tartan
