#include "xdr/modern_types.h"

#include <algorithm>

#include "xdr/cpp_names.h"
#include "xdr/recursion.h"

namespace xdr_compiler {

namespace {

std::string limit_of(const declaration& of) {
  return of.size ? to_string(*of.size->number) : "";
}

/// "<a, b>"; "<a>" if there is no b.
std::string arguments(const std::string& first, const std::string& second) {
  return "<" + first + (first.empty() || second.empty() ? "" : ", ") + second + ">";
}

}  // namespace

modern_types::modern_types(const specification& all, const modern_options& with)
    : with_{&with}, links_{find_linked_lists(all)} {}

std::vector<std::string> modern_types::namespaces_of(const definition& of) const {
  std::vector<std::string> all = with_->namespaces;
  if (of.is_imported && !with_->has_own_namespace) all = {namespace_of_file(*of.at.file)};
  for (const std::string& each : of.scope) all.push_back(cpp_name(each));
  return all;
}

std::string modern_types::qualified(const definition& of) const {
  std::string name;
  for (const std::string& each : namespaces_of(of)) name += "::" + each;
  return name + "::" + cpp_name(of.name);
}

std::string modern_types::spell_base(const declaration& of, const hidden_names& hidden) const {
  switch (of.base) {
    case base_type::nothing:
      return "void";
    case base_type::boolean:
      return "bool";
    case base_type::int32:
      return "std::int32_t";
    case base_type::uint32:
      return "std::uint32_t";
    case base_type::int64:
      return "std::int64_t";
    case base_type::uint64:
      return "std::uint64_t";
    case base_type::float32:
      return "float";
    case base_type::float64:
      return "double";
    case base_type::quadruple:
      return "tartan::xdr::quadruple";
    case base_type::opaque:
    case base_type::string:
      return "std::byte";
    case base_type::named:
      break;
  }
  const std::string name = cpp_name(of.type->name);
  const bool is_near = of.type_name == of.type->name && (with_->has_own_namespace || !of.type->is_imported);
  return is_near && !hidden.contains(name) ? name : qualified(*of.type);
}

std::string modern_types::spell(const declaration& of, const hidden_names& hidden) const {
  if (of.base == base_type::string) return "tartan::xdr::text" + arguments("", limit_of(of));
  if (of.base == base_type::opaque && of.form == shape::list) {
    const bool is_large = !of.size || *of.size->number >= wide{with_->by_reference};
    return (is_large ? "tartan::xdr::data" : "tartan::xdr::bytes") + arguments("", limit_of(of));
  }
  const std::string base = spell_base(of, hidden);
  switch (of.form) {
    case shape::single:
      return base;
    case shape::array:
      return "std::array" + arguments(base, limit_of(of));
    case shape::list:
      return "tartan::xdr::list" + arguments(base, limit_of(of));
    case shape::optional:
      break;
  }
  const definition* const target = pointed_to(of);
  return (target != nullptr && is_link(*target) ? "tartan::xdr::linked_list" : "tartan::xdr::optional") +
         arguments(base, "");
}

std::string modern_types::literal(const declaration& of, wide number, const hidden_names& hidden) const {
  const declaration& behind = without_aliases(of);
  if (behind.base == base_type::boolean) return number != 0 ? "true" : "false";
  if (behind.base == base_type::uint32) return to_string(number) + "U";
  if (behind.base != base_type::named) return to_string(number);
  const std::vector<enumerator>& all = behind.type->as<enum_body>()->all;
  const auto one = std::find_if(all.begin(), all.end(), [&](const enumerator& each) { return each.number == number; });
  return spell(of, hidden) + "::" + cpp_name(one->name);
}

bool modern_types::is_vector_of_incomplete(const declaration& of) const {
  const definition* const target = pointed_to(of);
  if (of.form != shape::list && (target == nullptr || !is_link(*target))) return false;
  declaration element = of;
  element.form = shape::single;
  const definition* const type = without_aliases(element).type;
  return type != nullptr && type->as<enum_body>() == nullptr && !type->is_imported && !complete_.contains(type);
}

std::string modern_types::initializer(const declaration& of, const hidden_names& hidden) const {
  const declaration& behind = without_aliases(of);
  if (is_vector_of_incomplete(behind)) return "";
  if (behind.form != shape::single) return "{}";
  switch (behind.base) {
    case base_type::boolean:
      return " = false";
    case base_type::int32:
    case base_type::uint32:
    case base_type::int64:
    case base_type::uint64:
    case base_type::float32:
    case base_type::float64:
      return " = 0";
    case base_type::named:
      break;
    default:
      return "{}";
  }
  const auto* const values = behind.type->as<enum_body>();
  return values == nullptr ? "{}" : " = " + literal(of, values->all.front().number, hidden);
}

std::string modern_types::name_in_traversal(const definition& of) const {
  const std::string name = cpp_name(of.name);
  return names_of_traversals.contains(name) ? qualified(of) : name;
}

std::vector<declaration> modern_types::members_of(const definition& of) const {
  std::vector<declaration> all = of.as<struct_body>()->members;
  if (is_link(of)) all.pop_back();
  return all;
}

std::string member_name(const std::string& name, const definition& of) {
  const std::string found = cpp_name(name);
  return found == cpp_name(of.name) || found.starts_with("xdr_") ? found + "_" : found;
}

std::string kind_of(const definition& of) {
  if (of.as<enum_body>() != nullptr) return "enum";
  if (of.as<struct_body>() != nullptr) return "struct";
  if (of.as<union_body>() != nullptr) return "union";
  if (of.as<alias_body>() != nullptr) return "typedef";
  return of.as<program_body>() != nullptr ? "program" : "const";
}

std::string origin_of(const definition& of) {
  return "/// " + kind_of(of) + " " + of.name + ", " + std::string{base_name(*of.at.file)} + ":" +
         std::to_string(of.at.line);
}

}  // namespace xdr_compiler
