#include "xdr/modern_union.h"

#include <algorithm>
#include <cstddef>

#include "xdr/cpp_names.h"

namespace xdr_compiler {

namespace {

class union_writer {
 public:
  union_writer(source_text& to, const definition& of, const modern_types& types)
      : to_{&to}, of_{&of}, body_{of.as<union_body>()}, types_{&types}, name_{cpp_name(of.name)} {
    which_name_ = member_name(body_->discriminant.name, of);
    hidden_ = {which_name_, "set_void", "xdr_select"};
    std::size_t index = 0;
    for (const union_arm& each : body_->arms) {
      if (each.what.base == base_type::nothing) {
        indexes_.push_back(0);
        has_void_ = true;
        continue;
      }
      indexes_.push_back(++index);
      hidden_.insert(member_name(each.what.name, of));
      hidden_.insert("set_" + each.what.name);
    }
    which_ = types.spell(body_->discriminant, hidden_);
  }

  void write() {
    to_->gap();
    to_->line(origin_of(*of_));
    to_->open("class " + name_ + " {");
    to_->label("public:");
    to_->line("/// The discriminant: says which arm is selected.");
    to_->line("[[nodiscard]] " + which_ + " " + which_name_ + "() const noexcept { return xdr_which_; }");
    for (std::size_t n = 0; n < body_->arms.size(); ++n) {
      if (indexes_[n] != 0) write_arm(body_->arms[n], indexes_[n]);
    }
    if (has_void_) write_void_arms();
    write_select();
    to_->gap();
    to_->open("bool operator==(const " + name_ + "& other) const {");
    to_->line("return xdr_which_ == other.xdr_which_ && xdr_arms_ == other.xdr_arms_;");
    to_->close();
    to_->gap();
    to_->label("private:");
    write_arm_of();
    write_state();
    to_->close("};");
    write_traversal();
  }

 private:
  [[nodiscard]] std::string type_of(const declaration& what) const { return types_->spell(what, hidden_); }
  [[nodiscard]] std::string literal(const value& is) const {
    return types_->literal(body_->discriminant, *is.number, hidden_);
  }
  static std::string cases_of(const union_arm& arm) {
    if (arm.is_default) return "the arm of all other values";
    std::string text = "the arm of ";
    for (std::size_t n = 0; n < arm.cases.size(); ++n) text += (n == 0 ? "" : ", ") + arm.cases[n].text;
    return text;
  }

  void write_arm(const union_arm& arm, std::size_t index) {
    const std::string type = type_of(arm.what);
    const std::string name = member_name(arm.what.name, *of_);
    const std::string at = "std::get_if<" + std::to_string(index) + ">(&xdr_arms_)";
    to_->gap();
    to_->line("/// " + cases_of(arm).replace(0, 1, "T") + "; null if another arm is selected.");
    to_->line("[[nodiscard]] const " + type + "* " + name + "() const noexcept { return " + at + "; }");
    to_->line("[[nodiscard]] " + type + "* " + name + "() noexcept { return " + at + "; }");
    const std::string setter = type + "& set_" + arm.what.name;
    const std::string emplace = "return xdr_arms_.emplace<" + std::to_string(index) + ">(std::move(value));";
    if (!arm.is_default) {
      to_->line("/// Selects the arm" + std::string{arm.cases.size() > 1 ? " by the first of its cases." : "."});
      to_->open(setter + "(" + type + " value = {}) {");
      to_->line("xdr_which_ = " + literal(arm.cases.front()) + ";");
      to_->line(emplace);
      to_->close();
    }
    if (arm.is_default || arm.cases.size() > 1) {
      to_->line("/// Selects the arm by one of its cases; another one ends the program.");
      to_->open(setter + "(" + which_ + " which, " + type + " value" + (may_leave_out(arm, type) ? " = {}" : "") +
                ") {");
      write_guard(index, "set_" + arm.what.name);
      to_->line("xdr_which_ = which;");
      to_->line(emplace);
      to_->close();
    }
  }
  /// Whether set_arm(x) can't be taken for one with a value.
  [[nodiscard]] bool may_leave_out(const union_arm& arm, const std::string& type) const {
    const bool is_enum = without_aliases(body_->discriminant).base == base_type::named;
    return arm.is_default || (is_enum && type != which_);
  }
  void write_guard(std::size_t index, const std::string& setter) {
    to_->line("if (xdr_arm_of(which) != " + std::to_string(index) + ") tartan::xdr::detail::wrong_case(\"" + of_->name +
              "::" + setter + "\", static_cast<std::int64_t>(which));");
  }
  void write_void_arms() {
    to_->gap();
    to_->line("/// Selects an arm without a value; another case ends the program.");
    to_->open("void set_void(" + which_ + " which) {");
    write_guard(0, "set_void");
    to_->line("xdr_which_ = which;");
    to_->line("xdr_arms_.emplace<0>();");
    to_->close();
  }

  void write_select() {
    to_->gap();
    to_->line("/// Of archives: selects the arm of a case, with an empty value. False if there is none.");
    to_->open("[[nodiscard]] bool xdr_select(" + which_ + " which) {");
    to_->open("switch (xdr_arm_of(which)) {");
    std::vector<std::size_t> indexes = indexes_;
    std::sort(indexes.begin(), indexes.end());
    indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
    for (const std::size_t each : indexes) {
      to_->open("case " + std::to_string(each) + ":");
      to_->line("xdr_arms_.emplace<" + std::to_string(each) + ">();");
      to_->close("  break;");
    }
    to_->open("default:");
    to_->close("  return false;");
    to_->close();
    to_->line("xdr_which_ = which;");
    to_->line("return true;");
    to_->close();
  }

  void write_arm_of() {
    to_->line("/// The index of the arm in xdr_arms_, 0 for void; -1 if the union has none.");
    to_->open("[[nodiscard]] static constexpr int xdr_arm_of(" + which_ + " which) noexcept {");
    std::string other = "-1";
    for (std::size_t n = 0; n < body_->arms.size(); ++n) {
      if (body_->arms[n].is_default) other = std::to_string(indexes_[n]);
    }
    if (without_aliases(body_->discriminant).base == base_type::boolean) {
      to_->line("return which ? " + index_of(1, other) + " : " + index_of(0, other) + ";");
    } else {
      to_->open("switch (which) {");
      for (std::size_t n = 0; n < body_->arms.size(); ++n) {
        const union_arm& arm = body_->arms[n];
        if (arm.is_default) continue;
        for (const value& each : arm.cases) to_->line("case " + literal(each) + ":");
        to_->line("  return " + std::to_string(indexes_[n]) + ";");
      }
      to_->line("default:");
      to_->line("  return " + other + ";");
      to_->close();
    }
    to_->close();
  }
  [[nodiscard]] std::string index_of(wide which, const std::string& other) const {
    for (std::size_t n = 0; n < body_->arms.size(); ++n) {
      for (const value& each : body_->arms[n].cases) {
        if (*each.number == which) return std::to_string(indexes_[n]);
      }
    }
    return other;
  }

  void write_state() {
    std::vector<std::string> all{"std::monostate"};
    for (const union_arm& each : body_->arms) {
      if (each.what.base != base_type::nothing) all.push_back(type_of(each.what));
    }
    std::size_t first = 0;
    while (body_->arms[first].is_default) ++first;
    to_->gap();
    to_->line(which_ + " xdr_which_ = " + literal(body_->arms[first].cases.front()) + ";");
    const std::string index = std::to_string(indexes_[first]);
    to_->fill("std::variant<", all, ",", "> xdr_arms_{std::in_place_index<" + index + ">};");
  }

  void write_traversal() {
    to_->gap();
    to_->line("template <class Archive, class Value>");
    to_->line("  requires std::same_as<std::remove_const_t<Value>, " + types_->name_in_traversal(*of_) + ">");
    to_->open("bool xdr_traverse(Archive& a, Value& x) {");
    to_->line(types_->spell(body_->discriminant, names_of_traversals) + " which = x." + which_name_ + "();");
    to_->line("if (!a(\"" + body_->discriminant.name + "\", which)) return false;");
    to_->open("if constexpr (Archive::reads) {");
    to_->line("if (!x.xdr_select(which)) return a.no_arm();");
    to_->close();
    for (const union_arm& each : body_->arms) {
      if (each.what.base == base_type::nothing) continue;
      to_->line("if (auto* arm = x." + member_name(each.what.name, *of_) + "()) return a(\"" + each.what.name +
                "\", *arm);");
    }
    to_->line("return true;");
    to_->close();
  }

  source_text* to_;
  const definition* of_;
  const union_body* body_;
  const modern_types* types_;
  std::string name_;
  std::string which_;       ///< type of the discriminant
  std::string which_name_;  ///< accessor of the discriminant
  hidden_names hidden_;
  std::vector<std::size_t> indexes_;  ///< of each arm in the variant; 0: a void arm
  bool has_void_ = false;
};

}  // namespace

void write_union(source_text& to, const definition& of, const modern_types& types) {
  union_writer{to, of, types}.write();
}

}  // namespace xdr_compiler
