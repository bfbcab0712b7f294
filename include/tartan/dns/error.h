#pragma once
/// What can go wrong with a name.

#include <system_error>

namespace tartan::dns {

/// Errors of looking up a name, as std::error_code values of dns::error_category().
enum class errc {
  no_such_host = 1,  ///< the name does not exist
  no_data,           ///< the name exists, but has no record of the type that was asked for
  timed_out,         ///< no name server answered in time
  refused,           ///< the name server does not answer this client
  server_failure,    ///< the name server could not find out
  malformed,         ///< the answer is no message of DNS, or its chain of aliases has no end
  invalid_name,      ///< the text is no name of a host: too long, an empty label, a character that no name has
  too_many_records,  ///< the answer has more records than resolver_options::most_records
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(errc e) noexcept {
  return {static_cast<int>(e), error_category()};
}

}  // namespace tartan::dns

template <>
struct std::is_error_code_enum<tartan::dns::errc> : std::true_type {};
