#pragma once
/// Lines in a file, written off the workers.

#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/strand.h>
#include <tartan/core/task.h>
#include <tartan/time/timer.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "common/file.h"

namespace tartan::apps {

/// What messages call them: "PROGRAM: cannot write the LOG '/path': No space left on device".
struct line_log_names {
  std::string program;
  std::string log = "log";
};

/// A file to which lines are appended by a blocking thread, so that no worker waits for the disk.
///
/// Lines are kept until there are 32 KB of them, or for a second, and are then written at once.
/// Color: its own; add and reopen may be called in any.
/// Lifetime: must outlive the coroutines of its runtime.
/// Errors: what cannot be written is lost. A line on stderr says how many lines were lost, at most once a second.
/// Limits: 4 MB wait, besides as much that is being written; if the disk is too slow for more, that is lost too.
class line_log {
 public:
  /// Errors: std::runtime_error if the file cannot be appended to, or is a pipe that nobody reads.
  line_log(tartan::runtime& rt, const std::string& path, line_log_names names);

  /// Whether the file could be appended to, as far as that shows without opening it: opening would create the file, or
  /// end a pipe for its reader. `name`: of the log, for the message.
  ///
  /// Errors: as the constructor's.
  static void check(const std::string& path, const std::string& name);

  /// Whole lines, each with its end. Order: behind all that this color has added before.
  void add(std::string lines);

  /// Opens the file anew, after it was renamed (logrotate), or another one, for what is added from then on. If that
  /// fails, a line on stderr says so, and the old file is written on.
  void reopen(std::string path);

  /// Ends when all that was added before has been written, or is lost.
  [[nodiscard]] tartan::task<> flush();

  /// Threads: any.
  [[nodiscard]] tartan::color color() const noexcept { return color_.value(); }

 private:
  using time = std::chrono::steady_clock::time_point;

  struct written {
    std::size_t bytes = 0;
    int error = 0;
  };
  void take(const std::string& lines) noexcept;
  void begin() noexcept;
  [[nodiscard]] tartan::task<> write();
  [[nodiscard]] written write_out(const std::string& lines, const std::string& anew);
  [[nodiscard]] written write_lines(const std::string& lines) noexcept;
  [[nodiscard]] written write_all(std::string_view text) noexcept;
  void lose(std::string_view lines, const char* why) noexcept;
  void complain(time not_before) noexcept;

  tartan::runtime& rt_;
  const line_log_names names_;
  tartan::strand color_;
  tartan::timer timer_;
  tartan::semaphore turn_{1};  ///< one writes
  file file_;                  ///< of who writes
  bool is_torn_ = false;       ///< of who writes: the file ends within a line
  std::string waiting_;
  bool has_begun_ = false;  ///< somebody is about to write what waits
  bool is_timed_ = false;   ///< somebody will be, within a second
  std::string reopens_;     ///< the path; empty: it does not
  std::size_t lost_ = 0;    ///< lines that nobody was told of
  const char* why_ = "";    ///< the last of them
  time next_complaint_{};
};

}  // namespace tartan::apps
