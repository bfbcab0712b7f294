#include "xdr/modern_program.h"

#include <cstddef>

#include "xdr/cpp_names.h"

namespace xdr_compiler {

namespace {

class version_writer {
 public:
  version_writer(source_text& to, const definition& program, const version& of, const modern_types& types)
      : to_{&to}, program_{&program}, of_{&of}, types_{&types}, name_{cpp_name(of.name)} {
    hidden_ = {"program", "version", "name", "number",       "of",      "argument", "result", "client", "dispatch",
               "with",    "done",    "call", "typed_client", "Handler", "F",        "h",      "c",      name_};
    for (const procedure& each : of.procedures) {
      hidden_.insert(procedure_name(each));
      hidden_.insert(function_name(each));
    }
  }

  void write() {
    to_->gap();
    to_->line("/// version " + of_->name + " of program " + program_->name + ", " +
              std::string{base_name(*of_->at.file)} + ":" + std::to_string(of_->at.line));
    to_->open("struct " + name_ + " {");
    to_->line("static constexpr std::uint32_t program = " + number(program_->as<program_body>()->number) + ";");
    to_->line("static constexpr std::uint32_t version = " + number(of_->number) + ";");
    to_->line("static constexpr const char* name = \"" + program_->name + "\";");
    for (const procedure& each : of_->procedures) write_procedure(each);
    to_->gap();
    to_->line("/// Calls the procedures; see tartan::rpc::typed_client.");
    to_->line("class client;");
    to_->gap();
    to_->line(
        "/// Has the handler answer a call: by its function with the procedure's name, in lower case; see "
        "tartan::rpc::run.");
    to_->line("template <class Handler>");
    to_->line("static void dispatch(Handler& h, tartan::rpc::call&& c);");
    to_->close("};");
    write_client();
    write_dispatch();
  }

 private:
  static std::string number(const value& of) { return to_string(*of.number); }
  [[nodiscard]] std::string procedure_name(const procedure& of) const {
    static const hidden_names members{"program", "version", "name", "client", "dispatch", "of", "argument", "result", "number"};
    const std::string found = cpp_name(of.name);
    return members.contains(found) || found == name_ ? found + "_" : found;
  }
  static std::string function_name(const procedure& of) {
    const std::string found = cpp_name(lower_case(of.name));
    return found == "call" || found == "call_back" || found == "over" || found == "client" || found == "typed_client"
               ? found + "_"
               : found;
  }
  [[nodiscard]] std::string argument_of(const procedure& of) const {
    if (of.arguments.empty()) return "void";
    if (of.arguments.size() == 1) return types_->spell(of.arguments.front(), hidden_);
    std::vector<std::string> all;
    for (const declaration& each : of.arguments) all.push_back(types_->spell(each, hidden_));
    return "std::tuple<" + joined(all, ", ") + ">";
  }

  void write_procedure(const procedure& of) {
    const std::string name = procedure_name(of);
    to_->gap();
    to_->open("struct " + name + " {");
    to_->line("using of = " + name_ + ";");
    to_->line("using argument = " + argument_of(of) + ";");
    to_->line("using result = " + types_->spell(of.result, hidden_) + ";");
    to_->line("static constexpr std::uint32_t number = " + number(of.number) + ";");
    to_->line("static constexpr const char* name = \"" + of.name + "\";");
    to_->close("};");
  }

  void write_client() {
    to_->gap();
    to_->open("class " + name_ + "::client : public tartan::rpc::typed_client {");
    to_->label("public:");
    to_->line("using typed_client::typed_client;");
    for (const procedure& each : of_->procedures) write_call(each);
    to_->close("};");
  }
  void write_call(const procedure& of) {
    std::string parameters;
    std::string passed;
    for (std::size_t n = 0; n < of.arguments.size(); ++n) {
      const std::string name = of.arguments.size() == 1 ? "argument" : "argument_" + std::to_string(n + 1);
      parameters += "const " + types_->spell(of.arguments[n], hidden_) + "& " + name + ", ";
      passed += ", " + name;
    }
    const std::string name = function_name(of);
    const std::string procedure = "<" + name_ + "::" + procedure_name(of) + ">(";
    to_->gap();
    to_->open("[[nodiscard]] auto " + name + "(" + parameters + "tartan::rpc::call_options with = {}) const {");
    to_->line("return call" + procedure + "std::move(with)" + passed + ");");
    to_->close();
    to_->line("template <class F>");
    to_->open("void " + name + "(" + parameters + "F&& done, tartan::rpc::call_options with = {}) const {");
    to_->line("call_back" + procedure + "std::forward<F>(done), std::move(with)" + passed + ");");
    to_->close();
  }

  void write_dispatch() {
    to_->gap();
    to_->line("template <class Handler>");
    to_->open("void " + name_ + "::dispatch(Handler& h, tartan::rpc::call&& c) {");
    to_->open("switch (c.procedure()) {");
    bool has_null = false;
    for (const procedure& each : of_->procedures) {
      const std::string call = "h." + function_name(each) + "(std::forward<decltype(with)>(with)...)";
      has_null = has_null || *each.number.number == 0;
      to_->line("case " + number(each.number) + ":");
      to_->line("  return tartan::rpc::run<" + procedure_name(each) + ">(");
      to_->line("      std::move(c), [&h](auto&&... with) -> decltype(auto)");
      to_->line("        requires requires { " + call + "; }");
      to_->line("      { return " + call + "; });");
    }
    if (!has_null) {
      to_->line("case 0:  // every program answers it");
      to_->line("  return c.take_answer().success(tartan::buf::chain{});");
    }
    to_->line("default:");
    to_->line("  return std::move(c).no_such_procedure();");
    to_->close();
    to_->close();
  }

  source_text* to_;
  const definition* program_;
  const version* of_;
  const modern_types* types_;
  std::string name_;
  hidden_names hidden_;
};

}  // namespace

void write_program(source_text& to, const definition& of, const modern_types& types) {
  for (const version& each : of.as<program_body>()->versions) version_writer{to, of, each, types}.write();
}

}  // namespace xdr_compiler
