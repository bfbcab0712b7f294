#pragma once
/// The lines of the access log.

#include <cstdint>
#include <string>
#include <string_view>

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

/// Appends a line in the combined format of Apache and nginx. Quotes, backslashes and whatever is not visible ASCII are
/// written as \xHH, so that no client can make up a line.
///
/// Limits: of each text the first 1024 bytes.
void append(std::string& lines, const log_entry& what);

}  // namespace web
