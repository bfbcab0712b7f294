#pragma once
/// What can go wrong with a remote procedure call.

#include <system_error>

namespace tartan::rpc {

/// As std::error_code values of rpc::error_category().
enum class errc {
  malformed = 1,          ///< the peer sent a message that is neither a call nor a reply
  too_large,              ///< a record is longer than the limit
  version_mismatch,       ///< the server does not speak version 2 of the RPC protocol
  authentication,         ///< the server refuses the credentials; auth_status of auth.h says why
  program_unavailable,    ///< the server does not have the program
  program_mismatch,       ///< the server has other versions of the program
  procedure_unavailable,  ///< the program does not have the procedure
  bad_arguments,          ///< the server could not decode the arguments
  system_error,           ///< the server failed, for instance for lack of memory
  bad_result,             ///< the result in the reply cannot be decoded
  disconnected,           ///< the connection ended before the reply arrived; the server may have run the procedure
  already_answered,       ///< the call has its reply; it takes one only
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(errc e) noexcept {
  return {static_cast<int>(e), error_category()};
}

}  // namespace tartan::rpc

template <>
struct std::is_error_code_enum<tartan::rpc::errc> : std::true_type {};
