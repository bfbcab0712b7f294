#pragma once
/// Which types hold which, and what follows from it.

#include <set>
#include <vector>

#include "xdr/ast.h"

namespace xdr_compiler {

/// How a type uses another one.
struct use {
  const definition* of = nullptr;
  bool is_within =
      false;  ///< the other one stands in front: it is part of this one, or a name that can't be declared first
};

/// The types that a type names, each once for each time; none for what is no type.
[[nodiscard]] std::vector<use> uses_of(const definition& type);

/// Reports types that contain themselves, and typedefs that name themselves.
///
/// Errors: false if there is one.
bool find_endless_types(const specification& all, diagnostics& errors);

/// The struct that a pointer leads to, behind typedefs; null: it is no pointer to a struct.
[[nodiscard]] const definition* pointed_to(const declaration& what);

/// Structs that are the links of a list: the last member is the only pointer to the struct within it, and elsewhere it is used
/// through pointers only, at least once.
[[nodiscard]] std::set<const definition*> find_linked_lists(const specification& all);

/// The definitions in an order in which each is behind what must be complete for it. That of the file, where it can be.
struct emission {
  const definition* what;
  std::vector<const definition*> forward;  ///< structs and unions that are declared in front of it
};
[[nodiscard]] std::vector<emission> emission_order(const specification& all);

}  // namespace xdr_compiler
