#pragma once
/// Whether a client wants what there is: If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since, If-Range (RFC 9110, 13).

#include <ctime>
#include <optional>
#include <string_view>

#include "web/header_lines.h"
#include "web/status.h"

namespace web {

/// What a page can be known by.
struct validators {
  std::string_view tag;                 ///< with its quotes; empty: it has none, and no list but "*" matches
  std::optional<std::time_t> modified;  ///< nothing: it has no date, and conditions on dates are ignored
};

/// ok: the page is wanted; 304: the client has it; 412: it is not what the client expects. Of a request with GET or HEAD that would be answered with 200.
///
/// A date that is none, or stands there twice, is ignored.
[[nodiscard]] status check_preconditions(const header_lines& fields, const validators& of);

/// Whether the page is still that of which the client has a part, so that Range counts. True if there is no If-Range. A tag has to be strong, and a date to be
/// that of the page, which must lie a second back: until then there might be another state with the same date.
[[nodiscard]] bool range_counts(const header_lines& fields, const validators& of, std::time_t now);

}  // namespace web
