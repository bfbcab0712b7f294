/// What docs/guide/errors.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <tartan/tartan.h>

#include <charconv>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

tartan::result<int> parse_port(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{}) return std::make_error_code(error);  // any error_code
  if (end != text.data() + text.size()) return std::make_error_code(std::errc::invalid_argument);
  return port;
}

TEST(errors_guide, a_result_is_a_value_or_an_error) {
  if (const auto port = parse_port("7000")) {
    EXPECT_EQ(*port, 7000);
  }
  const auto bad = parse_port("http");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), std::errc::invalid_argument);
  EXPECT_EQ(bad.value_or(80), 80);
}

TEST(errors_guide, the_handler_of_exceptions_decides_and_the_runtime_goes_on) {
  std::vector<std::string> log;
  tartan::options with;
  with.on_exception = [&](const tartan::escaped_exception& e) {
    try {
      std::rethrow_exception(e.exception);
    } catch (const std::exception& what) {
      log.push_back(e.name + ": " + what.what());  // e.in is the color, e.post_site the place
    }
  };
  tartan::runtime rt{with};
  rt.name(tartan::color{7}, "parser");
  rt.post(tartan::color{7}, [] { throw std::runtime_error{"line 3"}; });
  rt.post(tartan::color{7}, [&] { log.push_back("goes on"); });
  rt.run_until_idle();
  EXPECT_EQ(log, (std::vector<std::string>{"parser: line 3", "goes on"}));
}

TEST(errors_guide, a_blocking_call_keeps_a_result_as_it_is) {
  std::error_code seen;
  tartan::runtime rt;
  rt.post([&] {
    tartan::blocking(
        tartan::color{1}, [] { return parse_port("port 80"); },  // gives a result: stays one
        [&](tartan::result<int> port) { seen = port.error(); });
  });
  rt.run_until_idle();
  EXPECT_EQ(seen, std::errc::invalid_argument);
}

TEST(errors_guide, exceptions_reach_who_awaits_them) {
  std::vector<std::string> caught;
  const auto attempt = [&](auto what) -> tartan::task<> {
    try {
      co_await what();
    } catch (const std::runtime_error& e) {
      caught.emplace_back(e.what());
      EXPECT_EQ(tartan::current_color(), tartan::color{3});
    }
  };
  const auto fails = []() -> tartan::task<> {
    co_await tartan::yield();
    throw std::runtime_error{"task"};
  };
  const auto all = [&]() -> tartan::task<> {
    co_await attempt(fails);
    co_await attempt([] { return tartan::in(tartan::color{4}, [] { throw std::runtime_error{"in"}; }); });
    co_await attempt([] { return tartan::blocking([] { throw std::runtime_error{"blocking"}; }); });
    auto handle = tartan::spawn_in(tartan::color{5}, fails);
    co_await attempt([&] { return handle.join(); });
  };
  tartan::runtime rt;
  tartan::spawn_in(rt, tartan::color{3}, all);
  rt.run_until_idle();
  EXPECT_EQ(caught, (std::vector<std::string>{"task", "in", "blocking", "task"}));
}

TEST(errors_guide, a_value_that_is_not_there_ends_the_program) {
  const tartan::result<int> late = tartan::errc::timed_out;
  EXPECT_DEATH(static_cast<void>(*late),
               "tartan: the value of a failed result was read; its error is: timed out \\(tartan 3\\)");
}

}  // namespace
