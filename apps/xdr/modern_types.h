#pragma once
/// How the modern back-end spells types.

#include <set>
#include <string>
#include <vector>

#include "xdr/modern.h"

namespace xdr_compiler {

/// Names that a class has for something else, so that a type of that name must be qualified within it.
using hidden_names = std::set<std::string>;

class modern_types {
 public:
  modern_types(const specification& all, const modern_options& with);

  /// The namespaces that the definition is in.
  [[nodiscard]] std::vector<std::string> namespaces_of(const definition& of) const;
  /// The type of a declaration, as code in its namespaces names it.
  [[nodiscard]] std::string spell(const declaration& of, const hidden_names& hidden = {}) const;
  /// What a member begins with: " = 0", "{}"... Each has one, so that aggregates can be made from some of their members without
  /// a warning; but for vectors of a type that is not complete yet. An enum begins with its first value.
  [[nodiscard]] std::string initializer(const declaration& of, const hidden_names& hidden) const;
  /// From here on the type is complete.
  void complete(const definition& of) { complete_.insert(&of); }
  /// A value of the type: "mood::CALM", "-1", "true".
  [[nodiscard]] std::string literal(const declaration& of, wide number, const hidden_names& hidden) const;
  /// The definition's name within a template over Archive and Value.
  [[nodiscard]] std::string name_in_traversal(const definition& of) const;
  /// Whether the struct's last member is gone: the struct is an element of a linked_list.
  [[nodiscard]] bool is_link(const definition& of) const { return links_.contains(&of); }
  /// The members that a struct has in C++.
  [[nodiscard]] std::vector<declaration> members_of(const definition& of) const;

 private:
  [[nodiscard]] std::string spell_base(const declaration& of, const hidden_names& hidden) const;
  [[nodiscard]] std::string qualified(const definition& of) const;
  [[nodiscard]] bool is_vector_of_incomplete(const declaration& of) const;

  const modern_options* with_;
  std::set<const definition*> links_;
  std::set<const definition*> complete_;
};

/// What a traversal calls its own.
inline const hidden_names names_of_traversals{"Archive", "Value", "a", "x", "which", "arm"};

/// The name of a member or accessor: not that of its class.
[[nodiscard]] std::string member_name(const std::string& name, const definition& of);

/// "int", ... of a .x file's type: "struct", "union", "enum", "typedef", "program", "const".
[[nodiscard]] std::string kind_of(const definition& of);
/// The comment above a definition: what it is and where it comes from.
[[nodiscard]] std::string origin_of(const definition& of);

}  // namespace xdr_compiler
