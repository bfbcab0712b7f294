#pragma once
/// Times as HTTP writes them.

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace tartan::http {

/// "Sun, 06 Nov 1994 08:49:37 GMT", whatever the program's locale.
///
/// Threads: any.
/// Errors: std::bad_alloc.
/// Limits: years 0 to 9999.
/// Source: RFC 9110, 5.6.7.
[[nodiscard]] std::string format_date(std::time_t at);

/// A date in one of the three forms that HTTP has had; nothing if it is none of them.
///
/// A year of two digits is the one that is nearest, at most 50 years ahead. The day of the week is not checked.
/// Threads: any.
/// Source: RFC 9110, 5.6.7.
[[nodiscard]] std::optional<std::time_t> parse_date(std::string_view text) noexcept;

/// The value of Date fields, formatted once a second.
///
/// Threads: one at a time: a server has one per worker.
/// Cost: about 5 ns. The clock is the kernel's coarse one, at most one tick late (1 to 10 ms).
class date_clock {
 public:
  /// Lifetime: until the next call.
  /// Errors: std::bad_alloc; the next call tries again.
  [[nodiscard]] std::string_view text();

 private:
  std::time_t at_ = -1;
  std::string text_;
};

}  // namespace tartan::http
