#pragma once
/// How the classic back-end spells types and values.

#include <set>
#include <string>

#include "xdr/ast.h"

namespace xdr_compiler {

class classic_names {
 public:
  classic_names(const specification& all, std::string prefix);

  /// A declared name, with the prefix; any other as it is.
  [[nodiscard]] std::string name(const std::string& of) const;
  /// A declared name, as the .x file has it and C++ takes it.
  [[nodiscard]] std::string value_text(const value& of) const;
  [[nodiscard]] std::string type(const declaration& of) const;
  /// One word, which macros put behind "xdr_": the type of an argument or a result.
  [[nodiscard]] std::string word(const declaration& of) const;
  /// Constants and values of enums that stand in front of what is written next.
  void write(const std::string& constant) { written_.insert(constant); }

 private:
  [[nodiscard]] std::string base(const declaration& of) const;

  std::string prefix_;
  std::set<std::string> declared_;
  std::set<std::string> written_;
};

/// "kiosk_prog_1": the table of a version.
[[nodiscard]] std::string table_name(const std::string& program, const version& of);

}  // namespace xdr_compiler
