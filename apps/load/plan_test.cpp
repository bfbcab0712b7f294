#include "load/plan.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

namespace load {
namespace {

load_settings of_urls(std::vector<std::string> urls) {
  load_settings s;
  s.urls = std::move(urls);
  return s;
}

TEST(a_plan, asks_as_a_browser_would) {
  const plan made{of_urls({"http://127.0.0.1:81/a?b"})};
  ASSERT_EQ(made.site_of(0).pages.size(), 1u);
  EXPECT_EQ(made.site_of(0).pages[0].request, "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:81\r\n\r\n");
  EXPECT_EQ(made.site_of(0).pages[0].body->known(), nullptr);
}

TEST(a_plan, asks_with_a_path_where_the_url_has_only_a_query) {
  EXPECT_EQ(plan{of_urls({"HTTP://127.0.0.1:81?b#c"})}.site_of(0).pages[0].request,
            "GET /?b HTTP/1.1\r\nHost: 127.0.0.1:81\r\n\r\n");
}

TEST(a_plan, asks_with_the_headers_that_are_given) {
  load_settings s = of_urls({"http://127.0.0.1:81/"});
  s.headers = {"Accept-Encoding: br", "X:"};
  s.requests_per_connection = 1;
  EXPECT_EQ(plan{s}.site_of(0).pages[0].request, "GET / HTTP/1.1\r\nHost: 127.0.0.1:81\r\nAccept-Encoding: br\r\nX:\r\nConnection: close\r\n\r\n");
  s.headers = {"X-Host: a", "hOST: other.example"};
  s.requests_per_connection = 0;
  EXPECT_EQ(plan{s}.site_of(0).pages[0].request, "GET / HTTP/1.1\r\nX-Host: a\r\nhOST: other.example\r\n\r\n");
}

TEST(a_plan, says_that_the_only_request_of_a_connection_is_its_last) {
  load_settings s = of_urls({"http://127.0.0.1:81/"});
  s.requests_per_connection = 1;
  EXPECT_NE(plan{s}.site_of(0).pages[0].request.find("\r\nConnection: close\r\n"), std::string::npos);
  s.requests_per_connection = 2;
  EXPECT_EQ(plan{s}.site_of(0).pages[0].request.find("Connection"), std::string::npos);
}

TEST(a_plan, deals_clients_out_to_urls) {
  const plan made{of_urls({"http://127.0.0.1:81/", "http://127.0.0.1:82/", "http://127.0.0.1:83/"})};
  EXPECT_EQ(made.site_of(0).at.port(), 81);
  EXPECT_EQ(made.site_of(4).at.port(), 82);
  EXPECT_EQ(made.site_of(5).at.port(), 83);
}

TEST(a_plan, has_the_files_of_a_set_with_what_is_in_them) {
  load_settings s = of_urls({"http://127.0.0.1:81", "http://127.0.0.1:82/sub"});
  s.set = specweb99_set(36, 0, 5);
  const plan made{s};
  ASSERT_EQ(made.site_of(1).pages.size(), 36u);
  EXPECT_EQ(made.site_of(0).pages[0].request.substr(0, 35), "GET /dir00000/class0_0 HTTP/1.1\r\nHo");
  EXPECT_EQ(made.site_of(1).pages[35].request.substr(0, 35), "GET /sub/dir00000/class3_8 HTTP/1.1");
  EXPECT_EQ(*made.site_of(1).pages[35].body->known(), content_of(*s.set, 35, 921'600));
  s.urls = {"http://127.0.0.1:81/sub/?x=y#z"};
  EXPECT_EQ(plan{s}.site_of(0).pages[0].request.substr(0, 44), "GET /sub/dir00000/class0_0?x=y HTTP/1.1\r\nHos")
      << "the query stands behind the name";
  std::set<const page*> drawn;
  random_source chance{1};
  for (int n = 0; n < 100'000; ++n) drawn.insert(&made.draw(made.site_of(0), chance));
  EXPECT_EQ(drawn.size(), 36u);
}

TEST(a_plan, knows_the_body_that_is_given) {
  load_settings s = of_urls({"http://127.0.0.1:81/", "http://127.0.0.1:82/"});
  s.body = "given";
  const plan made{s};
  ASSERT_NE(made.site_of(0).pages[0].body->known(), nullptr);
  EXPECT_EQ(*made.site_of(0).pages[0].body->known(), "given");
  EXPECT_EQ(*made.site_of(1).pages[0].body->known(), "given") << "of copies, too";
}

TEST(a_plan, without_a_url_is_none) { EXPECT_THROW(plan{load_settings{}}, std::invalid_argument); }

}  // namespace
}  // namespace load
