#pragma once
/// Looks names up and checks what the grammar does not: values, ranges, duplicates, recursion.

#include "xdr/ast.h"

namespace xdr_compiler {

enum class unknown_names { are_errors, pass_through };

/// Completes the declarations: value::number, declaration::type, enumerator::number.
///
/// A name is looked for in its namespace, then in those around it. A constant may be used in front of its definition.
/// Errors: reported. The declarations are fit for a back-end only if there was none.
void check(specification& all, diagnostics& errors, unknown_names unknown = unknown_names::are_errors);

}  // namespace xdr_compiler
