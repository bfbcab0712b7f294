#pragma once
/// Programs of the modern back-end: typed clients and servers.

#include "xdr/modern_types.h"
#include "xdr/source_text.h"

namespace xdr_compiler {

void write_program(source_text& to, const definition& of, const modern_types& types);

}  // namespace xdr_compiler
