#pragma once
/// What a .x file declares: made by the parser, completed by the checker, read by the back-ends.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "xdr/diagnostics.h"

namespace xdr_compiler {

/// Has room for all that any XDR type holds.
using wide = __int128;

[[nodiscard]] std::string to_string(wide number);

struct definition;

/// A number, or the name of a constant.
struct value {
  std::string text;
  place at;
  bool is_name = false;
  std::optional<wide> number;  ///< by the checker; none: a name that --classic passes through
};

enum class base_type {
  nothing,  ///< void
  boolean,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  quadruple,
  opaque,
  string,
  named,  ///< declaration::type_name
};

enum class shape {
  single,    ///< T x
  array,     ///< T x[size]
  list,      ///< T x<size>
  optional,  ///< T *x
};

/// A member, an arm, an argument, or what a typedef names.
struct declaration {
  base_type base = base_type::nothing;
  std::string type_name;
  place type_at;
  const definition* type = nullptr;  ///< by the checker; none: a name that --classic passes through
  shape form = shape::single;
  std::optional<value> size;  ///< none: unbounded, or the form has none
  std::string name;
  place at;
};

struct enumerator {
  std::string name;
  place at;
  std::optional<value> given;
  wide number = 0;  ///< by the checker
};

struct union_arm {
  std::vector<value> cases;
  bool is_default = false;
  declaration what;  ///< base_type::nothing: a void arm
};

struct procedure {
  std::string name;
  place at;
  declaration result;
  std::vector<declaration> arguments;  ///< none for void
  value number;
};

struct version {
  std::string name;
  place at;
  std::vector<procedure> procedures;
  value number;
};

struct constant_body {
  value is;
};
struct alias_body {
  declaration is;
};
struct enum_body {
  std::vector<enumerator> all;
};
struct struct_body {
  std::vector<declaration> members;
};
struct union_body {
  declaration discriminant;
  std::vector<union_arm> arms;
};
struct program_body {
  std::vector<version> versions;
  value number;
};
/// A line that began with %.
struct text_body {
  std::string line;
};

using body_type = std::variant<constant_body, alias_body, enum_body, struct_body, union_body, program_body, text_body>;

struct definition {
  std::string name;
  place at;
  std::vector<std::string> scope;  ///< namespaces, the outermost first
  bool is_imported = false;        ///< from another .x file, which has a header of its own
  body_type body;

  template <class Body>
  [[nodiscard]] const Body* as() const noexcept {
    return std::get_if<Body>(&body);
  }
  template <class Body>
  [[nodiscard]] Body* as() noexcept {
    return std::get_if<Body>(&body);
  }
  [[nodiscard]] bool is_type() const noexcept {
    return as<alias_body>() || as<enum_body>() || as<struct_body>() || as<union_body>();
  }
};

/// In the order of the file; a type without a name of its own stands before the definition that holds it.
struct specification {
  std::vector<std::unique_ptr<definition>> definitions;
};

/// The declaration behind names of typedefs: follows them while they name single types.
[[nodiscard]] const declaration& without_aliases(const declaration& what) noexcept;

}  // namespace xdr_compiler
