#include "xdr/parser.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "xdr/base_names.h"

namespace xdr_compiler {

namespace {

constexpr std::size_t most_nested = 64;

/// Not program, version and namespace: they stand where no name can, and members are called so.
constexpr std::array<std::string_view, 21> keywords = {
    "bool",   "case",      "char",  "const",  "default", "double", "enum",    "float", "hyper",    "int", "long",
    "opaque", "quadruple", "short", "string", "struct",  "switch", "typedef", "union", "unsigned", "void"};

bool is_keyword(std::string_view word) noexcept {
  return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}

/// Ends a declaration that has an error, which was reported.
struct give_up {};

class parser {
 public:
  parser(std::vector<token> tokens, diagnostics& errors, bool bare_strings)
      : tokens_{std::move(tokens)}, errors_{&errors}, bare_strings_{bare_strings} {}

  specification read() {
    while (now().what != token::kind::end) {
      if (now().is("}")) {
        error(now(), "there is no '{' for this '}'");
        take();
        continue;
      }
      guarded([this] { read_definition(); });
    }
    return std::move(all_);
  }

 private:
  // --- tokens
  [[nodiscard]] const token& now() const noexcept { return tokens_[at_]; }
  [[nodiscard]] const token& ahead(std::size_t count) const noexcept {
    return tokens_[std::min(at_ + count, tokens_.size() - 1)];
  }
  const token& take() noexcept {
    const token& taken = tokens_[at_];
    if (taken.is("{")) ++depth_;
    if (taken.is("}")) depth_ = depth_ == 0 ? 0 : depth_ - 1;
    if (at_ + 1 < tokens_.size()) ++at_;
    return taken;
  }
  bool take_if(std::string_view word) noexcept {
    const bool found = now().is(word);
    if (found) take();
    return found;
  }
  static std::string shown(const token& t) {
    switch (t.what) {
      case token::kind::end:
        return "the end of the file";
      case token::kind::text:
        return "a line that begins with %";
      default:
        return "'" + t.text + "'";
    }
  }
  void error(const token& at, const std::string& message) { errors_->error(at.at, message); }
  [[noreturn]] void fail(const std::string& message) {
    error(now(), message);
    throw give_up{};
  }
  void expect(std::string_view word, const std::string& where) {
    if (!take_if(word)) fail("expected '" + std::string{word} + "' " + where + ", found " + shown(now()));
  }
  token name_of(const std::string& what) {
    if (now().what != token::kind::identifier) fail("expected the name of " + what + ", found " + shown(now()));
    if (is_keyword(now().text)) fail("'" + now().text + "' is a keyword: it can't name " + what);
    if (now().text.find(':') != std::string::npos) fail("'" + now().text + "': a declared name has no '::'");
    return take();
  }

  /// Reads by `f`; after an error goes on behind the next ; of this level, or in front of the } that ends it.
  template <class F>
  void guarded(F f) {
    const std::size_t level = depth_;
    try {
      f();
    } catch (const give_up&) {
      while (now().what != token::kind::end) {
        if (depth_ == level && now().is("}")) return;
        const bool ends = take().is(";");
        if (ends && depth_ <= level) return;
      }
    }
  }
  /// What stands between braces, up to the closing one.
  template <class F>
  void read_block(const std::string& of, F read_one) {
    expect("{", "behind " + of);
    while (!now().is("}")) {
      if (now().what == token::kind::end) fail("expected '}' at the end of " + of + ", found the end of the file");
      guarded(read_one);
    }
    take();
  }

  // --- definitions
  definition& add(const token& name, body_type body) { return add(name.text, name.at, std::move(body)); }
  definition& add(std::string name, const place& at, body_type body) {
    all_.definitions.push_back(
        std::make_unique<definition>(definition{std::move(name), at, scope_, false, std::move(body)}));
    return *all_.definitions.back();
  }

  void read_definition() {
    const token& first = now();
    if (first.what == token::kind::text) {
      add("", first.at, text_body{first.text});
      take();
    } else if (take_if(";")) {  // one too many
    } else if (first.is("const")) {
      read_constant();
    } else if (first.is("typedef")) {
      read_typedef();
    } else if (first.is("enum") || first.is("struct") || first.is("union")) {
      read_named_type();
    } else if (first.is("program")) {
      read_program();
    } else if (first.is("namespace")) {
      read_namespace();
    } else {
      fail("expected a definition (const, typedef, enum, struct, union, program, namespace), found " + shown(first));
    }
  }

  void read_namespace() {
    take();
    const token name = name_of("a namespace");
    if (scope_.size() >= most_nested) fail("namespaces are nested more than " + std::to_string(most_nested) + " deep");
    scope_.push_back(name.text);
    try {
      read_block("the namespace", [this] { read_definition(); });
    } catch (const give_up&) {
      scope_.pop_back();
      throw;
    }
    scope_.pop_back();
    take_if(";");
  }

  value read_value(const std::string& what) {
    if (now().what == token::kind::number) {
      const token& taken = take();
      return {taken.text, taken.at, false, number_of(taken)};
    }
    if (now().what == token::kind::identifier && !is_keyword(now().text)) {
      const token& taken = take();
      return {taken.text, taken.at, true, std::nullopt};
    }
    fail("expected a number or a constant as " + what + ", found " + shown(now()));
  }
  wide number_of(const token& t) {
    std::string_view digits = t.text;
    const bool is_negative = digits.starts_with('-');
    if (is_negative) digits.remove_prefix(1);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      base = 16;
      digits.remove_prefix(2);
    } else if (digits.starts_with('0')) {
      base = 8;
    }
    wide number = 0;
    for (const char c : digits) {
      const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
      number = number * base + digit;
      if (number >> 64 != 0) {
        error(t, "'" + t.text + "' has more than 64 bits");
        return 1;
      }
    }
    if (is_negative && number > wide{1} << 63) {
      error(t, "'" + t.text + "' is less than -2^63");
      return 1;
    }
    return is_negative ? -number : number;
  }

  void read_constant() {
    take();
    const token name = name_of("a constant");
    expect("=", "behind the name of a constant");
    value is = read_value("the value of '" + name.text + "'");
    expect(";", "behind a constant");
    add(name, constant_body{std::move(is)});
  }

  void read_typedef() {
    take();
    const token& first = now();
    if (is_inline_type()) {  // typedef struct { ... } name; is struct name { ... };
      const std::size_t start = at_;
      skip_inline_type();
      const bool names_it = now().what == token::kind::identifier && ahead(1).is(";");
      const token name = now();
      at_ = start;
      if (names_it) {
        read_inline_type(name);
        take();
        expect(";", "behind a typedef");
        return;
      }
    }
    declaration is = read_declaration("a typedef", "");
    if (is.base == base_type::nothing) errors_->error(first.at, "a typedef can't name void");
    expect(";", "behind a typedef");
    token name{token::kind::identifier, is.name, is.at};
    if (is.base != base_type::nothing) add(name, alias_body{std::move(is)});
  }

  void read_named_type() {
    const std::string keyword = take().text;
    const token name = name_of(keyword == "enum" ? "an enum" : "a " + keyword);
    read_body(keyword, name);
    expect(";", "behind the '}' of a type");
  }
  void read_body(const std::string& keyword, const token& name) {
    if (++nested_ > most_nested) {
      --nested_;
      fail("types are nested more than " + std::to_string(most_nested) + " deep");
    }
    try {
      if (keyword == "enum") {
        read_enum(name);
      } else if (keyword == "struct") {
        read_struct(name);
      } else {
        read_union(name);
      }
    } catch (const give_up&) {
      --nested_;
      throw;
    }
    --nested_;
  }

  void read_enum(const token& name) {
    enum_body body;
    expect("{", "behind the name of an enum");
    if (now().is("}")) fail("an enum needs a value");
    for (;;) {
      const token each = name_of("an enum's value");
      enumerator one{each.text, each.at, std::nullopt, 0};
      if (take_if("=")) one.given = read_value("the value of '" + each.text + "'");
      body.all.push_back(std::move(one));
      if (take_if("}")) break;
      if (!take_if(",")) fail("expected ',' or '}' behind an enum's value, found " + shown(now()));
      if (take_if("}")) break;
    }
    add(name, std::move(body));
  }

  void read_struct(const token& name) {
    struct_body body;
    if (now().is("{") && ahead(1).is("}")) fail("a struct needs a member");
    read_block("the name of a struct", [&] {
      const token& first = now();
      declaration member = read_declaration("a member", name.text);
      expect(";", "behind a member");
      if (member.base == base_type::nothing) return errors_->error(first.at, "a member can't be void");
      body.members.push_back(std::move(member));
    });
    add(name, std::move(body));
  }

  void read_union(const token& name) {
    union_body body;
    expect("switch", "behind the name of a union");
    expect("(", "behind 'switch'");
    body.discriminant = read_declaration("the discriminant", name.text);
    expect(")", "behind the discriminant");
    if (now().is("{") && ahead(1).is("}")) fail("a union needs a case");
    bool has_default = false;
    read_block("the discriminant", [&] {
      union_arm arm;
      const token& first = now();
      while (take_if("case")) {
        arm.cases.push_back(read_value("a case"));
        expect(":", "behind a case");
      }
      if (arm.cases.empty()) {
        expect("default", "or 'case' in front of an arm");
        expect(":", "behind 'default'");
        arm.is_default = true;
        if (has_default) error(first, "a union has one 'default' only");
        has_default = true;
      } else if (now().is("default")) {
        fail("write the arm again behind 'default': it can't share the arm of a case");
      }
      arm.what = read_declaration("an arm", name.text);
      expect(";", "behind an arm");
      body.arms.push_back(std::move(arm));
    });
    const bool any = std::any_of(body.arms.begin(), body.arms.end(), [](const auto& arm) { return !arm.is_default; });
    if (!any && !body.arms.empty()) errors_->error(name.at, "union '" + name.text + "' needs a case besides 'default'");
    add(name, std::move(body));
  }

  // --- declarations
  [[nodiscard]] bool is_inline_type() const noexcept {
    if (now().is("enum") || now().is("struct"))
      return ahead(1).is("{") || (ahead(1).what == token::kind::identifier && ahead(2).is("{"));
    return now().is("union") &&
           (ahead(1).is("switch") || (ahead(1).what == token::kind::identifier && ahead(2).is("switch")));
  }
  void skip_inline_type() noexcept {
    std::size_t open = 0;
    do {
      if (now().is("{")) ++open;
      if (now().is("}") && --open == 0) {
        if (at_ + 1 < tokens_.size()) ++at_;
        return;
      }
      if (at_ + 1 < tokens_.size()) ++at_;
    } while (now().what != token::kind::end);
  }
  /// Reads "struct { ... }" as the definition of `name`, if it has no name of its own.
  std::string read_inline_type(token name) {
    const std::string keyword = take().text;
    if (now().what == token::kind::identifier && !now().is("switch")) name = name_of("a type");
    read_body(keyword, name);
    return name.text;
  }
  /// The name of a type without a name: that of what holds it, and that of the member.
  token inline_name(const std::string& of) {
    const std::size_t start = at_;
    skip_inline_type();
    take_if("*");
    token name = now();
    at_ = start;
    name.text = of.empty() ? name.text + "_item" : of + "_" + name.text;
    return name;
  }

  void read_type(declaration& into, const std::string& of) {
    into.type_at = now().at;
    if (is_inline_type()) {
      into.base = base_type::named;
      into.type_name = read_inline_type(inline_name(of));
      return;
    }
    if (now().is("struct") || now().is("enum") || now().is("union")) {
      take();
      into.type_at = now().at;
      into.type_name = name_of("a type").text;
      into.base = base_type::named;
      return;
    }
    const bool is_unsigned = take_if("unsigned");
    const token& type = now();
    if (type.is("long") || type.is("short") || type.is("char"))
      fail("'" + type.text + "' is not a type of XDR: " + instead_of(type.text, is_unsigned ? "unsigned " : ""));
    if (is_unsigned) {
      into.base = take_if("hyper") ? base_type::uint64 : base_type::uint32;
      if (into.base == base_type::uint32) take_if("int");
      return;
    }
    if (type.what != token::kind::identifier) fail("expected a type, found " + shown(type));
    const std::optional<base_type> base = base_of_keyword(type.text);
    if (!base && is_keyword(type.text)) fail("expected a type, found '" + type.text + "'");
    into.base = base.value_or(base_type::named);
    into.type_name = type.text;
    take();
  }
  static std::string instead_of(std::string_view word, const std::string& sign) {
    if (word == "long") return "write '" + sign + "int' (32 bits, as rpcgen does) or '" + sign + "hyper' (64 bits)";
    const std::string same = "write '" + sign + "int', which is encoded in the same way";
    return word == "char" ? same + ", or 'opaque' for several bytes" : same;
  }

  declaration read_declaration(const std::string& what, const std::string& of) {
    declaration is;
    read_type(is, of);
    is.at = now().at;
    if (is.base == base_type::nothing) {
      if (now().what == token::kind::identifier || now().is("*")) fail("void has no name");
      return is;
    }
    if (take_if("*")) is.form = shape::optional;
    const token name = name_of(what);
    is.name = name.text;
    is.at = name.at;
    read_size(is);
    if (bare_strings_ && is.base == base_type::string && is.form == shape::single) is.form = shape::list;
    check_shape(is);
    return is;
  }
  void read_size(declaration& is) {
    const bool is_optional = is.form == shape::optional;
    if (is_optional && (now().is("[") || now().is("<")))
      fail("an array of pointers needs a typedef: typedef " + is.type_name + " *pointer;");
    if (take_if("[")) {
      is.form = shape::array;
      if (now().is("]"))
        fail("a size is missing: '" + is.name + "<>' has no limit, '" + is.name + "[8]' has 8 elements");
      is.size = read_value("a size");
      expect("]", "behind a size");
    } else if (take_if("<")) {
      is.form = shape::list;
      if (!now().is(">")) is.size = read_value("a limit");
      expect(">", "behind a limit");
    }
  }
  void check_shape(const declaration& is) {
    if (is.base == base_type::string && is.form != shape::list) {
      const std::string bound = is.size ? is.size->text : "";
      errors_->error(is.at, "a string has a limit, not a size: write 'string " + is.name + "<" + bound + ">'");
    } else if (is.base == base_type::opaque && is.form != shape::list && is.form != shape::array) {
      errors_->error(is.at, "opaque needs a size: write 'opaque " + is.name + "[n]' or 'opaque " + is.name + "<n>'");
    }
  }

  // --- programs
  void read_program() {
    take();
    const token name = name_of("a program");
    program_body body;
    read_block("the name of a program", [&] { read_version(body); });
    expect("=", "and the program's number behind its '}'");
    body.number = read_value("the program's number");
    expect(";", "behind a program's number");
    if (body.versions.empty()) return errors_->error(name.at, "program '" + name.text + "' has no version");
    add(name, std::move(body));
  }
  void read_version(program_body& into) {
    expect("version", "in a program");
    const token name = name_of("a version");
    version one{name.text, name.at, {}, {}};
    read_block("the name of a version", [&] { read_procedure(one); });
    expect("=", "and the version's number behind its '}'");
    one.number = read_value("the version's number");
    expect(";", "behind a version's number");
    into.versions.push_back(std::move(one));
  }
  void read_procedure(version& into) {
    procedure one;
    read_procedure_type(one.result, "a result");
    const token name = name_of("a procedure");
    one.name = name.text;
    one.at = name.at;
    expect("(", "behind the name of a procedure");
    do {
      declaration argument;
      const token& first = now();
      read_procedure_type(argument, "an argument");
      if (now().what == token::kind::identifier) argument.name = name_of("an argument").text;
      if (argument.base != base_type::nothing) {
        if (argument.form == shape::single) read_size(argument);
        one.arguments.push_back(std::move(argument));
      } else if (!one.arguments.empty() || now().is(",")) {
        error(first, "void must be the only argument");
      }
    } while (take_if(","));
    expect(")", "behind the arguments");
    expect("=", "and a number behind a procedure");
    one.number = read_value("the procedure's number");
    expect(";", "behind a procedure's number");
    into.procedures.push_back(std::move(one));
  }
  /// A type, a pointer to one, or a string without a limit.
  void read_procedure_type(declaration& into, const std::string& what) {
    into.at = now().at;
    if (is_inline_type()) fail("declare the type of " + what + " in front of the program");
    read_type(into, "");
    if (into.base == base_type::opaque) fail("opaque can't be the type of " + what + ": use a typedef");
    if (into.base == base_type::string) into.form = shape::list;
    if (into.base != base_type::nothing && into.base != base_type::string && take_if("*")) into.form = shape::optional;
    if (into.base == base_type::string && now().is("<")) {
      take();
      if (!now().is(">")) into.size = read_value("a limit");
      expect(">", "behind a limit");
    }
  }

  std::vector<token> tokens_;
  diagnostics* errors_;
  bool bare_strings_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;   ///< open braces
  std::size_t nested_ = 0;  ///< types that are read
  std::vector<std::string> scope_;
  specification all_;
};

}  // namespace

specification parse(std::vector<token> tokens, diagnostics& errors, bool bare_strings) {
  return parser{std::move(tokens), errors, bare_strings}.read();
}

}  // namespace xdr_compiler
