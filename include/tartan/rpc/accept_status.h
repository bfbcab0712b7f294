#pragma once
/// What became of a call.

#include <cstdint>

namespace tartan::rpc {

/// RFC 5531's accept_stat.
enum class accept_status : std::uint32_t {
  success = 0,
  program_unavailable = 1,    ///< the server does not have the program
  program_mismatch = 2,       ///< the server has other versions of it
  procedure_unavailable = 3,  ///< the program does not have the procedure
  garbage_arguments = 4,      ///< the server cannot decode the arguments
  system_error = 5,           ///< the server failed, for instance for lack of memory
};

}  // namespace tartan::rpc
