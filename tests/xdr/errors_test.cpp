// Mistakes in .x files: each is reported with its place and what to do.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "xdr/compilation.h"

namespace xdr_compiler {
namespace {

/// A file, and all that is said about it, without "f.x:" in front of each line.
struct mistake {
  const char* text;
  const char* said;

  friend void PrintTo(const mistake& one, std::ostream* to) { *to << one.text; }
};

std::string errors_of(const std::string& text, unknown_names unknown = unknown_names::are_errors) {
  diagnostics errors;
  static_cast<void>(compile(text, "f.x", errors, unknown));
  std::string said = errors.to_text();
  for (std::size_t at = 0; (at = said.find("f.x:", at)) != std::string::npos;) {
    if (at == 0 || said[at - 1] == '\n') {
      said.erase(at, 4);
    } else {
      at += 4;
    }
  }
  return said;
}

constexpr mistake lexical[] = {
    {"const A = 1$;", "1:12: '$' does not belong into a .x file\n"},
    {"\x01", "1:1: the byte 0x01 does not belong into a .x file\n"},
    {"/* no end", "1:1: this comment does not end: '*/' is missing\n"},
    {"const A = 08;", "1:11: '08' is not a number\n"},
    {"const A = 0x;", "1:11: '0x' is not a number\n"},
    {"const A = 12ab;", "1:11: '12ab' is not a number\n"},
    {"const A = 0xfffffffffffffffff;", "1:11: '0xfffffffffffffffff' has more than 64 bits\n"},
    {"const A = -9223372036854775809;", "1:11: '-9223372036854775809' is less than -2^63\n"},
    {"struct a { int x; };\n %#include", "2:2: '%' must be the first character of its line\n"},
    {"struct a { int x; };\n #include\nfoo;",
     "2:2: '#' must be the first character of its line\n"
     "3:1: expected a definition (const, typedef, enum, struct, union, program, namespace), found 'foo'\n"},
};

constexpr mistake grammatical[] = {
    {"int x;", "1:1: expected a definition (const, typedef, enum, struct, union, program, namespace), found 'int'\n"},
    {"const A 1;", "1:9: expected '=' behind the name of a constant, found '1'\n"},
    {"const A = 1", "1:12: expected ';' behind a constant, found the end of the file\n"},
    {"const int = 1;", "1:7: 'int' is a keyword: it can't name a constant\n"},
    {"const n::a = 1;", "1:7: 'n::a': a declared name has no '::'\n"},
    {"const A = int;", "1:11: expected a number or a constant as the value of 'A', found 'int'\n"},
    {"struct a { };", "1:10: a struct needs a member\n"},
    {"enum a { };", "1:10: an enum needs a value\n"},
    {"union a switch (int b) { };", "1:24: a union needs a case\n"},
    {"union a switch (int b) { default: void; };", "1:7: union 'a' needs a case besides 'default'\n"},
    {"union a switch (int b) { case 1: default: void; };",
     "1:34: write the arm again behind 'default': it can't share the arm of a case\n"},
    {"union a switch (int b) { case 1: void; default: void; default: int c; };",
     "1:55: a union has one 'default' only\n"},
    {"struct a { long x; };",
     "1:12: 'long' is not a type of XDR: write 'int' (32 bits, as rpcgen does) or 'hyper' (64 bits)\n"},
    {"struct a { unsigned long x; };",
     "1:21: 'long' is not a type of XDR: write 'unsigned int' (32 bits, as rpcgen does) or 'unsigned hyper' (64 "
     "bits)\n"},
    {"struct a { short x; };", "1:12: 'short' is not a type of XDR: write 'int', which is encoded in the same way\n"},
    {"struct a { char x; };",
     "1:12: 'char' is not a type of XDR: write 'int', which is encoded in the same way, or 'opaque' for several "
     "bytes\n"},
    {"struct a { string s; };", "1:19: a string has a limit, not a size: write 'string s<>'\n"},
    {"struct a { string s[5]; };", "1:19: a string has a limit, not a size: write 'string s<5>'\n"},
    {"struct a { opaque o; };", "1:19: opaque needs a size: write 'opaque o[n]' or 'opaque o<n>'\n"},
    {"struct a { int x[]; };", "1:18: a size is missing: 'x<>' has no limit, 'x[8]' has 8 elements\n"},
    {"struct a { b *x[3]; };", "1:16: an array of pointers needs a typedef: typedef b *pointer;\n"},
    {"struct a { void; };", "1:12: a member can't be void\n"},
    {"struct a { void x; };", "1:17: void has no name\n"},
    {"typedef void;", "1:9: a typedef can't name void\n"},
    {"program P { } = 1;", "1:9: program 'P' has no version\n"},
    {"program P { version V { opaque F(void) = 1; } = 1; } = 1;",
     "1:32: opaque can't be the type of a result: use a typedef\n"},
    {"program P { version V { void F(int, void) = 1; } = 1; } = 1;", "1:37: void must be the only argument\n"},
    {"program P { version V { void F(struct { int x; } a) = 1; } = 1; } = 1;",
     "1:32: declare the type of an argument in front of the program\n"},
    {"struct a { int x; };\n}\nstruct b { int x };",
     "2:1: there is no '{' for this '}'\n3:18: expected ';' behind a member, found '}'\n"},
    {"struct a { int 1; foo; int x; char c; };\nconst = 3;\nenum e { A B };",
     "1:16: expected the name of a member, found '1'\n1:22: expected the name of a member, found ';'\n"
     "1:31: 'char' is not a type of XDR: write 'int', which is encoded in the same way, or 'opaque' for several bytes\n"
     "2:7: expected the name of a constant, found '='\n3:12: expected ',' or '}' behind an enum's value, found 'B'\n"},
    {"namespace n { const A = ; }\nnamespace m { const A = 1;",
     "1:25: expected a number or a constant as the value of 'A', found ';'\n"
     "2:27: expected '}' at the end of the namespace, found the end of the file\n"},
};

constexpr mistake semantic[] = {
    {"struct a { foo x; };", "1:12: 'foo' is not declared\n"},
    {"struct a { int x[N]; };", "1:18: 'N' is not declared\n"},
    {"const A = 1; const A = 2;", "1:20: 'A' is already declared, as a constant (f.x:1)\n"},
    {"enum e { A };\nstruct A { int x; };", "2:8: 'A' is already declared, as a value of an enum (f.x:1)\n"},
    {"struct a { int x; int x; };", "1:23: 'x' is already the name of a member (f.x:1)\n"},
    {"union a switch (int x) { case 1: int x; };",
     "1:38: 'x' is already the name of an arm or the discriminant (f.x:1)\n"},
    {"const A = 1; struct a { A x; };", "1:25: 'A' is a constant, not a type (f.x:1)\n"},
    {"struct a { int x; }; const A = a;", "1:32: 'a' is a type, not a constant (f.x:1)\n"},
    {"const A = B; const B = A;", "1:11: 'B' depends on itself\n"},
    {"enum e { A = B, B = 1 };", "1:14: 'B' has no value yet: it depends on itself\n"},
    {"struct a { int x[0]; };", "1:18: 'x' has no element: a size is 1 to 4294967295\n"},
    {"const N = -1; struct a { int x[N]; };", "1:32: the size of 'x' is -1: a size is 1 to 4294967295\n"},
    {"struct a { int x<4294967296>; };", "1:18: the size of 'x' is 4294967296: a limit is 0 to 4294967295\n"},
    {"enum e { A = 2147483648 };", "1:14: 'A' is 2147483648: an enum's values are -2147483648 to 2147483647\n"},
    {"enum e { A = 2147483647, B };", "1:26: 'B' is 2147483648: an enum's values are -2147483648 to 2147483647\n"},
    {"union u switch (float f) { case 1: void; };",
     "1:17: the discriminant of union 'u' must be an int, an unsigned int, a bool or an enum\n"},
    {"union u switch (int f<3>) { case 1: void; };",
     "1:17: the discriminant of union 'u' must be an int, an unsigned int, a bool or an enum\n"},
    {"union u switch (int f) { case 1: void; case 1: int x; };", "1:45: case '1' is there already (f.x:1)\n"},
    {"union u switch (unsigned f) { case -1: void; };", "1:36: case '-1' is out of the range of 'unsigned int'\n"},
    {"union u switch (bool f) { case 2: void; };", "1:32: '2' is no bool: write TRUE or FALSE\n"},
    {"enum e { A }; union u switch (e f) { case 1: void; };", "1:43: '1' is no value of enum 'e'\n"},
    {"struct a { a x; };", "1:8: the type contains itself: 'a' -> 'a': use a pointer or <> on the way\n"},
    {"struct a { b x[2]; };\ntypedef c b;\nunion c switch (int d) { case 1: a e; };",
     "1:8: the type contains itself: 'a' -> 'c' -> 'a': use a pointer or <> on the way\n"},
    {"typedef a b;\ntypedef b a;", "1:11: the typedef names itself: 'b' -> 'a' -> 'b': use a struct\n"},
    {"typedef a *a;", "1:12: the typedef names itself: 'a' -> 'a': use a struct\n"},
    {"program P { version V { void F(void) = 1; void F(int) = 2; } = 1; } = 1;",
     "1:48: 'F' is already the name of a procedure (f.x:1)\n"},
    {"program P { version V { void F(void) = 1; void G(int) = 1; } = 1; version W { void F(int) = 1; } = 1; } = -1;",
     "1:57: another procedure has the number 1 (f.x:1)\n1:100: another version has the number 1 (f.x:1)\n"
     "1:107: the number of 'P' is -1: it must be 0 to 4294967295\n"},
    {"program P { version V { P F(void) = 1; } = 1; } = 1;", "1:25: 'P' is a program, not a type (f.x:1)\n"},
    {"namespace n { const A = 1; }\nconst B = A;\nconst C = n::A;", "2:11: 'A' is not declared\n"},
};

class mistakes : public testing::TestWithParam<mistake> {};

TEST_P(mistakes, are_reported_with_their_place) {
  EXPECT_EQ(errors_of(GetParam().text), GetParam().said);
}
INSTANTIATE_TEST_SUITE_P(lexical, mistakes, testing::ValuesIn(lexical));
INSTANTIATE_TEST_SUITE_P(grammatical, mistakes, testing::ValuesIn(grammatical));
INSTANTIATE_TEST_SUITE_P(semantic, mistakes, testing::ValuesIn(semantic));

constexpr const char* fine[] = {
    "",
    ";",
    "// nothing\n/* at * all **/",
    "const A = B; const B = 0x10; enum e { X = A, Y, Z, }; struct s { int x[Y]; };",
    "struct a { unsigned x; u_int y; uint64_t z; bool_t b; };",
    "typedef int uint32_t; struct a { uint32_t version; int program; int namespace; };",
    "typedef struct a *pointer; struct a { int x; pointer next; };",
    "typedef a b; struct a { b *next; int x; };",
    "typedef struct { int x; } a; typedef enum { A } b; typedef union switch (bool c) { case 0: void; } d;",
    "typedef struct { int x; } many<>; struct user { many_item one; many all; };",
    "union u switch (enum { A, B } x) { case A: case 1: void; };",
    "union u switch (int x) { case -2147483648: void; case 2147483647: void; };",
    "program P { version V { string F(string, int *, u_int x) = 0; } = 1; } = 0x20000000; struct s { int x; };",
    "namespace n { namespace m { const A = 1; } const B = m::A; } const C = n::m::A; struct s { int x[n::B]; };",
    "struct a { int x; }; namespace n { struct a { a *x; }; }",
    "union u switch (bool b) { case TRUE: int x; case FALSE: void; };",
    "const FALSE = 0; const TRUE = 1; union u switch (bool b) { case TRUE: void; };",
};
TEST(correct_files, have_no_errors) {
  for (const char* const text : fine) EXPECT_EQ(errors_of(text), "") << text;
}

TEST(line_markers, move_the_place) {
  diagnostics errors;
  static_cast<void>(
      compile("# 1 \"f.x\"\n# 1 \"g.x\" 1\nstruct a { foo x; };\n# 7 \"f.x\" 2\n  bar;\n#line 9\nbar;", "f.x", errors));
  EXPECT_EQ(errors.to_text(),
            "f.x:7:3: expected a definition (const, typedef, enum, struct, union, program, namespace), found 'bar'\n"
            "f.x:9:1: expected a definition (const, typedef, enum, struct, union, program, namespace), found 'bar'\n");
}

TEST(unknown_names, pass_through_when_asked) {
  EXPECT_EQ(errors_of("struct a { bigint x; int y[MANY]; };", unknown_names::pass_through), "");
}

TEST(many_errors, are_counted_beyond_the_limit) {
  std::string text;
  for (int n = 0; n < 60; ++n) text += "struct s" + std::to_string(n) + " { foo x; };\n";
  const std::string said = errors_of(text);
  EXPECT_NE(said.find("\n50:"), std::string::npos);
  EXPECT_EQ(said.find("\n51:"), std::string::npos);
  EXPECT_TRUE(said.ends_with("10 more errors are not shown\n"));
}

TEST(types_in_types, may_not_be_nested_too_deep) {
  std::string text;
  for (int n = 0; n < 100; ++n) text += "struct { ";
  const std::string said = errors_of("struct a { " + text);
  EXPECT_NE(said.find("types are nested more than 64 deep"), std::string::npos) << said;
}

}  // namespace
}  // namespace xdr_compiler
