#pragma once
/// Conditional requests: If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since, If-Range.

#include <ctime>
#include <optional>
#include <string_view>
#include <tartan/http/header_lines.h>
#include <tartan/http/status.h>

namespace tartan::http {

/// What tells one state of a representation from another.
struct validators {
  std::string_view tag;                 ///< a strong one with its quotes; empty: none, and only "*" matches
  std::optional<std::time_t> modified;  ///< nothing: conditions on dates are ignored
};

/// What becomes of a GET or HEAD that would be answered with 200: ok; not_modified, because the client has this state;
/// or precondition_failed, because it is not the state that the client expects.
///
/// A date that cannot be parsed, or comes twice, is ignored.
/// Threads: any.
/// Source: RFC 9110, 13.
[[nodiscard]] status check_preconditions(const header_lines& fields, const validators& of);

/// Whether a Range is to be honored: there is no If-Range, or it names this state.
///
/// The tag must be strong. A date must be equal and older than a second before `now`: until then there may be another
/// state of the same date.
/// Threads: any.
/// Source: RFC 9110, 13.1.5.
[[nodiscard]] bool range_counts(const header_lines& fields, const validators& of, std::time_t now);

}  // namespace tartan::http
