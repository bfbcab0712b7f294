#include "xdr/classic_union.h"

#include <algorithm>

namespace xdr_compiler {

namespace {

/// The type of an arm as an argument of a macro, in which it must not have a comma.
std::string macro_type(const definition& of, const declaration& arm, const classic_names& names) {
  const std::string type = names.type(arm);
  return type.find(',') == std::string::npos ? type : names.name(of.name) + "::" + arm.name + "_type";
}

bool has_default(const union_body& of) {
  return std::any_of(of.arms.begin(), of.arms.end(), [](const union_arm& each) { return each.is_default; });
}

void write_macros(source_text& to, const definition& of, const classic_names& names) {
  const union_body& body = *of.as<union_body>();
  const std::string name = names.name(of.name);
  to.gap();
  to.line("#define rpcunion_tag_" + name + " " + body.discriminant.name);
  to.line("#define rpcunion_switch_" + name + "(swarg, action, voidaction, defaction) \\");
  to.line("  switch (swarg) { \\");
  for (const union_arm& each : body.arms) {
    if (each.is_default) to.line("  default: \\");
    for (const value& one : each.cases) to.line("  case " + classic_case(of, one, names) + ": \\");
    const bool is_void = each.what.base == base_type::nothing;
    to.line("    " +
            (is_void ? std::string{"voidaction"}
                     : "action (" + macro_type(of, each.what, names) + ", " + each.what.name + ")") +
            "; \\");
    to.line("    break; \\");
  }
  if (!has_default(body)) {
    to.line("  default: \\");
    to.line("    defaction; \\");
    to.line("    break; \\");
  }
  to.line("  }");
  to.gap();
}

/// The cases of each arm, with `act` for the arm and `other` for a void one and for what has no arm.
template <class Act>
void write_switch(source_text& to, const definition& of, const classic_names& names, const std::string& tag, Act act,
                  const std::string& empty, const std::string& other) {
  const union_body& body = *of.as<union_body>();
  to.open(classic_switch(of, tag) + " {");
  for (const union_arm& each : body.arms) {
    if (each.is_default) to.line("default:");
    for (const value& one : each.cases) to.line("case " + classic_case(of, one, names) + ":");
    if (each.what.base == base_type::nothing) {
      if (!empty.empty()) to.line("  " + empty);
    } else {
      to.line("  " + act(each.what));
    }
    to.line("  break;");
  }
  if (!has_default(body)) {
    to.line("default:");
    to.line("  " + other);
    to.line("  break;");
  }
  to.close();
}

}  // namespace

std::string classic_case(const definition& of, const value& is, const classic_names& names) {
  const bool is_bool = without_aliases(of.as<union_body>()->discriminant).base == base_type::boolean;
  return is_bool && is.number ? to_string(*is.number) : names.value_text(is);
}

std::string classic_switch(const definition& of, const std::string& tag) {
  const bool is_bool = without_aliases(of.as<union_body>()->discriminant).base == base_type::boolean;
  return "switch (" + std::string{is_bool ? "int (" : ""} + tag + (is_bool ? "))" : ")");
}

void write_classic_union(source_text& to, const definition& of, const classic_names& names) {
  const union_body& body = *of.as<union_body>();
  const std::string name = names.name(of.name);
  const std::string tag = body.discriminant.name;
  const std::string type = names.type(body.discriminant);
  to.open("struct " + name + " {");
  for (const union_arm& each : body.arms) {
    const std::string arm = names.type(each.what);
    if (arm.find(',') != std::string::npos) to.line("typedef " + arm + " " + each.what.name + "_type;");
  }
  to.line("const " + type + " " + tag + ";");
  to.open("union {");
  to.line("union_entry_base _base;");
  for (const union_arm& each : body.arms) {
    if (each.what.base != base_type::nothing)
      to.line("union_entry<" + names.type(each.what) + "> " + each.what.name + ";");
  }
  to.close("};");
  to.gap();
  const std::string setter = "set_" + tag;
  to.line(name + " (" + type + " _tag = (" + type + ") 0) : " + tag + " (_tag) { _base.init (); " + setter +
          " (_tag); }");
  to.line(name + " (const " + name + " &_s) : " + tag + " (_s." + tag + ") { _base.init (_s._base); }");
  to.line("~" + name + " () { _base.destroy (); }");
  to.open(name + " &operator= (const " + name + " &_s) {");
  to.line("_base.assign (_s._base);");
  to.line("_set_tag (_s." + tag + ");");
  to.line("return *this;");
  to.close();
  to.gap();
  to.open("void " + setter + " (" + type + " _tag) {");
  to.line("_set_tag (_tag);");
  write_switch(
      to, of, names, "_tag", [](const declaration& arm) { return arm.name + ".select ();"; }, "_base.destroy ();",
      "_base.destroy ();");
  to.close();
  to.gap();
  to.label("private:");
  to.line("// A new object in the place of the old one: a member that is const can't be assigned.");
  to.line("void _set_tag (" + type + " _tag) { ::new (const_cast<" + type + " *> (&" + tag + ")) " + type +
          " (_tag); }");
  to.close("};");
  write_macros(to, of, names);
}

void write_classic_union_traversal(source_text& to, const definition& of, const classic_names& names) {
  const union_body& body = *of.as<union_body>();
  const std::string tag = body.discriminant.name;
  to.gap();
  to.line("template<class T> inline bool");
  to.line("rpc_traverse (T &t, " + names.name(of.name) + " &obj, const char *field = NULL)");
  to.open("{");
  to.line(names.type(body.discriminant) + " tag = obj." + tag + ";");
  to.line("rpc_enter_field (t, field);");
  to.line("bool ret = rpc_traverse_field (t, tag, \"" + tag + "\");");
  to.line("if (ret && tag != obj." + tag + ") obj.set_" + tag + " (tag);");
  write_switch(
      to, of, names, "obj." + tag,
      [](const declaration& arm) {
        return "ret = ret && rpc_traverse_field (t, *obj." + arm.name + ", \"" + arm.name + "\");";
      },
      "", "ret = false;");
  to.line("rpc_exit_field (t, field);");
  to.line("return ret;");
  to.close();
}

}  // namespace xdr_compiler
