#include <tartan/http/url.h>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tartan::http {
namespace {

std::string parts(const result<url>& u) {
  if (!u) return u.error().message();
  return (u->secure ? "https " : "http ") + u->host + " " + std::to_string(u->port) + " " + u->target;
}

TEST(urls, are_taken_apart) {
  EXPECT_EQ(parts(url::parse("http://example.org")), "http example.org 80 /");
  EXPECT_EQ(parts(url::parse("HTTPS://Example.ORG:8443/a/b?c=d#e")), "https example.org 8443 /a/b?c=d");
  EXPECT_EQ(parts(url::parse("https://example.org?x=/y")), "https example.org 443 /?x=/y");
  EXPECT_EQ(parts(url::parse("http://[::1]:8080/")), "http ::1 8080 /");
  EXPECT_EQ(parts(url::parse("http://[::1]/")), "http ::1 80 /");
  EXPECT_EQ(parts(url::parse("http://a.:/")), "http a 80 /");
}

TEST(urls, that_are_none_are_refused) {
  for (const char* const text : {"", "example.org", "ftp://a/", "http:/a", "http://", "http:///a", "http://u:p@a/",
                                 "http://a:0/", "http://a:65536/", "http://a:x/", "http://a b/", "http://a/b c",
                                 "http://a/\r\nX: y", "http://a/\xc3\xa4", "http://[::1/", "http://[a]/"}) {
    EXPECT_EQ(url::parse(text).error(), std::errc::invalid_argument) << text;
  }
}

TEST(urls, lead_on_by_references) {
  const url base = url::parse("https://a.example:444/b/c/d?q").value();
  const std::vector<std::pair<std::string, std::string>> all{
      {"http://b/x", "http://b/x"},
      {"//b/x", "https://b/x"},
      {"/x?y#z", "https://a.example:444/x?y"},
      {"x", "https://a.example:444/b/c/x"},
      {"./x/./y/..", "https://a.example:444/b/c/x/"},
      {"../../../x", "https://a.example:444/x"},
      {"..", "https://a.example:444/b/"},
      {"?z", "https://a.example:444/b/c/d?z"},
      {"", "https://a.example:444/b/c/d?q"},
      {"#f", "https://a.example:444/b/c/d?q"},
      {"x y\xc3\xa4?1:2", "https://a.example:444/b/c/x%20y%C3%A4?1:2"},
  };
  for (const auto& [reference, leads_to] : all) {
    const result<url> found = base.resolve(reference);
    ASSERT_TRUE(found) << reference;
    EXPECT_EQ(found->to_string(), leads_to) << reference;
  }
  EXPECT_FALSE(base.resolve("javascript:x"));
  EXPECT_FALSE(base.resolve("//u@b/"));
  EXPECT_FALSE(base.resolve("http://a:99999/"));
}

TEST(urls, say_their_authority_and_origin) {
  EXPECT_EQ(url::parse("http://[::1]:81/x").value().authority(), "[::1]:81");
  EXPECT_EQ(url::parse("https://a:443/x").value().origin(), "https://a");
  EXPECT_EQ(url::parse("http://a:443/x").value().origin(), "http://a:443");
}

}  // namespace
}  // namespace tartan::http
