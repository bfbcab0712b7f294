#include "common/toml_section.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/one_line.h"
#include "tests/temporary_folder.h"

namespace tartan::apps {
namespace {

/// What is wrong, or nothing.
template <class F>
std::string wrong_with(const std::string& text, F read) {
  try {
    const toml::table all = toml::parse(text);
    toml_section top{"f", "", all};
    read(top);
    return "";
  } catch (const config_error& wrong) {
    return wrong.what();
  }
}

TEST(toml_section, gives_what_is_there_and_leaves_the_rest) {
  const auto read = [](toml_section& top) {
    int number = 1;
    int other = 2;
    std::chrono::milliseconds time{3};
    bool flag = false;
    std::string text;
    std::vector<std::string> texts{"old"};
    top.integer("number", number, {0, 9});
    top.integer("other", other, {0, 9});
    top.seconds("time", time);
    top.flag("flag", flag);
    top.text("text", text);
    top.texts("texts", texts);
    top.end();
    EXPECT_EQ(number, 7);
    EXPECT_EQ(other, 2);
    EXPECT_EQ(time.count(), 1500);
    EXPECT_TRUE(flag);
    EXPECT_EQ(text, "a");
    EXPECT_EQ(texts, (std::vector<std::string>{"b", "c"}));
  };
  EXPECT_EQ(wrong_with("number = 7\ntime = 1.5\nflag = true\ntext = 'a'\ntexts = ['b', 'c']\n", read), "");
}

TEST(toml_section, names_the_line_and_the_key_of_a_mistake) {
  int number = 0;
  std::string text;
  const auto integer = [&](toml_section& top) { top.integer("n", number, {1, 3}); };
  EXPECT_EQ(wrong_with("\n\nn = 4", integer), "f:3: n: is no integer from 1 to 3");
  EXPECT_EQ(wrong_with("n = 'x'", integer), "f:1: n: is no integer from 1 to 3");
  EXPECT_EQ(wrong_with("t = ''", [&](toml_section& top) { top.text("t", text); }), "f:1: t: is empty");
  EXPECT_EQ(wrong_with("t = 1", [&](toml_section& top) { top.text("t", text); }), "f:1: t: is no text in quotes");
  EXPECT_EQ(wrong_with("a = 1\nb = 2\nc = 3",
                       [&](toml_section& top) {
                         top.integer("a", number, {0, 9});
                         top.integer("c", number, {0, 9});
                         top.end();
                       }),
            "f:2: b: there is no such key; there are a, c");
  EXPECT_EQ(wrong_with("\n[s]\nn = 4", [&](toml_section& top) { top.inner("s")->integer("n", number, {1, 3}); }),
            "f:3: s.n: is no integer from 1 to 3");
  EXPECT_EQ(wrong_with("[[s]]\n[[s]]\nx = 1", [&](toml_section& top) { top.tables("s")[1].end(); }),
            "f:3: s.x: there is no such key; there are ");
  EXPECT_EQ(wrong_with("s = 1", [&](toml_section& top) { static_cast<void>(top.inner("s")); }),
            "f:1: s: is no table; write [s]");
  EXPECT_EQ(wrong_with("s = 1", [&](toml_section& top) { static_cast<void>(top.tables("s")); }),
            "f:1: s: is no list of tables; write [[s]]");
  EXPECT_EQ(wrong_with("s = 1", [&](toml_section& top) { top.lacks("t"); }), "f:1: t: is missing");
}

TEST(toml_section, asks_whether_a_text_is_right) {
  std::vector<std::string> found;
  const auto read = [&](toml_section& top) {
    top.texts("t", found,
              [](const std::string& text) { return text == "a" ? std::string{} : "'" + text + "' is not a"; });
  };
  EXPECT_EQ(wrong_with("t = 'a'", read), "");
  EXPECT_EQ(wrong_with("t = ['a',\n'b']", read), "f:2: t: 'b' is not a");
  EXPECT_EQ(wrong_with("t = []", read), "f:1: t: is empty");
}

TEST(parse_toml, tells_what_is_wrong_with_the_file) {
  const tartan::test::temporary_folder folder;
  const std::string path = (folder / "f").string();
  try {
    static_cast<void>(parse_toml(path));
    FAIL();
  } catch (const config_error& wrong) {
    EXPECT_EQ(std::string{wrong.what()}, path + ": cannot be read");
  }
  std::ofstream{path} << "a = 1\nb =\n";
  try {
    static_cast<void>(parse_toml(path));
    FAIL();
  } catch (const config_error& wrong) {
    EXPECT_TRUE(std::string{wrong.what()}.starts_with(path + ":2: ")) << wrong.what();
  }
  std::ofstream{path} << "a = 1\n";
  EXPECT_EQ(parse_toml(path)["a"].value<int>(), 1);
}

TEST(one_line, has_no_controls) {
  EXPECT_EQ(one_line("a\nb\x1b[2J\x7f\tc"), "a?b?[2J??c");
  EXPECT_EQ(one_line("\xc3\xa4"), "\xc3\xa4");
}

}  // namespace
}  // namespace tartan::apps
