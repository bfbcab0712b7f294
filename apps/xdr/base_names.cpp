#include "xdr/base_names.h"

#include <utility>

namespace xdr_compiler {

namespace {

using named = std::pair<std::string_view, base_type>;

template <std::size_t Size>
std::optional<base_type> find(const named (&all)[Size], std::string_view word) noexcept {
  for (const named& each : all) {
    if (each.first == word) return each.second;
  }
  return std::nullopt;
}

}  // namespace

std::optional<base_type> base_of_keyword(std::string_view word) noexcept {
  static constexpr named all[] = {
      {"void", base_type::nothing},        {"bool", base_type::boolean},  {"int", base_type::int32},
      {"hyper", base_type::int64},         {"float", base_type::float32}, {"double", base_type::float64},
      {"quadruple", base_type::quadruple}, {"opaque", base_type::opaque}, {"string", base_type::string},
  };
  return find(all, word);
}

std::optional<base_type> base_of_c_name(std::string_view word) noexcept {
  static constexpr named all[] = {
      {"bool_t", base_type::boolean},      {"int32_t", base_type::int32},   {"u_int", base_type::uint32},
      {"u_int32_t", base_type::uint32},    {"uint32_t", base_type::uint32}, {"int64_t", base_type::int64},
      {"u_int64_t", base_type::uint64},    {"uint64_t", base_type::uint64}, {"longlong_t", base_type::int64},
      {"u_longlong_t", base_type::uint64},
  };
  return find(all, word);
}

std::string_view name_of(base_type base) noexcept {
  switch (base) {
    case base_type::nothing:
      return "void";
    case base_type::boolean:
      return "bool";
    case base_type::int32:
      return "int";
    case base_type::uint32:
      return "unsigned int";
    case base_type::int64:
      return "hyper";
    case base_type::uint64:
      return "unsigned hyper";
    case base_type::float32:
      return "float";
    case base_type::float64:
      return "double";
    case base_type::quadruple:
      return "quadruple";
    case base_type::opaque:
      return "opaque";
    case base_type::string:
      return "string";
    case base_type::named:
      return "a type";
  }
  return "";
}

}  // namespace xdr_compiler
