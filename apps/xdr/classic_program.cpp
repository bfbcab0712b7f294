#include "xdr/classic_program.h"

#include <algorithm>
#include <map>

#include "xdr/cpp_names.h"

namespace xdr_compiler {

namespace {

std::string result_of(const procedure& of, const classic_names& names) {
  return names.word(of.result);
}
std::string argument_of(const procedure& of, const classic_names& names) {
  return of.arguments.empty() ? "void" : names.word(of.arguments.front());
}

void write_apply(source_text& to, const std::string& table, const version& of, const classic_names& names) {
  std::map<wide, const procedure*> rows;
  for (const procedure& each : of.procedures) rows.emplace(each.number.number.value_or(0), &each);
  const std::string apply = upper_case(table) + "_APPLY";
  std::string row = "#define " + apply + "_NOVOID(macro, void)";
  for (wide number = 0; !rows.empty() && number <= rows.rbegin()->first; ++number) {
    to.line(row + " \\");
    const auto found = rows.find(number);
    row = found == rows.end() ? "  macro (" + to_string(number) + ", false, false)"
                              : "  macro (" + names.name(found->second->name) + ", " +
                                    argument_of(*found->second, names) + ", " + result_of(*found->second, names) + ")";
  }
  to.line(row);
  to.line("#define " + apply + "(macro) " + apply + "_NOVOID(macro, void)");
}

/// The functions of one procedure, within its namespace.
class typed_procedure {
 public:
  typed_procedure(source_text& to, const procedure& of, const classic_names& names)
      : to_{&to},
        number_{names.name(of.name)},
        name_{lower_case(names.name(of.name))},
        argument_{of.arguments.empty() ? "void" : type(of.arguments.front(), names)},
        result_{of.result.base == base_type::nothing ? "void" : type(of.result, names)},
        has_argument_{argument_ != "void"},
        has_result_{result_ != "void"} {}

  void write() {
    to_->gap();
    write_calls("template<class C, class E> inline auto", name_ + " (C c, ", "c->call (" + number_ + ", ", "");
    const std::string bundle = "rpc_bundle_t (" + number_ + ", ";
    write_calls("template<class E> inline void", "w_" + name_ + " (typename callback<void, rpc_bundle_t, E>::ref w, ",
                "(*w) (" + bundle, ")");
    write_calls("template<class R, class E> inline R",
                "w_" + name_ + " (typename callback<R, rpc_bundle_t, E>::ref w, ", "(*w) (" + bundle, ")");
    write_server();
  }

 private:
  static std::string type(const declaration& of, const classic_names& names) {
    return of.base == base_type::string ? "rpc_str<RPC_INFINITY>" : names.type(of);
  }

  /// By pointer, and by reference if there is an argument.
  void write_calls(const std::string& head, const std::string& begin, const std::string& call, const std::string& end) {
    const std::string result = has_result_ ? result_ + " *res, " : "";
    const std::string given = std::string{has_result_ ? "res" : "NULL"} + end + ", cb); }";
    if (!has_argument_) {
      to_->line(head);
      to_->line(begin + result + "E cb) { return " + call + "NULL, " + given);
      return;
    }
    for (const bool by_reference : {false, true}) {
      to_->line(head);
      to_->line(begin + "const " + argument_ + (by_reference ? " &arg, " : " *arg, ") + result + "E cb) { return " +
                call + (by_reference ? "&arg, " : "arg, ") + given);
    }
  }

  void write_server() {
    const std::string name = name_ + "_srv_t";
    to_->gap();
    to_->line("template<class S> class " + name + " {");
    to_->line("public:");
    to_->line("  typedef " + argument_ + " arg_ty;");
    to_->line("  typedef " + result_ + " res_ty;");
    to_->open("");
    to_->line("explicit " + name + " (S *sbp) : _sbp (sbp) {}");
    to_->line("S *sbp () const { return _sbp; }");
    if (has_argument_) {
      to_->line("const arg_ty *getarg () const { return _sbp->template getarg<arg_ty> (); }");
      to_->line("arg_ty *getarg () { return _sbp->template getarg<arg_ty> (); }");
    }
    if (has_result_) {
      to_->line("ptr<res_ty> alloc_res () const { return New refcounted<res_ty> (); }");
      to_->line("template<class V> ptr<res_ty> alloc_res (const V &v) const { return New refcounted<res_ty> (v); }");
      to_->line("void reply (const res_ty *r) { _answer ()->reply (r); }");
      to_->line("void reply (const res_ty &r) { _answer ()->reply (&r); }");
      to_->line("void reply (ptr<res_ty> r) { reply (*r); }");
    } else {
      to_->line("void reply () { _answer ()->reply (NULL); }");
    }
    to_->line("void reject (auth_stat s) { _answer ()->reject (s); }");
    to_->line("void reject (accept_stat s) { _answer ()->reject (s); }");
    to_->line("void reject () { reject (PROC_UNAVAIL); }");
    to_->gap();
    const std::string parameters =
        std::string{has_argument_ ? "const arg_ty *arg, " : ""} + (has_result_ ? "res_ty *res, " : "");
    const std::string given =
        std::string{has_argument_ ? "arg" : "NULL"} + ", " + (has_result_ ? "res" : "NULL") + ", cb); }";
    to_->line("template<class C, class E> static auto");
    to_->line("call (C c, " + parameters + "E cb) { return c->call (" + number_ + ", " + given);
    to_->line("template<class C, class E> static auto");
    to_->line("call_full (C c, const arg_ty *arg, res_ty *res, E cb) { return c->call (" + number_ +
              ", arg, res, cb); }");
    to_->close("");
    to_->line("private:");
    to_->line("  // A call is answered once.");
    to_->line("  S *_answer () { assert (_sbp); S *s = _sbp; _sbp = NULL; return s; }");
    to_->line("  S *_sbp;");
    to_->line("};");
  }

  source_text* to_;
  std::string number_;
  std::string name_;
  std::string argument_;
  std::string result_;
  bool has_argument_;
  bool has_result_;
};

}  // namespace

void write_classic_program(source_text& to, const definition& of, const classic_names& names) {
  const program_body& body = *of.as<program_body>();
  const std::string program = names.name(of.name);
  to.line("#ifndef " + program);
  to.line("#define " + program + " " + names.value_text(body.number));
  to.line("#endif /* !" + program + " */");
  for (const version& each : body.versions) {
    const std::string table = table_name(program, each);
    to.line("extern const rpc_program " + table + ";");
    to.line("enum { " + names.name(each.name) + " = " + names.value_text(each.number) + " };");
    if (!each.procedures.empty()) {
      to.open("enum {");
      for (const procedure& one : each.procedures)
        to.line(names.name(one.name) + " = " + names.value_text(one.number) + ",");
      to.close("};");
    }
    write_apply(to, table, each, names);
    if (of.scope.empty()) continue;
    std::vector<std::string> within = of.scope;
    within.push_back(table);
    to.enter(within);
    for (const procedure& one : each.procedures) typed_procedure{to, one, names}.write();
    to.enter({});
  }
}

void write_classic_tables(source_text& to, const definition& of, const classic_names& names) {
  const std::string program = names.name(of.name);
  for (const version& each : of.as<program_body>()->versions) {
    const std::string table = table_name(program, each);
    to.gap();
    to.line("static const rpcgen_table " + table + "_tbl[] = {");
    to.line("  " + upper_case(table) + "_APPLY (XDRTBL_DECL)");
    to.line("};");
    to.gap();
    to.line("const rpc_program " + table + " = {");
    to.line("  " + program + ", " + names.name(each.name) + ", " + table + "_tbl,");
    to.line("  sizeof (" + table + "_tbl) / sizeof (" + table + "_tbl[0]), \"" + table + "\"");
    to.line("};");
  }
}

}  // namespace xdr_compiler
