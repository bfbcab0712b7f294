/// What is answered for paths that are no files.
#include "web/server_fixture.h"

#include <filesystem>
#include <string>

#include "tests/web/failing_disk.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::get;
using test::hear;
using test::send;

class a_server_of_an_application : public test::a_server {
 protected:
  a_server_of_an_application() {
    write("index.html", "the application");
    write("app.js", "a script");
    write_old("about.html", "about us");
    write_old("about.html.br", "compressed");
    std::filesystem::create_directory(folder_ / "guide");
    write("guide/index.html", "the guide");
    std::filesystem::create_directory(folder_ / "about");
    write("about/index.html", "a folder");
    write("plain", "without an extension");
    write("plain.html", "not this one");
    write("sorry.html", "sorry!");
    with_.hosts[0].error_pages = {{http::status::not_found, "/sorry.html"}};
  }

  /// One answer, whose body ends with this text.
  [[nodiscard]] static tartan::task<std::string> answer(tartan::tcp::stream& c, std::string request, std::string until) {
    std::string came;
    co_await send(c, std::move(request));
    co_await hear(c, came, until);
    co_return came;
  }

  const test::files_changed long_ago_{-60s};
};
INSTANTIATE_TEST_SUITE_P(on, a_server_of_an_application, testing::Values(1u, 2u));

TEST_P(a_server_of_an_application, sends_it_where_there_is_no_file) {
  with_.hosts[0].fallback = "/index.html";
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    std::string tag;
    for (int n = 0; n < 2; ++n) {  // from the disk, and from memory
      for (const char* const path : {"/users/7", "/users/7/", "/guide/next?q", "/a.b/c"}) {
        const std::string came = co_await answer(c, get(path), "the application");
        EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ") && came.find("text/html") != std::string::npos) << path << came;
        tag = came.substr(came.find("ETag: ") + 6, came.find("\r\n", came.find("ETag: ")) - came.find("ETag: ") - 6);
      }
    }
    std::string came = co_await answer(c, get("/users/7", "If-None-Match: " + tag + "\r\n"), "\r\n\r\n");
    EXPECT_TRUE(came.starts_with("HTTP/1.1 304 ")) << came;
    came = co_await answer(c, get("/app.js"), "a script");
    EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ")) << came;
    for (const char* const path : {"/chunk.js", "/users/me.png", "/.git"}) {
      came = co_await answer(c, get(path), "sorry!");
      EXPECT_TRUE(came.starts_with("HTTP/1.1 404 ")) << path << came;
    }
  });
}

TEST_P(a_server_of_an_application, that_is_not_there_has_nothing) {
  with_.hosts[0].fallback = "/application";
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    for (const char* const path : {"/users/7", "/application"}) {
      const std::string came = co_await answer(c, get(path), "sorry!");
      EXPECT_TRUE(came.starts_with("HTTP/1.1 404 ")) << path << came;
    }
  });
}

TEST_P(a_server_of_an_application, answers_clean_urls_with_pages) {
  with_.hosts[0].with.clean_urls = true;
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    for (int n = 0; n < 2; ++n) {
      std::string came = co_await answer(c, get("/about"), "about us");
      EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ") && came.find("Content-Type: text/html") != std::string::npos) << came;
      came = co_await answer(c, get("/about", "Accept-Encoding: br\r\n"), "compressed");
      EXPECT_TRUE(came.find("Content-Encoding: br") != std::string::npos && came.find("Content-Type: text/html") != std::string::npos) << came;
      came = co_await answer(c, get("/about/"), "a folder");
      EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ")) << came;
      came = co_await answer(c, get("/plain"), "without an extension");
      EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ")) << came;
      came = co_await answer(c, get("/guide"), "301 Moved Permanently\n");
      EXPECT_NE(came.find("\r\nLocation: /guide/\r\n"), std::string::npos) << came;
      came = co_await answer(c, get("/nothing"), "sorry!");
      EXPECT_TRUE(came.starts_with("HTTP/1.1 404 ")) << came;
    }
  });
}

TEST_P(a_server_of_an_application, has_no_clean_urls_unless_it_is_told) {
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const std::string came = co_await answer(c, get("/about"), "301 Moved Permanently\n");
    EXPECT_NE(came.find("\r\nLocation: /about/\r\n"), std::string::npos) << came;
  });
}

}  // namespace
}  // namespace web
