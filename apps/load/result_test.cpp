#include "load/result.h"

#include <gtest/gtest.h>

#include <string>

namespace load {
namespace {

load_result sample() {
  load_result r;
  r.requests = 3;
  r.bytes = 3000;
  r.unanswered = 1;
  r.renewed = 6;
  r.connections = 5;
  r.open_connections = 2;
  r.starved = 1;
  r.abandoned = 2;
  r.longest_wait_ns = 5'000'000;
  r.seconds = 2;
  r.cpu_s = 0.5;
  r.involuntary_switches = 7;
  r.saturated = 1;
  for (std::size_t n = 0; n < error_kinds; ++n) r.errors[n] = 10 + n;
  for (const std::uint64_t ns : {1'000'000u, 2'000'000u, 3'000'000u, 4'000'000u}) r.latency.add(ns);
  for (const std::uint64_t got : {1u, 2u, 0u}) r.shares.add(got);
  return r;
}

TEST(a_result, comes_back_from_its_line) {
  const load_result r = sample();
  const auto read = load_result::parse(r.to_line());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->to_line(), r.to_line());
  EXPECT_EQ(read->errors, r.errors);
  EXPECT_EQ(read->unanswered, 1u);
  EXPECT_EQ(read->involuntary_switches, 7u);
  EXPECT_EQ(read->shares.count(), 3u);
  EXPECT_FALSE(load_result::parse("{}"));
  EXPECT_FALSE(load_result::parse(R"({"latency": "x"})"));
  EXPECT_FALSE(load_result::parse("x"));
}

TEST(a_result, of_two_injectors_is_their_sum) {
  load_result both = sample();
  load_result other = sample();
  other.seconds = 2.5;
  other.longest_wait_ns = 6'000'000;
  other.latency.add(9'000'000);
  both.add(other);
  EXPECT_EQ(both.requests, 6u);
  EXPECT_EQ(both.bytes, 6000u);
  EXPECT_EQ(both.unanswered, 2u);
  EXPECT_EQ(both.renewed, 12u);
  EXPECT_EQ(both.connections, 10u);
  EXPECT_EQ(both.starved, 2u);
  EXPECT_EQ(both.open_connections, 4u);
  EXPECT_EQ(both.abandoned, 4u);
  EXPECT_EQ(both.longest_wait_ns, 6'000'000u);
  EXPECT_EQ(both.seconds, 2.5);
  EXPECT_EQ(both.cpu_s, 1);
  EXPECT_EQ(both.involuntary_switches, 14u);
  EXPECT_EQ(both.saturated, 2u);
  EXPECT_EQ(both.errors[7], 34u);
  EXPECT_EQ(both.latency.count(), 9u);
  EXPECT_EQ(both.latency.max(), 9'000'000u);
  EXPECT_EQ(both.shares.count(), 6u);
}

TEST(an_injector, is_saturated_if_hardly_any_cpu_time_is_left) {
  EXPECT_TRUE(is_saturated(1.85, 2, 1));
  EXPECT_FALSE(is_saturated(1.75, 2, 1));
  EXPECT_FALSE(is_saturated(1.85, 2, 2));
  EXPECT_FALSE(is_saturated(0, 0, 1));
}

TEST(a_result, has_errors_if_there_is_one_of_any_kind) {
  EXPECT_FALSE(load_result{}.has_errors());
  for (std::size_t n = 0; n < error_kinds; ++n) {
    load_result r;
    r.errors[n] = 1;
    EXPECT_TRUE(r.has_errors()) << error_names[n];
  }
}

TEST(a_result, that_went_wrong_says_why_the_exit_status_is_1) {
  load_result r;
  EXPECT_EQ(what_went_wrong(r, std::nullopt), "not one right answer in the measured time");
  r.unanswered = 5;
  EXPECT_EQ(what_went_wrong(r, std::nullopt), "not one right answer in the measured time")
      << "of an open loop whose server never answers";
  r.errors[static_cast<std::size_t>(error_kind::status)] = 1;
  EXPECT_EQ(what_went_wrong(r, std::nullopt), "not one right answer in the measured time; 1 error");
  r.requests = 1;
  EXPECT_EQ(what_went_wrong(r, std::nullopt), "1 error");
  r.errors[static_cast<std::size_t>(error_kind::body)] = 2;
  server_result server;
  EXPECT_EQ(what_went_wrong(r, server), "3 errors");
  server.used.ended_roots = 1;
  EXPECT_EQ(what_went_wrong(r, server), "3 errors; 1 of the --server processes ended");
}

TEST(a_result, that_did_not_go_wrong_gives_no_reason) {
  load_result r;
  r.requests = 1;
  r.unanswered = 1;
  r.starved = 1;
  EXPECT_EQ(what_went_wrong(r, std::nullopt), "");
  EXPECT_EQ(what_went_wrong(r, server_result{}), "");
}

TEST(a_result_as_json, has_what_the_benchmarks_read) {
  server_result server;
  server.used.cpu_s = 0.03;
  server.used.user_s = 0.01;
  server.used.system_s = 0.02;
  server.used.involuntary_switches = 4;
  server.used.ended_roots = 1;
  server.before = {90, 100};
  server.after = {400, 130};
  http_settings asked;
  asked.load.seed = 77;
  asked.command = {"tartan-load", "a \"b\""};
  const std::string text = to_json(sample(), server, asked);
  for (const char* const member :
       {R"("requests": 3, "seconds": 2, "requests_per_s": 1.5, "bytes": 3000, "megabytes_per_s": 0.0015)",
        R"("errors": {"connect": 10, "read": 11, "write": 12, "timeout": 13, "status": 14, "length": 15, "body": 16, "closed_early": 17})",
        R"("latency_us": {"p50": 2)", R"("p90": 4000, "p99": 4000, "p99.9": 4000, "max": 4000, "mean": 2500})", R"("starved_clients": 1)",
        R"("jain": 0.6)", R"("open_connections": 2, "abandoned_clients": 2, "longest_wait_us": 5000)",
        R"("clients": 3, "connections": 5, "unanswered": 1, "renewed": 6)", R"("server": {"cpu_s": 0.03, "user_s": 0.01, "system_s": 0.02)",
        R"("cpu_us_per_request": 10000, "involuntary_switches": 4, "rss_kb": 400, "pss_kb": 130, "pss_kb_before": 100, "ended": 1, "kb_per_connection": 15})",
        R"("own_cpu_s": 0.5, "own_involuntary_switches": 7, "saturated": 1)", R"("seed": 77, "command": ["tartan-load", "a \"b\""]})"}) {
    EXPECT_NE(text.find(member), std::string::npos) << member << "\nin " << text;
  }
  EXPECT_EQ(to_json(sample(), std::nullopt, asked).find("\"server\""), std::string::npos);
}

TEST(a_result_as_text, names_the_errors_that_there_were) {
  EXPECT_NE(to_text(load_result{}, std::nullopt, http_settings{}).find("errors: none\n"), std::string::npos);
  load_result r;
  r.errors[static_cast<std::size_t>(error_kind::body)] = 3;
  EXPECT_NE(to_text(r, std::nullopt, http_settings{}).find("errors: body 3\n"), std::string::npos);
}

}  // namespace
}  // namespace load
