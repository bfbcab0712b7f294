// Which route answers which path.

#include "http_server/router.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tartan::http::detail {
namespace {

class routes : public testing::Test {
 protected:
  void add(std::string_view method, std::string_view pattern) {
    route_entry& made = all.add(method, pattern, nullptr);
    made.most_body = labels.size();
    labels.emplace_back(pattern);
  }
  /// The pattern and the parameters, or the methods that there are.
  std::string find(std::string_view method, std::string_view path) {
    const router::found found = all.find(method, path);
    if (found.entry == nullptr) return found.allowed.empty() ? "none" : "allowed: " + found.allowed;
    std::string text = labels[*found.entry->most_body];
    for (std::size_t n = 0; n < found.values.size(); ++n) {
      text += " " + found.entry->names.at(n) + "=" + std::string{found.values[n]};
    }
    return text;
  }

  router all;
  std::vector<std::string> labels;
};

TEST_F(routes, fit_segment_by_segment) {
  add("GET", "/");
  add("GET", "/users");
  add("GET", "/users/{id}");
  add("GET", "/users/{id}/posts/{post}");
  EXPECT_EQ(find("GET", "/"), "/");
  EXPECT_EQ(find("GET", "/users"), "/users");
  EXPECT_EQ(find("GET", "/users/7"), "/users/{id} id=7");
  EXPECT_EQ(find("GET", "/users/7/posts/a b"), "/users/{id}/posts/{post} id=7 post=a b");
  EXPECT_EQ(find("GET", "/users/"), "none");
  EXPECT_EQ(find("GET", "/users/7/"), "none");
  EXPECT_EQ(find("GET", "/users/7/posts"), "none");
  EXPECT_EQ(find("GET", "/user"), "none");
}

TEST_F(routes, prefer_texts_to_names_and_names_to_rests) {
  add("GET", "/a/{x}");
  add("GET", "/a/b");
  add("GET", "/a/{rest...}");
  add("GET", "/a/b/c");
  add("GET", "/{all...}");
  EXPECT_EQ(find("GET", "/a/b"), "/a/b");
  EXPECT_EQ(find("GET", "/a/z"), "/a/{x} x=z");
  EXPECT_EQ(find("GET", "/a/b/d"), "/a/{rest...} rest=b/d");
  EXPECT_EQ(find("GET", "/a/"), "/a/{rest...} rest=");
  EXPECT_EQ(find("GET", "/b/c"), "/{all...} all=b/c");
  EXPECT_EQ(find("GET", "/"), "/{all...} all=");
}

TEST_F(routes, go_back_where_a_text_leads_nowhere) {
  add("GET", "/a/b/c");
  add("GET", "/{x}/b/d");
  add("GET", "/{x}/{rest...}");
  EXPECT_EQ(find("GET", "/a/b/d"), "/{x}/b/d x=a");
  EXPECT_EQ(find("GET", "/a/b/e"), "/{x}/{rest...} x=a rest=b/e");
}

TEST_F(routes, tell_what_methods_a_path_has) {
  add("GET", "/a");
  add("DELETE", "/{x}");
  EXPECT_EQ(find("HEAD", "/a"), "/a");
  EXPECT_EQ(find("DELETE", "/a"), "/{x} x=a");
  EXPECT_EQ(find("POST", "/a"), "allowed: DELETE, GET, HEAD, OPTIONS");
  EXPECT_EQ(find("HEAD", "/b"), "allowed: DELETE, OPTIONS");
  EXPECT_EQ(all.all_methods(), "DELETE, GET, HEAD, OPTIONS");
  add("HEAD", "/a");
  EXPECT_EQ(labels[*all.find("HEAD", "/a").entry->most_body], labels.back());
}

TEST_F(routes, refuse_what_is_no_pattern) {
  for (const char* const pattern :
       {"", "a", "/{}", "/{a", "/a}", "/x{a}", "/{a}{b}", "/{a...}/b", "/{...}", "//a", "/{a}/{a}"}) {
    EXPECT_THROW(add("GET", pattern), std::invalid_argument) << pattern;
  }
  EXPECT_THROW(add("G T", "/"), std::invalid_argument);
  add("GET", "/{a}");
  EXPECT_THROW(add("GET", "/{b}"), std::invalid_argument);
  add("PUT", "/{b}");
}

}  // namespace
}  // namespace tartan::http::detail
