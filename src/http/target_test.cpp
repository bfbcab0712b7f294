#include <tartan/http/target.h>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tartan::http {
namespace {

/// The path, or the status.
std::string path(std::string_view target) {
  std::string scratch;
  const target_result result = path_of(target, scratch);
  return result.error ? std::to_string(static_cast<int>(*result.error)) : std::string{result.found.path};
}

TEST(target, is_a_path_up_to_the_question_mark) {
  EXPECT_EQ(path("/"), "/");
  EXPECT_EQ(path("/a/b.html"), "/a/b.html");
  EXPECT_EQ(path("/a/"), "/a/");
  EXPECT_EQ(path("/a?b=/../c%00"), "/a");
  EXPECT_EQ(path("/a.b/..c/d..e/..."), "/a.b/..c/d..e/...");
}

TEST(target, may_name_a_host) {
  EXPECT_EQ(path("http://example.org/a"), "/a");
  EXPECT_EQ(path("HTTPS://example.org:80/a?b"), "/a");
  EXPECT_EQ(path("http://example.org"), "/");
  EXPECT_EQ(path("http://example.org?x"), "/");
  EXPECT_EQ(path("http://example.org/../a"), "403");
  EXPECT_EQ(path("http://[::1]:80/a"), "/a");
  for (const std::string_view target :
       {"http:///a", "http://?x", "http://", "http://:80/a", "http://a@b/c", "http://a b/c", "http://a#b"}) {
    EXPECT_EQ(path(target), "400") << target;
  }
  EXPECT_EQ(path("http:/a"), "400");
  EXPECT_EQ(path("ftp://example.org/a"), "400");
}

TEST(target, is_hidden_if_a_name_in_it_begins_with_a_dot) {
  const auto is_hidden = [](std::string_view target) {
    std::string scratch;
    const target_result result = path_of(target, scratch);
    EXPECT_FALSE(result.error) << target;
    return result.found.is_hidden;
  };
  for (const std::string_view target : {"/.git", "/.git/a", "/a/.b", "/a/.b/c", "/%2egit/a", "/.well-known.txt",
                                        "/a/.well-known/b", "/.well-known/.a"}) {
    EXPECT_TRUE(is_hidden(target)) << target;
  }
  for (const std::string_view target :
       {"/", "/a", "/a.b/c.", "/.well-known/", "/.well-known/a", "/a?.b", "http://a/.well-known/b"}) {
    EXPECT_FALSE(is_hidden(target)) << target;
  }
}

TEST(target, is_refused_if_it_is_no_path) {
  for (const std::string_view target :
       {"*", "a", "example.org:443", "?", "../a", "/a#b", "/#a", "/?#", "/a?b#c", "http://a/?#", "%2f"}) {
    EXPECT_EQ(path(target), "400") << target;
  }
}

TEST(target, is_decoded_once) {
  EXPECT_EQ(path("/a%20b"), "/a b");
  EXPECT_EQ(path("/%41%6a%6A"), "/Ajj");
  EXPECT_EQ(path("/%252e%252e/a"), "/%2e%2e/a");
  EXPECT_EQ(path("/%25"), "/%");
  EXPECT_EQ(path("/%c3%a4"), "/\xc3\xa4");
  EXPECT_EQ(path("/a%3fb"), "/a?b");
  EXPECT_EQ(path("/a%23b"), "/a#b");
}

TEST(target, is_refused_if_it_cannot_be_decoded) {
  for (const std::string_view target : {"/%", "/%2", "/%zz", "/%2x", "/%x2", "/%%41", "/% 1", "/%+1"})
    EXPECT_EQ(path(target), "400") << target;
}

TEST(target, has_no_zero_byte) {
  EXPECT_EQ(path("/a%00"), "400");
  EXPECT_EQ(path("/%00.html"), "400");
}

TEST(target, has_no_encoded_slash) {
  EXPECT_EQ(path("/a%2fb"), "404");
  EXPECT_EQ(path("/..%2F..%2Fetc/passwd"), "404");
}

TEST(target, has_no_segment_that_leads_upwards) {
  for (const std::string_view target :
       {"/..", "/../", "/a/../b", "/a/..", "/.", "/./a", "/%2e%2e/a", "/a/%2E./b", "/.%2e"}) {
    EXPECT_EQ(path(target), "403") << target;
  }
}

TEST(target, has_no_empty_segment_within) {
  for (const std::string_view target : {"//", "//a", "/a//b", "/a//"}) EXPECT_EQ(path(target), "404") << target;
}

TEST(target, keeps_what_was_sent_for_redirections) {
  std::string scratch;
  const target_result result = path_of("http://example.org/a%20b?c", scratch);
  EXPECT_EQ(result.found.sent, "/a%20b");
  EXPECT_EQ(result.found.path, "/a b");
  EXPECT_EQ(result.found.query, "?c");
  EXPECT_EQ(path_of("/a", scratch).found.query, "");
  for (const std::string_view target : {"http://example.org?c=/d?e", "http://example.org/?c=/d?e"}) {
    const target_result root = path_of(target, scratch);
    EXPECT_EQ(root.found.sent, "/") << target;
    EXPECT_EQ(root.found.query, "?c=/d?e") << target;
    EXPECT_EQ(root.found.host, "example.org") << target;
  }
}

}  // namespace
}  // namespace tartan::http
