#include "xdr/classic_names.h"

#include <utility>

#include "xdr/cpp_names.h"

namespace xdr_compiler {

classic_names::classic_names(const specification& all, std::string prefix) : prefix_{std::move(prefix)} {
  for (const auto& each : all.definitions) {
    if (each->is_imported) continue;
    declared_.insert(each->name);
    if (const auto* values = each->as<enum_body>()) {
      for (const enumerator& one : values->all) declared_.insert(one.name);
    } else if (const auto* program = each->as<program_body>()) {
      for (const version& one : program->versions) {
        declared_.insert(one.name);
        for (const procedure& call : one.procedures) declared_.insert(call.name);
      }
    }
  }
}

std::string classic_names::name(const std::string& of) const {
  return declared_.contains(of) ? prefix_ + of : of;
}

std::string classic_names::value_text(const value& of) const {
  if (!of.is_name) return of.text;
  if (!of.number || written_.contains(of.text)) return name(of.text);
  return to_string(*of.number);
}

std::string classic_names::base(const declaration& of) const {
  switch (of.base) {
    case base_type::nothing:
      return "void";
    case base_type::boolean:
      return "bool";
    case base_type::int32:
      return "int32_t";
    case base_type::uint32:
      return "u_int32_t";
    case base_type::int64:
      return "int64_t";
    case base_type::uint64:
      return "u_int64_t";
    case base_type::float32:
      return "float";
    case base_type::float64:
      return "double";
    case base_type::quadruple:
      return "quadruple";
    case base_type::opaque:
      return "char";
    case base_type::string:
      return "string";
    case base_type::named:
      break;
  }
  return name(of.type_name);
}

std::string classic_names::type(const declaration& of) const {
  const std::string size = of.size ? value_text(*of.size) : "RPC_INFINITY";
  if (of.base == base_type::string) return "rpc_str<" + size + ">";
  if (of.base == base_type::opaque) return (of.form == shape::array ? "rpc_opaque<" : "rpc_bytes<") + size + ">";
  switch (of.form) {
    case shape::single:
      return base(of);
    case shape::array:
      return "array<" + base(of) + ", " + size + ">";
    case shape::list:
      return "rpc_vec<" + base(of) + ", " + size + ">";
    case shape::optional:
      break;
  }
  return "rpc_ptr<" + base(of) + ">";
}

std::string classic_names::word(const declaration& of) const {
  return base(of);
}

std::string table_name(const std::string& program, const version& of) {
  return lower_case(program) + "_" + (of.number.number ? to_string(*of.number.number) : of.number.text);
}

}  // namespace xdr_compiler
