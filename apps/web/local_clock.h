#pragma once
/// The time as the access log has it.

#include <ctime>
#include <string>
#include <string_view>

namespace web {

/// "06/Nov/1994:09:49:37 +0100", in the local time zone, formatted once a second.
///
/// Threads: one at a time: each worker has one.
/// Cost: as http::date_clock.
class local_clock {
 public:
  /// Lifetime: until the next call.
  [[nodiscard]] std::string_view text();

 private:
  std::time_t at_ = -1;
  std::string text_;
};

}  // namespace web
