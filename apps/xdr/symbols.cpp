#include "xdr/symbols.h"

#include <cstddef>

namespace xdr_compiler {

namespace {

std::string qualified(const std::vector<std::string>& scope, std::size_t depth, const std::string& name) {
  std::string whole;
  for (std::size_t n = 0; n < depth; ++n) whole += scope[n] + "::";
  return whole + name;
}

}  // namespace

std::string_view name_of(symbol::kind what) noexcept {
  switch (what) {
    case symbol::kind::type:
      return "a type";
    case symbol::kind::constant:
      return "a constant";
    case symbol::kind::enumerator:
      return "a value of an enum";
    case symbol::kind::program:
      return "a program";
    case symbol::kind::version:
      return "a version of a program";
  }
  return "";
}

symbols::symbols(specification& all, diagnostics& errors) {
  for (const auto& each : all.definitions) {
    definition& now = *each;
    if (now.as<text_body>() != nullptr) continue;
    const auto what = now.is_type()             ? symbol::kind::type
                      : now.as<constant_body>() ? symbol::kind::constant
                                                : symbol::kind::program;
    declare(now.name, now, {what, now.at, &now, nullptr}, errors);
    if (const auto* values = now.as<enum_body>()) {
      for (const enumerator& one : values->all)
        declare(one.name, now, {symbol::kind::enumerator, one.at, &now, &one}, errors);
    } else if (const auto* program = now.as<program_body>()) {
      for (const version& one : program->versions)
        declare(one.name, now, {symbol::kind::version, one.at, &now, nullptr}, errors);
    }
  }
}

void symbols::declare(const std::string& name, const definition& in, symbol what, diagnostics& errors) {
  const auto [old, is_new] = all_.emplace(qualified(in.scope, in.scope.size(), name), what);
  if (!is_new)
    errors.error(what.at, "'" + name + "' is already declared, as " + std::string{name_of(old->second.what)} + " (" +
                              line_of(old->second.at) + ")");
}

const symbol* symbols::find(const std::string& name, const std::vector<std::string>& scope) const {
  for (std::size_t depth = scope.size() + 1; depth-- > 0;) {
    const auto found = all_.find(qualified(scope, depth, name));
    if (found != all_.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace xdr_compiler
