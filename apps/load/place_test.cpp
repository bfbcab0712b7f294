#include "load/place.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace load {
namespace {

/// Why it is refused; empty if it is not.
std::string refusal(std::string_view text) {
  try {
    static_cast<void>(parse_place(text));
  } catch (const std::invalid_argument& why) {
    return why.what();
  }
  return {};
}

TEST(a_place, has_a_host_and_a_port) {
  EXPECT_EQ(parse_place("127.0.0.1:9000"), (place{"127.0.0.1", 9000}));
  EXPECT_EQ(parse_place("master.example:65535"), (place{"master.example", 65535}));
  EXPECT_EQ(parse_place("[::1]:0"), (place{"::1", 0}));
  EXPECT_EQ(parse_place("[fe80::1%eth0]:9000"), (place{"fe80::1%eth0", 9000}));
}

TEST(a_place, without_a_port_is_refused) {
  for (const char* const text : {"127.0.0.1", "127.0.0.1:", "master.example", "[::1]", "[::1]:"}) {
    EXPECT_EQ(refusal(text), "'" + std::string{text} + "': the port is missing: expected HOST:PORT");
  }
}

TEST(a_port, beyond_65535_is_refused_and_does_not_wrap_around) {
  for (const char* const digits :
       {"65536", "65616", "74536", "4294967376", "18446744073709551696", "99999999999999999999999"}) {
    EXPECT_EQ(refusal("127.0.0.1:" + std::string{digits}),
              "'127.0.0.1:" + std::string{digits} + "': port " + digits + " is above 65535, the highest port");
  }
}

TEST(a_port, consists_of_digits_alone) {
  for (const char* const text : {"+80", "-1", " 80", "80 ", "0x50", "http", "8o"}) {
    EXPECT_EQ(refusal("127.0.0.1:" + std::string{text}),
              "'127.0.0.1:" + std::string{text} + "': port '" + text + "' is not a number");
  }
}

TEST(a_host, is_a_name_or_an_address_in_brackets) {
  EXPECT_EQ(refusal(":80"), "':80': the host is missing");
  EXPECT_EQ(refusal("[]:80"), "'[]:80': '' is not an IPv6 address");
  EXPECT_EQ(refusal("[::1:80"), "'[::1:80': ']' is missing after the IPv6 address");
  EXPECT_EQ(refusal("[::1]80"), "'[::1]80': only a port, as :80, may follow ']'");
  EXPECT_EQ(refusal("[127.0.0.1]:80"), "'[127.0.0.1]:80': '127.0.0.1' is not an IPv6 address");
  EXPECT_EQ(refusal("::1:80"), "'::1:80': there is more than one ':': an IPv6 address stands in brackets, as [::1]:80");
  EXPECT_EQ(refusal("[fe80::1%]:80"), "'[fe80::1%]:80': the zone of an IPv6 address is written as [fe80::1%eth0]");
  EXPECT_EQ(refusal("[fe80::1%a/b]:80"), "'[fe80::1%a/b]:80': 'a/b' is not the name of an interface");
  EXPECT_EQ(refusal("a b:80"), "'a b:80': a host name cannot have ' '");
  EXPECT_EQ(refusal("a\n:80"), "'a%0A:80': a host name cannot have byte 0x0A");
  EXPECT_EQ(refusal(std::string_view{"[::1\0]:80", 9}), "'[::1%00]:80': '::1%00' is not an IPv6 address");
  EXPECT_NE(refusal("me@127.0.0.1:80").find("user information"), std::string::npos);
}

TEST(a_place, is_looked_up_with_its_port) {
  EXPECT_EQ(look_up({"127.0.0.1", 65535}).front().to_string(), "127.0.0.1:65535");
  EXPECT_EQ(look_up({"::1", 81}).front().to_string(), "[::1]:81");
  for (const tartan::address& each : look_up({"localhost", 82})) EXPECT_EQ(each.port(), 82);
  EXPECT_THROW(static_cast<void>(look_up({"127.0.0.256", 80})), std::invalid_argument);
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
  [[nodiscard]] tartan::address at(const std::string& host) const {
    return *tartan::address::parse(host + ":" + std::to_string(port_));
  }

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

}  // namespace
}  // namespace load
