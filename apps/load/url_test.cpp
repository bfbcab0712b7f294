#include "url.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace load {
namespace {

TEST(a_url, has_a_host_a_port_and_a_path) {
  const url read = parse_url("http://127.0.0.1:8080/a/b?c=d");
  EXPECT_EQ(read.host, "127.0.0.1:8080");
  EXPECT_EQ(read.path, "/a/b?c=d");
  EXPECT_EQ(read.at.to_string(), "127.0.0.1:8080");
}

TEST(a_url, may_leave_port_and_path_out) {
  const url read = parse_url("http://127.0.0.1");
  EXPECT_EQ(read.host, "127.0.0.1");
  EXPECT_EQ(read.path, "/");
  EXPECT_EQ(read.at.to_string(), "127.0.0.1:80");
}

TEST(a_url, may_have_an_ipv6_address_or_a_name) {
  const url read = parse_url("http://[::1]:81/");
  EXPECT_EQ(read.host, "[::1]:81");
  EXPECT_EQ(read.at.to_string(), "[::1]:81");
  EXPECT_EQ(parse_url("http://[::1]/").at.port(), 80);
  EXPECT_TRUE(parse_url("http://localhost:82/").at.is_ip());
}

/// At a port of its own of 127.0.0.1.
class a_door {
 public:
  a_door() {
    const tartan::address any = *tartan::address::parse("127.0.0.1:0");
    EXPECT_EQ(::bind(door_, any.data(), any.size()), 0);
    EXPECT_EQ(::listen(door_, 1), 0);
    sockaddr_storage at{};
    socklen_t size = sizeof at;
    EXPECT_EQ(::getsockname(door_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = tartan::address::from(reinterpret_cast<sockaddr*>(&at), size).port();
  }
  a_door(const a_door&) = delete;
  ~a_door() { ::close(door_); }
  [[nodiscard]] tartan::address at(const std::string& host) const { return *tartan::address::parse(host + ":" + std::to_string(port_)); }

 private:
  const int door_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  unsigned port_ = 0;
};

TEST(a_name_with_several_addresses, is_asked_at_the_first_that_accepts) {
  const a_door door;
  const std::vector<tartan::address> second{door.at("127.0.0.2"), door.at("127.0.0.1"), door.at("127.0.0.3")};
  EXPECT_EQ(first_that_accepts(second).to_string(), second[1].to_string());
  const std::vector<tartan::address> none{door.at("127.0.0.2"), door.at("127.0.0.3")};
  EXPECT_EQ(first_that_accepts(none).to_string(), none[0].to_string());
}

TEST(what_is_no_url, is_not_taken_for_one) {
  for (const char* const text : {"", "127.0.0.1:80", "https://127.0.0.1/", "http://", "http:///x", "http://127.0.0.1:/", "http://127.0.0.1:x/",
                                 "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y", "http://127.0.0.256/"}) {
    EXPECT_THROW(static_cast<void>(parse_url(text)), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace load
