#include "xdr/checker.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "xdr/base_names.h"
#include "xdr/recursion.h"
#include "xdr/symbols.h"

namespace xdr_compiler {

namespace {

constexpr wide least_int = -(wide{1} << 31);
constexpr wide most_int = (wide{1} << 31) - 1;
constexpr wide most_unsigned = (wide{1} << 32) - 1;

std::string quoted(std::string_view name) {
  return "'" + std::string{name} + "'";
}

class checker {
 public:
  checker(specification& all, diagnostics& errors, unknown_names unknown)
      : all_{&all}, errors_{&errors}, passes_unknown_{unknown == unknown_names::pass_through}, names_{all, errors} {}

  void check_all() {
    for (const auto& each : all_->definitions) resolve(*each);
    if (!find_endless_types(*all_, *errors_)) return;  // what follows looks behind typedefs
    for (const auto& each : all_->definitions) {
      if (const auto* found = each->as<union_body>()) check_union(*each, *found);
    }
    check_programs();
  }

 private:
  using scope = std::vector<std::string>;

  // --- names
  void resolve(definition& now) {
    if (auto* constant = now.as<constant_body>()) {
      resolve(constant->is, now.scope);
    } else if (auto* alias = now.as<alias_body>()) {
      resolve(alias->is, now.scope);
    } else if (now.as<enum_body>() != nullptr) {
      resolve_enum(now);
    } else if (auto* members = now.as<struct_body>()) {
      std::map<std::string_view, place> seen;
      for (declaration& each : members->members) {
        resolve(each, now.scope);
        see(seen, each.name, each.at, "a member");
      }
    } else if (auto* with = now.as<union_body>()) {
      resolve_union(*with, now.scope);
    } else if (auto* program = now.as<program_body>()) {
      resolve_program(*program, now.scope);
    }
  }
  void see(std::map<std::string_view, place>& seen, const std::string& name, const place& at, const std::string& as) {
    const auto [old, is_new] = seen.emplace(name, at);
    if (!is_new) errors_->error(at, quoted(name) + " is already the name of " + as + " (" + line_of(old->second) + ")");
  }
  void resolve_union(union_body& with, const scope& in) {
    std::map<std::string_view, place> seen;
    resolve(with.discriminant, in);
    seen.emplace(with.discriminant.name, with.discriminant.at);
    for (union_arm& each : with.arms) {
      for (value& one : each.cases) resolve(one, in);
      if (each.what.base == base_type::nothing) continue;
      resolve(each.what, in);
      see(seen, each.what.name, each.what.at, "an arm or the discriminant");
    }
  }
  void resolve_program(program_body& program, const scope& in) {
    resolve(program.number, in);
    for (version& each : program.versions) {
      resolve(each.number, in);
      for (procedure& one : each.procedures) {
        resolve(one.result, in);
        for (declaration& argument : one.arguments) resolve(argument, in);
        resolve(one.number, in);
      }
    }
  }

  void resolve(declaration& is, const scope& in) {
    if (is.base == base_type::named) resolve_type(is, in);
    if (!is.size) return;
    resolve(*is.size, in);
    if (!is.size->number) return;
    const wide number = *is.size->number;
    if (is.form == shape::array && number == 0) {
      errors_->error(is.size->at, quoted(is.name) + " has no element: a size is 1 to 4294967295");
    } else if (number < 0 || number > most_unsigned) {
      const std::string what = is.form == shape::array ? "size is 1" : "limit is 0";
      errors_->error(is.size->at,
                     "the size of " + quoted(is.name) + " is " + to_string(number) + ": a " + what + " to 4294967295");
    }
  }
  void resolve_type(declaration& is, const scope& in) {
    const symbol* const found = names_.find(is.type_name, in);
    if (found != nullptr && found->what == symbol::kind::type) {
      is.type = found->of;
    } else if (found != nullptr) {
      errors_->error(is.type_at, quoted(is.type_name) + " is " + std::string{name_of(found->what)} + ", not a type (" +
                                     line_of(found->at) + ")");
    } else if (const auto base = base_of_c_name(is.type_name)) {
      is.base = *base;
    } else if (!passes_unknown_) {
      errors_->error(is.type_at, quoted(is.type_name) + " is not declared");
    }
  }

  // --- values
  void resolve(value& is, const scope& in) {
    if (!is.is_name || is.number) return;
    const symbol* const found = names_.find(is.text, in);
    if (found == nullptr) {
      if (is.text == "TRUE" || is.text == "FALSE") {
        is.number = is.text == "TRUE" ? 1 : 0;
      } else if (!passes_unknown_) {
        errors_->error(is.at, quoted(is.text) + " is not declared");
        is.number = 1;
      }
    } else if (found->what == symbol::kind::constant) {
      value& constant = found->of->as<constant_body>()->is;
      if (enter(*found->of, is)) resolve(constant, found->of->scope);
      active_.erase(found->of);
      is.number = constant.number;
    } else if (found->what == symbol::kind::enumerator) {
      if (enter(*found->of, is)) resolve_enum(*found->of);
      is.number = found->one->number;
    } else {
      errors_->error(is.at, quoted(is.text) + " is " + std::string{name_of(found->what)} + ", not a constant (" +
                                line_of(found->at) + ")");
      is.number = 1;
    }
  }
  /// False if the definition is being resolved: it would need its own value.
  bool enter(definition& of, value& is) {
    if (const auto* values = of.as<enum_body>(); values != nullptr && active_.contains(&of)) {
      const bool is_known = std::any_of(values->all.begin(), values->all.end(), [&](const enumerator& one) {
        return one.name == is.text && known_.contains(&one);
      });
      if (!is_known) errors_->error(is.at, quoted(is.text) + " has no value yet: it depends on itself");
      return false;
    }
    if (of.as<enum_body>() != nullptr) return true;
    if (active_.insert(&of).second) return true;
    errors_->error(is.at, quoted(is.text) + " depends on itself");
    of.as<constant_body>()->is.number = 1;
    return false;
  }
  void resolve_enum(definition& now) {
    if (!resolved_.insert(&now).second) return;
    active_.insert(&now);
    wide next = 0;
    for (enumerator& each : now.as<enum_body>()->all) {
      if (each.given) {
        resolve(*each.given, now.scope);
        next = each.given->number.value_or(next);
      }
      each.number = next++;
      known_.insert(&each);
      if (each.number < least_int || each.number > most_int) {
        errors_->error(each.given ? each.given->at : each.at, quoted(each.name) + " is " + to_string(each.number) +
                                                                  ": an enum's values are -2147483648 to 2147483647");
        next = 0;
      }
    }
    active_.erase(&now);
  }

  // --- unions
  void check_union(const definition& now, const union_body& with) {
    const declaration& over = without_aliases(with.discriminant);
    const auto* const values = over.type != nullptr ? over.type->as<enum_body>() : nullptr;
    const bool is_passed = over.base == base_type::named && over.type == nullptr;
    const bool is_good = over.form == shape::single &&
                         (over.base == base_type::int32 || over.base == base_type::uint32 ||
                          over.base == base_type::boolean || values != nullptr || (is_passed && passes_unknown_));
    if (!is_good) {
      errors_->error(with.discriminant.type_at, "the discriminant of union " + quoted(now.name) +
                                                    " must be an int, an unsigned int, a bool or an enum");
      return;
    }
    std::map<wide, place> seen;
    for (const union_arm& arm : with.arms) {
      for (const value& each : arm.cases) {
        if (!each.number || is_passed) continue;
        check_case(each, over, values);
        const auto [old, is_new] = seen.emplace(*each.number, each.at);
        if (!is_new)
          errors_->error(each.at, "case " + quoted(each.text) + " is there already (" + line_of(old->second) + ")");
      }
    }
  }
  void check_case(const value& is, const declaration& over, const enum_body* values) {
    const wide number = *is.number;
    if (values != nullptr) {
      const bool any = std::any_of(values->all.begin(), values->all.end(),
                                   [&](const enumerator& one) { return one.number == number; });
      if (!any) errors_->error(is.at, quoted(is.text) + " is no value of enum " + quoted(over.type->name));
    } else if (over.base == base_type::boolean) {
      if (number != 0 && number != 1) errors_->error(is.at, quoted(is.text) + " is no bool: write TRUE or FALSE");
    } else {
      const bool is_signed = over.base == base_type::int32;
      if (number < (is_signed ? least_int : 0) || number > (is_signed ? most_int : most_unsigned))
        errors_->error(is.at, "case " + quoted(is.text) + " is out of the range of " + quoted(name_of(over.base)));
    }
  }

  // --- programs
  void check_programs() {
    std::map<wide, place> programs;
    for (const auto& each : all_->definitions) {
      const auto* const program = each->as<program_body>();
      if (program == nullptr) continue;
      check_number(program->number, each->name, "program", programs);
      std::map<wide, place> versions;
      for (const version& one : program->versions) {
        check_number(one.number, one.name, "version", versions);
        std::map<wide, place> procedures;
        std::map<std::string_view, place> names;
        for (const procedure& call : one.procedures) {
          check_number(call.number, call.name, "procedure", procedures);
          see(names, call.name, call.at, "a procedure");
        }
      }
    }
  }
  void check_number(const value& is, const std::string& name, const std::string& what, std::map<wide, place>& seen) {
    if (!is.number) return;
    if (*is.number < 0 || *is.number > most_unsigned) {
      errors_->error(is.at,
                     "the number of " + quoted(name) + " is " + to_string(*is.number) + ": it must be 0 to 4294967295");
    }
    const auto [old, is_new] = seen.emplace(*is.number, is.at);
    if (!is_new)
      errors_->error(
          is.at, "another " + what + " has the number " + to_string(*is.number) + " (" + line_of(old->second) + ")");
  }

  specification* all_;
  diagnostics* errors_;
  bool passes_unknown_;
  symbols names_;
  std::set<const definition*> active_;    ///< whose values are being resolved
  std::set<const definition*> resolved_;  ///< enums
  std::set<const enumerator*> known_;     ///< that have their number
};

}  // namespace

void check(specification& all, diagnostics& errors, unknown_names unknown) {
  checker{all, errors, unknown}.check_all();
}

}  // namespace xdr_compiler
