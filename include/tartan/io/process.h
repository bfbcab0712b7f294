#pragma once
/// Child processes.

#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/io/object.h>
#include <tartan/io/pipe.h>
#include <tartan/io/wait.h>
#include <utility>
#include <vector>

namespace tartan {

/// How a process has ended.
struct process_end {
  int status = 0;  ///< what it gave to exit; 0 if a signal ended it
  int signal = 0;  ///< the signal that ended it; 0 if it has exited
  [[nodiscard]] bool success() const noexcept { return status == 0 && signal == 0; }
};

/// One standard stream of a child: `.output = child_stream::pipe`, `.errors = child_stream::append_to("log")`.
///
/// This program opens the files, so a relative path starts in its working directory, not in command::directory. Opening
/// never waits for the other side of a FIFO: a FIFO to read from is at its end while it has no writer, and a FIFO to
/// write to without a reader gives std::errc::no_such_device_or_address.
class child_stream {
 public:
  enum kind : std::uint8_t {
    inherited,  ///< this program's
    null,       ///< /dev/null
    pipe,       ///< a pipe to this program
    output,     ///< for errors only: wherever output goes
  };

  child_stream(kind what = inherited) noexcept : what_{what} {}

  /// A file to read. For input.
  [[nodiscard]] static child_stream from(std::string path) { return {access::read, std::move(path)}; }
  /// A file to write, created if it does not exist. `to` truncates it, `append_to` writes at its end. For output and
  /// errors.
  [[nodiscard]] static child_stream to(std::string path) { return {access::truncate, std::move(path)}; }
  [[nodiscard]] static child_stream append_to(std::string path) { return {access::append, std::move(path)}; }
  /// A duplicate of an open descriptor. The descriptor stays the caller's and may be closed after spawn returns.
  [[nodiscard]] static child_stream of(int descriptor) noexcept {
    child_stream made{access::lent, {}};
    made.descriptor_ = descriptor;
    return made;
  }

 private:
  friend class process_setup;
  enum class access : std::uint8_t { none, read, truncate, append, lent };
  child_stream(access how, std::string path) noexcept : path_{std::move(path)}, how_{how} {}

  std::string path_{};
  int descriptor_ = -1;
  kind what_ = inherited;
  access how_ = access::none;
};

/// The process group of a child: the processes that process::kill, or Ctrl-C at a terminal, reaches together.
enum class child_group : std::uint8_t {
  automatic,  ///< shared if the child's input is a terminal, which only one group may read at a time; own otherwise
  own,        ///< a new group: signals reach its descendants too, Ctrl-C does not; it is stopped if it reads /dev/tty, as ssh and sudo do
  shared,     ///< this program's group: Ctrl-C reaches it, process::kill reaches the child alone
};

/// What to start.
struct command {
  /// The program and its arguments. A name without '/' is looked for in this program's PATH; a relative path begins in `directory`.
  std::vector<std::string> arguments;
  /// "NAME=value" each, instead of this program's environment.
  std::optional<std::vector<std::string>> environment{};
  /// Where it runs; empty: where this program runs.
  std::string directory{};
  child_stream input{};
  child_stream output{};
  child_stream errors{};
  child_group group = child_group::automatic;
};

namespace detail {

class process_end_op : public io_wait {
 public:
  using value_type = process_end;
  explicit process_end_op(slot_key on) noexcept : io_wait{on, flow::in} {}
  [[nodiscard]] const char* name() const noexcept final { return "the end of a child process"; }
  [[nodiscard]] result<value_type> take() const noexcept { return error() ? result<value_type>{error()} : result<value_type>{end_}; }

 private:
  step attempt(io_slot& on) noexcept final;
  process_end end_;
};

}  // namespace detail

/// A child process and the pipes to it.
///
/// Each operation comes in two forms: awaited, and with a callback.
/// The child gets no descriptor of this program but its standard streams, no blocked signal, and the default action of
/// SIGPIPE. A standard stream that is non-blocking in this program (pipe::read_end::from_fd made it so) is reopened as
/// a blocking one for the child. Sockets cannot be reopened: the child gets them as they are.
/// Color: see io_object; its pipes have the same.
/// Lifetime: closing or destroying it before wait() has told the end kills the child (SIGKILL) and reaps it: no zombie
/// is left, and nothing goes on unseen. If the child leads a group (child_group), the whole group is killed,
/// grandchildren included. A program that has to survive makes itself a daemon. After wait() has told the end, the rest
/// of the group is left alone.
class process : private io_object {
 public:
  /// None.
  process() noexcept = default;

  /// Starts a program, in the running color or in `c`.
  ///
  /// Errors: what the system says: std::errc::no_such_file_or_directory or permission_denied for the program or a
  /// stream's file, std::errc::not_a_directory if the directory is none or does not exist; std::errc::invalid_argument
  /// without arguments, for an input `to` a file, an output `from` one, and child_stream::output for anything but
  /// errors.
  /// Cost: waits until the program is loaded, some 1 ms; blocking() is for those that lie on slow disks.
  [[nodiscard]] static result<process> spawn(const command& what, std::source_location site = std::source_location::current());
  [[nodiscard]] static result<process> spawn(runtime& rt, const command& what, tartan::color c = {});

  /// Waits for its end; at once, and the same again, if that was waited for before.
  ///
  /// Errors: errc::canceled, errc::closed; std::errc::no_child_process if somebody else has reaped it, as a program that ignores
  /// SIGCHLD or waits for any child does.
  [[nodiscard]] auto wait() noexcept { return detail::io_awaitable<detail::process_end_op>{std::in_place, key()}; }
  template <detail::completion_of<detail::process_end_op> F>
  void wait(F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::process_end_op>(std::forward<F>(f), site, key());
  }

  /// Sends a signal to the child, and to its whole process group if it leads one. Never hits another process that has
  /// got its number since.
  ///
  /// Errors: std::errc::no_such_process if it has been waited for; errc::closed.
  result<> kill(int signal, std::source_location site = std::source_location::current()) noexcept;

  /// Its number; 0 if closed.
  [[nodiscard]] int id() const noexcept;

  /// Open if the command says pipe; close leaves them.
  pipe::write_end input;
  pipe::read_end output;
  pipe::read_end errors;

  using io_object::cancel;
  using io_object::close;
  using io_object::color;
  using io_object::hint;
  using io_object::is_open;
  using io_object::native_handle;

 private:
  explicit process(detail::slot_key key) noexcept : io_object{key} {}
  [[nodiscard]] static result<process> start(detail::runtime_state& rt, const command& what, tartan::color c);
};

}  // namespace tartan
