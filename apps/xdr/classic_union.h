#pragma once
/// Unions of the classic back-end: a discriminant that can't be assigned, and arms that are used like pointers.

#include <string>

#include "xdr/classic_names.h"
#include "xdr/source_text.h"

namespace xdr_compiler {

/// The class and its macros.
void write_classic_union(source_text& to, const definition& of, const classic_names& names);
/// rpc_traverse.
void write_classic_union_traversal(source_text& to, const definition& of, const classic_names& names);

/// The label of a case; those of a bool are 0 and 1.
[[nodiscard]] std::string classic_case(const definition& of, const value& is, const classic_names& names);
/// A switch over "obj.tag", which a bool is not.
[[nodiscard]] std::string classic_switch(const definition& of, const std::string& tag);

}  // namespace xdr_compiler
