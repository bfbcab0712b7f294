#pragma once
/// Unions of the modern back-end.

#include "xdr/modern_types.h"
#include "xdr/source_text.h"

namespace xdr_compiler {

void write_union(source_text& to, const definition& of, const modern_types& types);

}  // namespace xdr_compiler
