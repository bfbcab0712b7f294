#pragma once
/// The names that a .x file declares.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "xdr/ast.h"

namespace xdr_compiler {

struct symbol {
  enum class kind { type, constant, enumerator, program, version };

  kind what = kind::type;
  place at;
  definition* of = nullptr;         ///< what declares it
  const enumerator* one = nullptr;  ///< of an enumerator
};

/// "a type", "a constant"...
[[nodiscard]] std::string_view name_of(symbol::kind what) noexcept;

class symbols {
 public:
  /// All names of the file.
  ///
  /// Errors: names that are declared twice in one namespace are reported.
  symbols(specification& all, diagnostics& errors);

  /// The innermost declaration that is visible in the scope; null: none.
  [[nodiscard]] const symbol* find(const std::string& name, const std::vector<std::string>& scope) const;

 private:
  void declare(const std::string& name, const definition& in, symbol what, diagnostics& errors);

  std::map<std::string, symbol, std::less<>> all_;  ///< by "a::b::name"
};

}  // namespace xdr_compiler
