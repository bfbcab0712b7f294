#include "dns/configuration.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace tartan::detail {
namespace {

using namespace std::chrono_literals;
using names = std::vector<std::string>;

std::string text_of(const std::vector<address>& all) {
  std::string text;
  for (const address& each : all) text += each.to_string() + " ";
  return text;
}

TEST(resolv_conf, names_servers_domains_and_options) {
  const server_settings got = read_server_settings(
      "# a comment\n; another\nnameserver 192.0.2.1\nnameserver\t2001:db8::1 # this one\nnameserver nonsense\n"
      "domain old.example\nsearch first.example second.example.\noptions ndots:2 timeout:3 attempts:4 rotate "
      "edns0\nsortlist 1.2.3.4\n");
  EXPECT_EQ(text_of(got.servers), "192.0.2.1:0 [2001:db8::1]:0 ");
  EXPECT_EQ(got.search, (names{"first.example", "second.example"}));
  EXPECT_EQ(got.dots, 2u);
  EXPECT_EQ(got.timeout, 3s);
  EXPECT_EQ(got.attempts, 4u);
}

TEST(resolv_conf, has_defaults_and_limits) {
  const server_settings nothing = read_server_settings("");
  EXPECT_TRUE(nothing.servers.empty());
  EXPECT_FALSE(nothing.names_search);
  EXPECT_EQ(nothing.dots, 1u);
  EXPECT_EQ(nothing.timeout, 5s);
  EXPECT_EQ(nothing.attempts, 2u);
  std::string many = "search";
  for (int n = 0; n < 40; ++n) many += " d" + std::to_string(n) + ".example";
  for (int n = 0; n < 40; ++n) many += "\nnameserver 192.0.2." + std::to_string(n);
  many += "\noptions ndots:99 timeout:0 attempts:99 timeout: ndots:x attempts:3x";
  const server_settings got = read_server_settings(many);
  EXPECT_EQ(got.servers.size(), most_servers);
  EXPECT_EQ(got.search.size(), most_search_domains);
  EXPECT_EQ(got.dots, 15u);
  EXPECT_EQ(got.timeout, 1s);
  EXPECT_EQ(got.attempts, 5u);
  EXPECT_TRUE(read_server_settings("search\n").names_search) << "an empty list is a list";
  EXPECT_EQ(read_server_settings("search a.example b/c d.example").search, (names{"a.example", "d.example"}));
}

TEST(hosts_files, give_addresses_by_name_and_names_by_address) {
  hosts_table table;
  table.read(
      "127.0.0.1 localhost\r\n192.0.2.1 Box.example box\n2001:db8::1 box # box again\n192.0.2.1 box\n\n  \nx "
      "y\n192.0.2.3\n192.0.2.4 b/d ok");
  EXPECT_EQ(text_of(*table.addresses_of("BOX")), "192.0.2.1:0 [2001:db8::1]:0 ");
  EXPECT_EQ(text_of(*table.addresses_of("localhost")), "127.0.0.1:0 ");
  EXPECT_EQ(table.addresses_of("y"), nullptr);
  EXPECT_EQ(table.addresses_of("b/d"), nullptr);
  EXPECT_EQ(text_of(*table.addresses_of("ok")), "192.0.2.4:0 ");
  EXPECT_EQ(*table.names_of(address::parse("192.0.2.1:443").value()), (names{"Box.example", "box", "box"}));
  EXPECT_EQ(table.names_of(address::parse("192.0.2.9:0").value()), nullptr);
}

TEST(name_configurations, are_kept_until_a_file_changes) {
  const test::temporary_folder folder;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream{folder / name, std::ios::trunc} << text;
  };
  const auto load = [&](const auto& old) { return load_configuration(folder / "resolv.conf", folder / "hosts", old); };
  const auto empty = load(nullptr).value();
  EXPECT_TRUE(empty->servers.servers.empty()) << "files that are not there say nothing";
  EXPECT_EQ(load(empty).value(), empty);
  write("hosts", "192.0.2.1 box\n");
  const auto first = load(empty).value();
  EXPECT_NE(first->hosts.addresses_of("box"), nullptr);
  EXPECT_EQ(load(first).value(), first);
  write("resolv.conf", "nameserver 192.0.2.1\nsearch a.example\n");
  const auto second = load(first).value();
  EXPECT_EQ(second->servers.servers.size(), 1u);
  EXPECT_EQ(second->servers.search, (names{"a.example"}));
  EXPECT_EQ(load_configuration("", "", nullptr).value()->servers.search, names{})
      << "without files nothing of this machine is searched";
}

}  // namespace
}  // namespace tartan::detail
