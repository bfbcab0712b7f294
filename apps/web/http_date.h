#pragma once
/// Times as HTTP writes them.

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace web {

/// "Sun, 06 Nov 1994 08:49:37 GMT"
[[nodiscard]] std::string http_date(std::time_t at);

/// A date in one of the three forms that HTTP has had (RFC 9110, 5.6.7); nothing if it is none. A year of two digits is the one that is nearest, 50 years
/// ahead at most. The day of the week is not looked at.
[[nodiscard]] std::optional<std::time_t> parse_http_date(std::string_view text) noexcept;

/// The date of responses, and of lines of a log, written once a second.
///
/// Cost: 5 ns; the clock is the kernel's coarse one, a tick late at most: 1 to 10 ms.
class date_clock {
 public:
  [[nodiscard]] std::string_view text();

  /// "06/Nov/1994:09:49:37 +0100", in the local time zone.
  [[nodiscard]] std::string_view local();

 private:
  std::time_t at_ = -1;
  std::string text_;
  std::time_t local_at_ = -1;
  std::string local_;
};

}  // namespace web
