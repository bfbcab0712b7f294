#pragma once
/// What libasync's rpcc generates, for programs that were written for it: FILE.h and FILE.C.
///
/// The header stands on xdrmisc.h alone, which has to have: rpc_str, rpc_bytes, rpc_opaque, rpc_vec, rpc_ptr, array and
/// union_entry; rpc_traverse for these and for numbers; rpc_traverse_field(t, x, name), which calls rpc_traverse with the
/// name or, where there is none that takes it, without; rpc_enter_field and rpc_exit_field; rpc_destruct; RPC_STRUCT_DECL
/// and its like; rpc_program, rpcgen_table and XDRTBL_DECL. libasync's own has all but rpc_traverse_field.

#include <string>

#include "xdr/ast.h"

namespace xdr_compiler {

struct classic_options {
  std::string source;  ///< the .x file, as it was named
  std::string prefix;  ///< in front of each new name
  std::string header;  ///< how FILE.C includes the header
};

/// Reports what the grammar allows and rpcc's form has no place for: types in namespaces, several arguments.
void check_classic(const specification& all, diagnostics& errors);

/// FILE.h. Precondition: the declarations were checked, also by check_classic, without an error.
[[nodiscard]] std::string classic_header(const specification& all, const classic_options& with);
/// FILE.C. Precondition: as of classic_header.
[[nodiscard]] std::string classic_source(const specification& all, const classic_options& with);

}  // namespace xdr_compiler
