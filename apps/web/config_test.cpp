#include "web/config.h"

#include <gtest/gtest.h>
#include <tartan/core/usable_memory.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace web {
namespace {

using namespace std::chrono_literals;

class a_config : public testing::Test {
 protected:
  [[nodiscard]] settings read(const std::string& text) const {
    std::ofstream{path_} << text;
    return read_config(path_);
  }
  /// What is said, without the file's name.
  [[nodiscard]] std::string error(const std::string& text) const {
    try {
      static_cast<void>(read(text));
    } catch (const tartan::apps::config_error& wrong) {
      const std::string said = wrong.what();
      EXPECT_TRUE(said.starts_with(path_ + ":")) << said;
      return said.substr(path_.size() + 1);
    }
    return "nothing";
  }

  tartan::test::temporary_folder folder_;
  const std::string path_ = folder_ / "web.toml";
};

TEST_F(a_config, sets_what_it_names_and_leaves_the_rest) {
  const settings before;
  const settings found = read(R"(
listen = [":80", "[::]:80"]
workers = 3
max-connections = 77
access-log = "/var/log/a"
[timeouts]
header = 1
idle = 2.5
[cache]
bytes = 1_000_000
entries = 9
largest-page = 8192
recheck = 0.25
[types]
Wasm = "application/x-wasm"
txt = "text/x-mine"
note = "text/plain; charset=latin1"
[[host]]
names = ["A.example", "www.a.example."]
root = "/srv/a"
[[host]]
names = "b.example"
root = "/srv/b"
precompressed = false
listings = true
dot-files = true
https-only = true
headers = { Strict-Transport-Security = "max-age=1", X-A = " b " }
error-pages = { 404 = "/not found.html", 503 = "/busy" }
)");
  EXPECT_EQ(found.listen, (std::vector<std::string>{":80", "[::]:80"}));
  EXPECT_EQ(found.workers, 3u);
  EXPECT_EQ(found.max_connections, 77u);
  EXPECT_EQ(found.access_log, "/var/log/a");
  EXPECT_EQ(found.times.header, 1s);
  EXPECT_EQ(found.times.idle, 2500ms);
  EXPECT_EQ(found.times.write, before.times.write);
  EXPECT_EQ(found.pages.cache.bytes, 1'000'000u);
  EXPECT_EQ(found.pages.cache.entries, 9u);
  EXPECT_EQ(found.pages.largest_page, 8192u);
  EXPECT_EQ(found.pages.recheck, 250ms);
  ASSERT_EQ(found.hosts.size(), 2u);
  EXPECT_EQ(found.hosts[0].names, (std::vector<std::string>{"a.example", "www.a.example"}));
  EXPECT_EQ(found.hosts[0].root, "/srv/a");
  EXPECT_TRUE(found.hosts[0].with.precompressed);
  EXPECT_EQ(found.hosts[1].names, std::vector<std::string>{"b.example"});
  EXPECT_FALSE(found.hosts[1].with.precompressed);
  EXPECT_TRUE(!found.hosts[0].with.listings && found.hosts[1].with.listings);
  const type_map types{{"wasm", "application/x-wasm"}, {"txt", "text/x-mine; charset=utf-8"}, {"note", "text/plain; charset=latin1"}};
  EXPECT_TRUE(found.hosts[0].with.pages.types == types && found.hosts[1].with.pages.types == types);
  EXPECT_TRUE(!found.hosts[0].with.dot_files && found.hosts[1].with.dot_files);
  EXPECT_TRUE(!found.hosts[0].https_only && found.hosts[1].https_only);
  EXPECT_EQ(found.hosts[0].with.pages.headers, "");
  EXPECT_EQ(found.hosts[1].with.pages.headers, "\r\nStrict-Transport-Security: max-age=1\r\nX-A: b");
  EXPECT_TRUE(found.hosts[0].error_pages.empty());
  const std::map<http::status, std::string> pages{{http::status::not_found, "/not found.html"}, {http::status::unavailable, "/busy"}};
  EXPECT_EQ(found.hosts[1].error_pages, pages);
}

TEST_F(a_config, sets_what_applications_and_proxies_need) {
  const settings found = read(R"(
trusted-proxies = ["10.0.0.0/8", "unix"]
proxy-protocol = true
[[host]]
root = "/srv/a"
[[host]]
names = "b.example"
root = "/srv/b"
fallback = "/index.html"
clean-urls = true
[[host.rule]]
path = "/assets/"
cache-control = "immutable"
[[host.rule]]
extension = "JS"
headers = { X-B = "c" }
)");
  const host_settings& without = found.hosts.at(0);
  EXPECT_TRUE(without.fallback.empty() && !without.with.clean_urls && without.with.pages.rules.empty());
  EXPECT_TRUE(found.hosts.at(1).fallback == "/index.html" && found.hosts[1].with.clean_urls);
  const std::vector<page_rule> rules{{.path = "/assets/", .cache_control = "immutable"}, {.extensions = {"js"}, .headers = "\r\nX-B: c"}};
  EXPECT_EQ(found.hosts[1].with.pages.rules, rules);
  EXPECT_TRUE(found.proxies.speaks_protocol && found.proxies.trusts_unix && found.proxies.trusted.size() == 1);
}

TEST_F(a_config, needs_only_a_host_with_a_folder) {
  const settings found = read("host = [{root = \"/srv\"}]\n");
  EXPECT_EQ(found.listen, settings{}.listen);
  EXPECT_EQ(found.hosts.at(0).root, "/srv");
}

TEST_F(a_config, names_line_and_key_of_each_mistake) {
  const std::string host = "[[host]]\nroot = \"/srv\"\n";
  const struct {
    std::string text;
    std::string said;
  } cases[] = {
      {"", "1: host: is missing"},
      {"[[host]]\nnames = [\"a\"]\n", "1: host.root: is missing"},
      {"worker = 1\n" + host,
       "1: worker: there is no such key; there are access-log, cache, host, listen, listen-tls, max-connections, proxy-protocol, timeouts, "
       "trusted-proxies, types, user, workers"},
      {"\nworkers = 1.5\n" + host, "2: workers: is no integer from 0 to 1024"},
      {"workers = -1\n" + host, "1: workers: is no integer from 0 to 1024"},
      {"workers = 1025\n" + host, "1: workers: is no integer from 0 to 1024"},
      {"max-connections = 0\n" + host, "1: max-connections: is no integer from 1 to 1000000"},
      {"listen = []\n" + host, "1: listen: is empty"},
      {"listen = [\":80\",\n  80]\n" + host, "2: listen: is no text in quotes"},
      {"listen = \"localhost:80\"\n" + host, "1: listen: 'localhost:80' is no address: expected something like 127.0.0.1:80 or [::1]:80"},
      {"listen-tls = [\":443\",\n\":65536\"]\n" + host, "2: listen-tls: ':65536': port 65536 is above 65535, the highest port"},
      {"listen = \"unix:/tmp/a\"\n" + host, "1: listen: 'unix:/tmp/a' is no address: expected something like 127.0.0.1:80 or [::1]:80"},
      {"access-log = \"\"\n" + host, "1: access-log: is empty"},
      {"access-log = 1\n" + host, "1: access-log: is no text in quotes"},
      {host + "[timeouts]\nheader = \"1\"\n", "4: timeouts.header: is no number of seconds from 0 to 1000000"},
      {host + "[timeouts]\nheader = nan\n", "4: timeouts.header: is no number of seconds from 0 to 1000000"},
      {host + "[timeouts]\nheader = -0.5\n", "4: timeouts.header: is no number of seconds from 0 to 1000000"},
      {host + "[timeouts]\nheaders = 1\n", "4: timeouts.headers: there is no such key; there are drain, header, idle, write"},
      {host + "[cache]\nlargest-page = 16777217\n", "4: cache.largest-page: is no integer from 0 to 16777216"},
      {"timeouts = 1\n" + host, "1: timeouts: is no table; write [timeouts]"},
      {"host = 1\n", "1: host: is no list of tables; write [[host]]"},
      {"[host]\nroot = \"/srv\"\n", "1: host: is no list of tables; write [[host]]"},
      {host + "precompressed = 1\n", "3: host.precompressed: is neither true nor false"},
      {host + host, "3: host.names: is missing"},
      {host + "https-only = 1\n", "3: host.https-only: is neither true nor false"},
      {host + "headers = 1\n", "3: host.headers: is no table; write [host.headers]"},
      {host + "[host.headers]\n\"a b\" = \"c\"\n", "4: host.headers.a b: is no name of a header"},
      {host + "[host.headers]\ncontent-Length = \"1\"\n", "4: host.headers.content-Length: is one that the server sets"},
      {host + "[host.headers]\na = \"b\\r\\nc: d\"\n", "4: host.headers.a: cannot be the value of a header"},
      {host + "error-pages = 1\n", "3: host.error-pages: is no table; write [host.error-pages]"},
      {host + "error-pages = { 404 = 1 }\n", "3: host.error-pages.404: is no text in quotes"},
      {host + "error-pages = { 404 = \"a\" }\n", "3: host.error-pages.404: 'a' is no path, as \"/404.html\""},
      {host + "error-pages = { 404 = \"/../a\" }\n", "3: host.error-pages.404: '/../a' is no path, as \"/404.html\""},
      {host + "error-pages = { 404 = \"/a/..\" }\n", "3: host.error-pages.404: '/a/..' is no path, as \"/404.html\""},
      {host + "error-pages = { 404 = \"/a//b\" }\n", "3: host.error-pages.404: '/a//b' is no path, as \"/404.html\""},
      {host + "error-pages = { 404 = \"/a\\u0000\" }\n", "3: host.error-pages.404: '/a"},  // the rest is behind a zero
      {host + "[host.error-pages]\n200 = \"/a\"\n", "4: host.error-pages.200: is none of 403, 404, 500 and 503"},
      {host + "[host.error-pages]\n40 = \"/a\"\n", "4: host.error-pages.40: is none of 403, 404, 500 and 503"},
      {host + "[types]\n\"a.b\" = \"a/b\"\n", "4: types.a.b: is no extension, as \"wasm\""},
      {host + "[types]\na = \"b\"\n", "4: types.a: 'b' is no type, as \"application/wasm\""},
      {host + "[types]\na = \"/b\"\n", "4: types.a: '/b' is no type, as \"application/wasm\""},
      {host + "[types]\na = \"a/b c\"\n", "4: types.a: 'a/b c' is no type, as \"application/wasm\""},
      {host + "[types]\na = \"a/b;\\r\"\n", "4: types.a: 'a/b;\r' is no type, as \"application/wasm\""},
      {host + "[types]\na = \"a/b\"\nA = \"a/c\"\n", "4: types.a: is there already"},
      {host + "[types]\n" + std::string(256, 'a') + " = \"a/b\"\n", "4: types." + std::string(256, 'a') + ": is too long"},
      {host + "[types]\na = 1\n", "4: types.a: is no text in quotes"},
      {host + "names = [\"a:80\"]\n", "3: host.names: 'a:80' is more than a name"},
      {host + "names = [\"*.a\"]\n", "3: host.names: '*.a' is a pattern: write each name out"},
      {host + "names = [\".\"]\n", "3: host.names: '.' is no name"},
      {host + "names = \"" + std::string(256, 'a') + "\"\n", "3: host.names: '" + std::string(256, 'a') + "' is no name"},
      {host + "names = [\"a\"]\n" + host + "names = [\"b\", \"A\"]\n", "6: host.names: 'a' is another host's, too"},
  };
  for (const auto& each : cases) EXPECT_EQ(error(each.text), each.said) << each.text;
}

TEST_F(a_config, names_line_and_key_of_a_mistake_about_applications_and_proxies) {
  const std::string host = "[[host]]\nroot = \"/srv\"\n";
  const struct {
    std::string text;
    std::string said;
  } cases[] = {
      {host + "fallback = \"index.html\"\n", "3: host.fallback: 'index.html' is no path, as \"/index.html\""},
      {host + "clean-urls = \"yes\"\n", "3: host.clean-urls: is neither true nor false"},
      {host + "rule = 1\n", "3: host.rule: is no list of tables; write [[host.rule]]"},
      {host + "[[host.rule]]\ncache-control = \"a\"\n", "3: host.rule.path: is missing"},
      {host + "[[host.rule]]\npath = \"/a\"\n", "3: host.rule.headers: is missing"},
      {host + "[[host.rule]]\npath = \"a/\"\n", "4: host.rule.path: 'a/' is no beginning of a path, as \"/assets/\""},
      {host + "[[host.rule]]\nextension = [\".js\"]\n", "4: host.rule.extension: '.js' is no extension, as \"js\""},
      {host + "[[host.rule]]\nextension = \"js\"\nheaders = { ETag = \"a\" }\n", "5: host.rule.headers.ETag: is one that the server sets"},
      {host + "[[host.rule]]\npath = \"/a\"\ncache-control = \"\\n\"\n", "5: host.rule.cache-control: cannot be the value of a header"},
      {host + "[[host.rule]]\npath = \"/a\"\ncaching = \"a\"\nheaders = { a = \"b\" }\n",
       "5: host.rule.caching: there is no such key; there are cache-control, extension, headers, path"},
      {"trusted-proxies = [\"10.0.0.0/8\",\n\"10.0.0.1/8\"]\n" + host,
       "2: trusted-proxies: '10.0.0.1/8' is no range of addresses, as \"10.0.0.0/8\", no address, and not \"unix\""},
  };
  for (const auto& each : cases) EXPECT_EQ(error(each.text), each.said) << each.text;
}

TEST_F(a_config, that_is_no_toml_says_in_which_line) {
  EXPECT_TRUE(error("a = 1\nb =\n").starts_with("2: "));
  EXPECT_TRUE(error("a = 1\na = 2\n").starts_with("2: "));
}

TEST_F(a_config, that_has_no_end_is_refused) {
  try {
    static_cast<void>(read_config("/dev/zero"));
    FAIL();
  } catch (const tartan::apps::config_error& wrong) {
    EXPECT_STREQ(wrong.what(), "/dev/zero: is longer than 16 MB");
  }
}

TEST_F(a_config, that_says_nothing_leaves_what_there_was) {
  settings before;
  before.pages.cache = {.bytes = 5, .entries = 6};
  std::ofstream{path_} << "[cache]\nentries = 7\n[[host]]\nroot = \"/\"\n";
  const settings found = read_config(path_, before);
  EXPECT_EQ(found.pages.cache.bytes, 5u);
  EXPECT_EQ(found.pages.cache.entries, 7u);
}

TEST(usual_settings, give_pages_a_part_of_the_memory) {
  const std::size_t bytes = usual_settings().pages.cache.bytes;
  EXPECT_EQ(bytes, std::min(tartan::usable_memory() / 16, std::size_t{256} << 20));
  EXPECT_LE(usual_settings().pages.largest_page, std::size_t{1} << 20);
}

TEST_F(a_config, that_is_not_there_is_named) {
  try {
    static_cast<void>(read_config(folder_ / "nothing"));
    FAIL();
  } catch (const tartan::apps::config_error& wrong) {
    EXPECT_EQ(wrong.what(), (folder_ / "nothing").string() + ": cannot be read");
  }
}

}  // namespace
}  // namespace web
