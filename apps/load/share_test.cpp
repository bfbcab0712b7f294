#include "load/share.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace load {
namespace {

load_settings sample() {
  load_settings s;
  s.urls = {"http://a/", "http://b/"};
  s.headers = {"Host: a", "X: \"1\\\t\xc3\xa9"};
  s.clients = 10;
  s.requests_per_connection = 7;
  s.seconds = 1.5;
  s.requests = 20;
  s.rate = 1000;
  s.timeout = 0.25;
  s.pause_read = 99;
  s.tls_ca = "/some/ca.pem";
  s.tls_verify = false;
  s.seed = 18446744073709551615u;
  s.set = specweb99_set(72, 0, 3);
  s.body = std::string("x\0\n\"y", 5);
  return s;
}

TEST(a_divided_load, has_every_client_and_every_request_once) {
  const std::vector<share> parts = divided(sample(), 3);
  ASSERT_EQ(parts.size(), 3u);
  std::uint64_t clients = 0;
  std::uint64_t requests = 0;
  double rate = 0;
  for (const share& each : parts) {
    EXPECT_EQ(each.first, clients);
    clients += each.load.clients;
    requests += each.load.requests;
    rate += each.load.rate;
    EXPECT_NEAR(static_cast<double>(each.load.clients), 10.0 / 3, 1);
  }
  EXPECT_EQ(clients, 10u);
  EXPECT_EQ(requests, 20u);
  EXPECT_NEAR(rate, 1000, 1e-9);
}

TEST(a_divided_load, leaves_a_client_and_a_request_to_each) {
  load_settings s = sample();
  EXPECT_NO_THROW(static_cast<void>(divided(s, 10)));
  EXPECT_THROW(static_cast<void>(divided(s, 11)), std::runtime_error);
  s.requests = 9;
  EXPECT_THROW(static_cast<void>(divided(s, 10)), std::runtime_error);
}

TEST(a_share, comes_back_from_what_the_master_says) {
  const share said{sample(), 123};
  const auto heard = flat_json::parse(said.to_json().text());
  ASSERT_TRUE(heard);
  const share read = share::parse(*heard);
  EXPECT_EQ(read.to_json().text(), said.to_json().text());
  EXPECT_EQ(read.first, 123u);
  EXPECT_EQ(read.load.urls, said.load.urls);
  EXPECT_EQ(read.load.headers, said.load.headers);
  EXPECT_EQ(read.load.seed, said.load.seed);
  EXPECT_EQ(read.load.set, said.load.set);
  EXPECT_EQ(read.load.body, said.load.body);
  EXPECT_EQ(read.load.pause_read, said.load.pause_read);
  EXPECT_EQ(read.load.tls_ca, said.load.tls_ca);
  EXPECT_EQ(read.load.tls_verify, said.load.tls_verify);
}

TEST(a_share, without_clients_or_urls_is_refused) {
  for (const char* const text : {"{}", R"({"step": "begin"})", R"({"step": "load", "clients": 1})", R"({"step": "load", "url0": "http://a/"})"}) {
    EXPECT_THROW(static_cast<void>(share::parse(*flat_json::parse(text))), std::runtime_error) << text;
  }
}

}  // namespace
}  // namespace load
