#pragma once
/// Values in a query: "a=1&b=two+words".

#include <optional>
#include <string>
#include <string_view>

namespace tartan::http {

/// The text that was percent-encoded, with a '+' for each blank, as browsers send forms. What is no encoding stays as
/// it is.
///
/// Errors: std::bad_alloc.
/// Source: the URL standard, application/x-www-form-urlencoded.
[[nodiscard]] std::string form_decoded(std::string_view text);

/// The value of the first parameter of that name; nothing if there is none. `query`: with or without its '?'; a form's
/// body is the same.
///
/// Errors: std::bad_alloc.
[[nodiscard]] std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace tartan::http
