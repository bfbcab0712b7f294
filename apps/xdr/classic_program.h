#pragma once
/// Programs of the classic back-end: the table's declaration, APPLY, and functions with types in a namespace.

#include "xdr/classic_names.h"
#include "xdr/source_text.h"

namespace xdr_compiler {

void write_classic_program(source_text& to, const definition& of, const classic_names& names);

/// For FILE.C: the tables.
void write_classic_tables(source_text& to, const definition& of, const classic_names& names);

}  // namespace xdr_compiler
