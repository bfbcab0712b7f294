#pragma once
/// What was answered, a line each, in a file: written by none of those who serve.

#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/strand.h>
#include <tartan/core/task.h>
#include <tartan/time/timer.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "web/file.h"

namespace web {

/// One answer.
struct log_entry {
  std::string_view client;    ///< its address
  std::string_view time;      ///< local_clock's
  std::string_view request;   ///< the first line, as it came
  unsigned status = 0;
  std::uint64_t bytes = 0;    ///< of the body
  std::string_view referer;   ///< empty: none
  std::string_view agent;     ///< likewise
};

/// Appends a line in the combined format of Apache and nginx. Whatever is no visible ASCII, quotes and backslashes are written as \xHH, so that no
/// client can make up a line.
///
/// Limits: of each text the first 1024 bytes.
void append(std::string& lines, const log_entry& what);

/// A file that is appended to, by a thread that may block.
///
/// Color: its own; add and reopen may be called in any. Lines are kept until there are 32 KB of them, or a second has passed, and then written at once.
/// Lifetime: must outlive the coroutines of its runtime.
/// Errors: what cannot be written is lost, and so is what comes while 4 MB wait, and as much is being written to a disk that is too slow: a line on
/// stderr says how many lines, once a second at most.
class access_log {
 public:
  /// Errors: std::runtime_error, if the file cannot be appended to, or is a pipe that nobody reads.
  access_log(tartan::runtime& rt, const std::string& path);

  /// Whether there could be one, as far as can be told without opening it: that would make the file, or end a pipe for who reads it.
  ///
  /// Errors: as of the constructor.
  static void check(const std::string& path);

  /// Whole lines. Order: with all that this color has added before.
  void add(std::string lines);

  /// Opens the file anew, after it was renamed (logrotate); or another one, for what is added from then on. If that fails, the old one is written on.
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
  tartan::strand color_;
  tartan::timer timer_;
  tartan::semaphore turn_{1};   ///< one writes
  file file_;                   ///< of who writes
  bool is_torn_ = false;        ///< of who writes: the file ends within a line
  std::string waiting_;
  bool has_begun_ = false;      ///< somebody is about to write what waits
  bool is_timed_ = false;       ///< somebody will be, within a second
  std::string reopens_;         ///< the path; empty: it does not
  std::size_t lost_ = 0;        ///< lines that nobody was told of
  const char* why_ = "";        ///< the last of them
  time next_complaint_{};
};

}  // namespace web
