#pragma once
/// C++20 for a .x file: value types, enums, unions, traversals, typed clients and servers.

#include <cstdint>
#include <string>
#include <vector>

#include "xdr/ast.h"

namespace xdr_compiler {

struct modern_options {
  std::string source;                   ///< the .x file, as it was named
  std::vector<std::string> namespaces;  ///< around everything
  bool has_own_namespace = false;       ///< they were asked for; else each imported file has one of its own
  std::uint64_t by_reference = 4096;    ///< opaque<n> with n of at least this is xdr::data
};

/// The header. Precondition: the declarations were checked, without an error.
[[nodiscard]] std::string modern_header(const specification& all, const modern_options& with);

}  // namespace xdr_compiler
