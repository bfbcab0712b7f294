/// What docs/guide/shutdown.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <signal.h>
#include <tartan/tartan.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

int serve_until_told(tartan::runtime& rt) {
  rt.shutdown_on({SIGINT, SIGTERM}, 10s);  // a second signal exits at once
  return rt.run();
}

tartan::task<> answer_lines(tartan::local::stream wire) {
  std::string input;
  for (;;) {
    const auto line = co_await tartan::until_shutdown(wire.read_until(input, "\n", 1000));
    if (!line) co_return;                                 // the end, an error, or a shutdown: nothing is under way
    const bool sent = (co_await wire.write(input.substr(0, *line))).has_value();
    if (!sent) co_return;                                 // during a shutdown the answer goes out whole
    input.erase(0, *line);
  }
}

tartan::task<> flush_at_the_end(std::vector<std::string>& log) {
  const auto begun = co_await tartan::shutdown_begun();
  log.push_back(begun ? "flushed" : "stopped at once");   // still 10 seconds for it
}

tartan::task<> ask_then_raise(tartan::local::stream wire, std::string& heard) {
  const std::string words = "hello\n";
  static_cast<void>(co_await wire.write(words));
  static_cast<void>(co_await wire.read_until(heard, "\n", 1000));
  ::raise(SIGTERM);
  std::array<std::byte, 1> end{};
  const auto closed = co_await wire.read_some(end);
  EXPECT_EQ(closed.error(), tartan::errc::end_of_stream);
}

TEST(shutdown_guide, a_signal_ends_a_server_whose_connections_are_idle) {
  tartan::runtime rt;
  auto ends = tartan::local::pair(rt, tartan::color{1}, tartan::color{2});
  ASSERT_TRUE(ends);
  std::string heard;
  std::vector<std::string> log;
  rt.spawn_in(tartan::color{1}, answer_lines, std::move(ends->first)).detach();
  rt.spawn_in(tartan::color{2}, ask_then_raise, std::move(ends->second), std::ref(heard)).detach();
  rt.spawn(flush_at_the_end, std::ref(log)).detach();
  EXPECT_EQ(serve_until_told(rt), 0);
  EXPECT_EQ(heard, "hello\n");
  EXPECT_EQ(log, std::vector<std::string>{"flushed"});
}

}  // namespace
