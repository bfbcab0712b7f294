// The program itself: files, options, exit status, the preprocessor.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/temporary_folder.h"

namespace xdr_compiler {
namespace {

class xdr_program : public testing::Test {
 protected:
  struct outcome {
    int status = 0;
    std::string said;  ///< on both standard streams
  };

  void write(const std::string& name, const std::string& text) const {
    std::ofstream file{room_ / name, std::ios::binary};
    file << text;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file{room_ / name, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  [[nodiscard]] bool is_there(const std::string& name) const { return std::filesystem::exists(room_ / name); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{room_.path()}, {}));
  }

  /// Runs it in the folder, with these words of a shell.
  [[nodiscard]] outcome run(const std::string& words, const std::string& before = "") const {
    const std::string command =
        "cd '" + room_.path().string() + "' && " + before + " " TARTAN_XDR_PROGRAM " " + words + " 2>&1";
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    outcome all;
    char some[4096];
    for (std::size_t got = 0; (got = std::fread(some, 1, sizeof some, pipe)) != 0;) all.said.append(some, got);
    const int status = ::pclose(pipe);
    all.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return all;
  }

  tartan::test::temporary_folder room_;
};

TEST_F(xdr_program, writes_a_header_named_as_the_file) {
  write("my-kiosk.x", "struct seat { int row; };");
  const outcome done = run("my-kiosk.x");
  EXPECT_EQ(done.status, 0) << done.said;
  EXPECT_EQ(done.said, "");
  EXPECT_NE(read("my-kiosk.h").find("namespace my_kiosk {"), std::string::npos);
  EXPECT_EQ(files(), 2U);
}

TEST_F(xdr_program, writes_nothing_if_there_is_an_error) {
  write("a.x", "struct seat { rows row; };\nstruct s { int x[0]; };");
  write("a.h", "old");
  const outcome done = run("--depfile a.d a.x");
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.said, "a.x:1:15: 'rows' is not declared\na.x:2:18: 'x' has no element: a size is 1 to 4294967295\n");
  EXPECT_EQ(read("a.h"), "old");
  EXPECT_EQ(files(), 2U);
}

TEST_F(xdr_program, runs_the_preprocessor_for_lines_with_a_number_sign) {
  write("a.x",
        "#include \"b.x\"\n#ifdef TARTAN_XDR\n#define N 3\n#endif\n%// it's not for cpp\nstruct seat {   row  x[N];   "
        "foo y; };");
  write("b.x", "struct row { int x; }; // don't\n");
  const outcome done = run("a.x");
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.said, "a.x:6:30: 'foo' is not declared\n");
}

TEST_F(xdr_program, leaves_types_of_other_files_to_their_headers) {
  write("a.x", "#include \"b.x\"\n#include \"c.inc\"\n%using everything = int;\nstruct seat { row x[N]; };");
  write("b.x", "struct row { int x; };");
  write("c.inc", "const N = FOUR;");
  const outcome done = run("-D FOUR=4 --depfile a.d -o out.h a.x");
  EXPECT_EQ(done.status, 0) << done.said;
  const std::string text = read("out.h");
  EXPECT_NE(text.find("#include \"b.h\"\n"), std::string::npos);
  EXPECT_NE(text.find("\nusing everything = int;\n"), std::string::npos);
  EXPECT_NE(text.find("std::array<::b::row, 4> x{};"), std::string::npos);
  EXPECT_NE(text.find("N = 4;"), std::string::npos);
  EXPECT_EQ(text.find("struct row {"), std::string::npos);
  EXPECT_EQ(read("a.d"), "out.h: \\\n  a.x \\\n  b.x \\\n  c.inc\n");
}

TEST_F(xdr_program, says_so_if_there_is_no_preprocessor) {
  write("a.x", "#define N 3\n");
  const outcome done = run("a.x", "PATH=/nonexistent");
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.said,
            "tartan-xdr: the file has lines that begin with #, which need the C preprocessor: install cpp (Debian: "
            "package cpp) or remove those lines\n");
}

TEST_F(xdr_program, ends_with_the_preprocessors_error) {
  write("a.x", "#include \"missing.x\"\n");
  const outcome done = run("a.x");
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.said.find("missing.x: No such file"), std::string::npos) << done.said;
  EXPECT_NE(done.said.find("tartan-xdr: a.x: the preprocessor has failed\n"), std::string::npos) << done.said;
  EXPECT_FALSE(is_there("a.h"));
}

TEST_F(xdr_program, puts_everything_into_the_asked_namespace) {
  write("a.x", "struct s { int x; }; namespace n { struct t { s x; }; }");
  EXPECT_NE(run("-o - --namespace one::two a.x").said.find("namespace one::two::n {"), std::string::npos);
  const std::string bare = run("-o - --namespace '' a.x").said;
  EXPECT_NE(bare.find("\nstruct s {"), std::string::npos);
  EXPECT_NE(bare.find("\nnamespace n {"), std::string::npos);
  EXPECT_EQ(bare.find("namespace a"), std::string::npos);
}

TEST_F(xdr_program, refers_to_opaque_of_the_asked_size) {
  write("a.x", "struct s { opaque a<7>; opaque b<8>; };");
  const std::string text = run("-o - --by-reference 8 a.x").said;
  EXPECT_NE(text.find("tartan::xdr::bytes<7> a{};"), std::string::npos);
  EXPECT_NE(text.find("tartan::xdr::data<8> b{};"), std::string::npos);
}

TEST_F(xdr_program, names_what_is_wrong_with_its_options) {
  write("a.x", "");
  const auto refused = [&](const std::string& words) {
    const outcome done = run(words);
    EXPECT_EQ(done.status, 1) << words;
    EXPECT_TRUE(done.said.ends_with(" (tartan-xdr --help lists the options)\n")) << done.said;
    return done.said.substr(0, done.said.find(" (tartan-xdr --help"));
  };
  EXPECT_EQ(refused(""), "tartan-xdr: which file? Name one that ends in .x");
  EXPECT_EQ(refused("a.x b.x"), "tartan-xdr: b.x: one file at a time");
  EXPECT_EQ(refused("--nonsense a.x"), "tartan-xdr: unknown option --nonsense");
  EXPECT_EQ(refused("-q a.x"), "tartan-xdr: unknown option -q");
  EXPECT_EQ(refused("a.x -o"), "tartan-xdr: -o: an argument is missing");
  EXPECT_EQ(refused("--namespace a::1 a.x"), "tartan-xdr: --namespace a::1: '1' is no name of a namespace");
  EXPECT_EQ(refused("--namespace new a.x"), "tartan-xdr: --namespace new: 'new' is no name of a namespace");
  EXPECT_EQ(refused("--by-reference many a.x"), "tartan-xdr: --by-reference many: not a number of bytes");
  EXPECT_EQ(refused("-c a.x"), "tartan-xdr: -h, -c and -P are options of --classic");
  EXPECT_EQ(refused("--classic -o a a.x"),
            "tartan-xdr: -o a: --classic writes two files: name the one that ends in .h, or add -h or -c");
}

TEST_F(xdr_program, writes_a_header_and_a_source_in_classic_form) {
  write("a.x", "%#include \"b.h\"\nconst N = 2; enum e { A = N }; struct s { e x[N]; bigint y; };\n");
  EXPECT_EQ(run("--classic a.x").said, "");
  EXPECT_TRUE(is_there("a.h") && is_there("a.C"));
  EXPECT_NE(read("a.h").find("\n#include \"b.h\"\n"), std::string::npos);
  EXPECT_NE(read("a.h").find("array<e, N> x;\n  bigint y;"), std::string::npos);
  EXPECT_NE(read("a.C").find("#include \"a.h\"\n"), std::string::npos);
  EXPECT_EQ(run("--classic -c -o c.C a.x").said, "");
  EXPECT_EQ(read("c.C"), read("a.C"));
  EXPECT_EQ(run("--classic -o sub.h a.x").said, "");
  EXPECT_NE(read("sub.C").find("#include \"sub.h\"\n"), std::string::npos);
}

TEST_F(xdr_program, puts_a_prefix_in_front_of_each_classic_name) {
  write("a.x",
        "const N = 2; enum e { A = N }; struct s { e x[N]; }; program P { version V { s F(e) = 1; } = 1; } = 7;");
  const std::string text = run("--classic -h -o - -P my a.x").said;
  for (const char* const part :
       {"enum { my_N = 2 };", "enum my_e {", "my_A = my_N,", "struct my_s {", "array<my_e, my_N> x;", "#define my_P 7",
        "extern const rpc_program my_p_1;", "macro (my_F, my_e, my_s)", "enum { my_V = 1 };"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(xdr_program, tells_the_preprocessor_what_classic_part_it_makes) {
  write("a.x", "#ifdef RPCC_H\nconst H = 1;\n#endif\n#ifdef RPCC_C\nstruct only_c { int x; };\n#endif\n");
  EXPECT_EQ(run("--classic a.x").said, "");
  EXPECT_NE(read("a.h").find("H = 1"), std::string::npos);
  EXPECT_EQ(read("a.h").find("only_c"), std::string::npos);
  EXPECT_NE(read("a.C").find("only_c"), std::string::npos);
}

TEST_F(xdr_program, refuses_what_the_classic_form_has_no_place_for) {
  write("a.x",
        "namespace n { struct s { int x; }; }\nprogram P { version V { void F(int, int) = 1; void G(int *) = 2;\n"
        "void H(void) = 4096; } = 1; } = 1;");
  EXPECT_EQ(run("--classic a.x").said,
            "a.x:1:22: --classic has namespaces around programs only: put 's' in front\n"
            "a.x:2:30: --classic has one argument and one result, without a pointer: put those of 'F' into a struct\n"
            "a.x:2:52: --classic has one argument and one result, without a pointer: put those of 'G' into a struct\n"
            "a.x:3:16: --classic has tables with a row for each number: procedures are 0 to 4095\n");
  EXPECT_FALSE(is_there("a.h"));
}

TEST_F(xdr_program, names_a_file_that_is_not_there) {
  const outcome done = run("nothing.x");
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.said, "tartan-xdr: nothing.x: No such file or directory\n");
}

TEST_F(xdr_program, leaves_no_temporary_file_where_it_can_not_write) {
  write("a.x", "struct s { int x; };");
  std::filesystem::create_directory(room_ / "a.h");
  const outcome done = run("a.x");
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.said, "tartan-xdr: a.h: Is a directory\n");
  EXPECT_EQ(files(), 2U);
}

TEST_F(xdr_program, shows_its_options_and_version) {
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_TRUE(run("--help").said.starts_with("Usage: tartan-xdr [options] FILE.x\n"));
  EXPECT_TRUE(run("--version").said.starts_with("tartan-xdr "));
}

}  // namespace
}  // namespace xdr_compiler
