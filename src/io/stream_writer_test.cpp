#include <tartan/io/stream_writer.h>

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tartan/core/yield.h>
#include <vector>

#include "io/stream_pair.h"

namespace tartan {
namespace {

using test::here_color;
using test::stream_pair;

class writing_to_a_stream : public test::with_objects_on_either {};
INSTANTIATE_TEST_SUITE_P(on, writing_to_a_stream, testing::ValuesIn(test::both_machines()), test::place_name);

const std::string much(200'000, 'm');

TEST_P(writing_to_a_stream, writes_what_an_event_queues_behind_it_and_in_order) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    stream_writer out{ends->near};
    out.print("HTTP/1.1 ", 200, ' ', "OK\r\n");
    out.append(buf::slice::of_static("static "));
    buf::chain body;
    body.append("body");
    out.append(std::move(body));
    out.append("!");
    EXPECT_EQ(out.size(), 29u);
    EXPECT_EQ(ends->arrived(), "") << "not inside the call";
    EXPECT_TRUE(co_await out.flush());
    EXPECT_EQ(out.size(), 0u);
    co_await arrival();
    EXPECT_EQ(ends->arrived(), "HTTP/1.1 200 OK\r\nstatic body!");
  });
}

TEST_P(writing_to_a_stream, that_is_a_pipe_is_the_same) {
  in_color([&]() -> task<> {
    auto ends = pipe::open();
    stream_writer out{ends->write};
    out.print("one ", 1, '\n');
    out.append(buf::slice::of_static("two\n"));
    EXPECT_TRUE(co_await out.flush());
    std::string text;
    EXPECT_EQ(*co_await ends->read.read_until(text, "two\n", 100), 10u);
    EXPECT_EQ(text, "one 1\ntwo\n");
    ends->read.close();
    out.append("three");
    EXPECT_EQ((co_await out.flush()).error(), std::errc::broken_pipe);
    ends->write.close();
    stream_writer late{ends->write};
    late.append("four");
    EXPECT_EQ((co_await late.flush()).error(), errc::closed);
  });
}

TEST_P(writing_to_a_stream, does_not_copy_slices_and_lets_them_go_when_they_have_left) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    stream_writer out{ends->near};
    const buf::slice page = buf::slice::copy_of("page");
    for (int n = 0; n < 200; ++n) out.append(page);  // several writes of 64 parts
    EXPECT_EQ(page.uses(), 201u);
    EXPECT_TRUE(co_await out.flush());
    EXPECT_EQ(page.uses(), 1u);
    co_await arrival();
    EXPECT_EQ(ends->arrived().size(), 800u);
  });
}

TEST_P(writing_to_a_stream, calls_marks_in_order_when_everything_before_has_left) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    stream_writer out{ends->near};
    std::vector<int> called;
    out.mark([&] {
      called.push_back(0);
      out.mark([&] { called.push_back(3); });
    });
    out.append(buf::slice{std::string{much}});
    out.append(buf::slice{std::string{much}});
    out.mark([&] { called.push_back(1); });
    out.append("end");
    out.mark([&] { called.push_back(2); });
    EXPECT_TRUE(called.empty());
    while (called.size() < 4) {
      static_cast<void>(ends->arrived());
      co_await moment();
    }
    EXPECT_EQ(called, (std::vector<int>{0, 1, 2, 3}));
    int late = 0;
    out.mark([&] { ++late; });
    EXPECT_EQ(late, 0);
    co_await yield();
    EXPECT_EQ(late, 1);
  });
}

TEST_P(writing_to_a_stream, holds_a_producer_that_asks_between_its_marks) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    stream_writer out{ends->near, {.marks = {.high_bytes = 1'000'000, .low_bytes = 300'000}}};
    auto reader = spawn_in(here_color, [&]() -> task<> {
      std::size_t total = 0;
      buf::chain in;
      while (total < 100 * much.size()) {
        const auto got = co_await ends->far.read_some(in, 65'536);
        EXPECT_TRUE(got);
        total += *got;
        in.drop(in.size());
      }
    });
    int waits = 0;
    for (int n = 0; n < 100; ++n) {
      waits += out.above_high() ? 1 : 0;
      EXPECT_TRUE(co_await out.ready());
      EXPECT_FALSE(out.above_high());
      out.append(buf::slice{std::string{much}});
      EXPECT_LE(out.size(), 1'000'000 + much.size());
    }
    EXPECT_GT(waits, 5);
    EXPECT_TRUE(co_await out.flush());
    co_await reader.join();
  });
}

TEST_P(writing_to_a_stream, keeps_the_error_and_drops_what_is_queued) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    stream_writer out{ends->near, {.marks = {.high_bytes = 10, .low_bytes = 0}}};
    const buf::slice page = buf::slice::copy_of("page and page");
    out.append(page);
    bool called = false;
    out.mark([&] { called = true; });
    ends->far.close();
    EXPECT_EQ((co_await out.ready()).error(), std::errc::broken_pipe);
    EXPECT_EQ(out.error(), std::errc::broken_pipe);
    EXPECT_EQ((co_await out.flush()).error(), std::errc::broken_pipe);
    EXPECT_FALSE(called);
    out.append(page);
    EXPECT_EQ(out.size(), 0u);
    EXPECT_EQ(page.uses(), 1u);
    EXPECT_FALSE(out.above_high());
  });
}

TEST_P(writing_to_a_stream, fails_when_more_is_queued_than_the_limit) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    stream_writer out{ends->near, {.most_bytes = 1'000'000}};
    const buf::slice page{std::string{much}};
    for (int n = 0; n < 5; ++n) out.append(page);
    co_await yield();  // a write is in flight
    co_await yield();
    EXPECT_FALSE(out.error());
    for (int n = 0; n < 5; ++n) out.append(page);
    EXPECT_EQ(out.error(), std::errc::no_buffer_space);
    EXPECT_EQ(page.uses(), 3u) << "the write in flight reads 256 KiB of it";
    const buf::slice late{std::string{much}};
    for (int n = 0; n < 5; ++n) {
      out.append(late);
      out.append("copied");
      EXPECT_EQ(late.uses(), 1u) << "dropped, though the write waits";
    }
    EXPECT_EQ(out.size(), 0u);
    EXPECT_EQ((co_await out.flush()).error(), std::errc::no_buffer_space);
    ends->near.close();
    co_await yield();
    co_await yield();
    EXPECT_EQ(page.uses(), 1u);
  });
}

TEST_P(writing_to_a_stream, calls_back_what_was_flushed_or_is_ready_and_not_inside_the_call) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    std::optional<stream_writer> out{ends->near};
    std::vector<std::string> called;
    out->append("abc");
    const auto note = [&](const char* name) {
      return [&called, name](result<> done) {
        called.emplace_back(name);
        if (!done) called.back().append(" ").append(done.error().message());
      };
    };
    out->flush(note("flushed"));
    out->ready(note("ready"));
    EXPECT_TRUE(called.empty());
    while (called.size() < 2) co_await moment();
    EXPECT_EQ(called, (std::vector<std::string>{"ready", "flushed"}));
    out->append("abc");
    out->flush(note("flushed"));
    out.reset();
    while (called.size() < 3) co_await moment();
    EXPECT_EQ(called.back(), "flushed " + make_error_code(errc::closed).message());
  });
}

TEST_P(writing_to_a_stream, ends_what_waits_when_it_is_destroyed_with_a_write_in_flight) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    const buf::slice page{std::string{much}};
    std::optional<stream_writer> out{ends->near};
    for (int n = 0; n < 10; ++n) out->append(page);
    auto waiting = spawn_in(here_color, [&]() -> task<> { EXPECT_EQ((co_await out->flush()).error(), errc::closed); });
    co_await yield();
    co_await yield();
    out.reset();
    co_await waiting.join();
    EXPECT_GT(page.uses(), 1u) << "the write in flight reads it";
    while (page.uses() > 1) {
      static_cast<void>(ends->arrived());
      co_await moment();
    }
    EXPECT_TRUE(ends->is_open());
  });
}

TEST_P(writing_to_a_stream, may_be_destroyed_by_a_mark) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    std::optional<stream_writer> out{ends->near};
    bool called = false;
    out->append("abc");
    out->mark([&] { out.reset(); });
    out->mark([&] { called = true; });
    while (out) co_await moment();
    co_await yield();
    EXPECT_FALSE(called);
    co_await arrival();
    EXPECT_EQ(ends->arrived(), "abc");
  });
}

TEST_P(writing_to_a_stream, goes_with_a_stream_that_moves_and_fails_when_it_is_closed) {
  in_color([&]() -> task<> {
    auto ends = stream_pair::make();
    stream_writer out{ends->near};
    out.append("abc");
    stream_pair moved = std::move(*ends);
    stream_writer same = std::move(out);
    EXPECT_TRUE(co_await same.flush());
    co_await arrival();
    EXPECT_EQ(moved.arrived(), "abc");
    moved.close();
    same.append("abc");
    EXPECT_EQ((co_await same.flush()).error(), errc::closed);
    stream_writer late{moved.near};
    late.append("abc");
    EXPECT_EQ((co_await late.flush()).error(), errc::closed);
  });
}

TEST_P(writing_to_a_stream, goes_on_when_a_mark_throws) {
  std::vector<std::string> seen;
  options with = settings();
  with.on_exception = [&](const escaped_exception&) { seen.emplace_back("escaped"); };
  runtime rt{with};
  spawn_in(rt, here_color, [&]() -> task<> {
    const auto ends = stream_pair::make();
    stream_writer out{ends->near};
    out.append("abc");
    out.mark([] { throw std::runtime_error{"from a mark"}; });
    out.mark([&] { seen.emplace_back("next"); });
    EXPECT_TRUE(co_await out.flush());
    out.append("def");
    EXPECT_TRUE(co_await out.flush());
    co_await arrival();
    EXPECT_EQ(ends->arrived(), "abcdef");
  }).detach();
  rt.run_until_idle();
  EXPECT_EQ(seen, (std::vector<std::string>{"escaped", "next"}));
}

TEST_P(writing_to_a_stream, ends_as_canceled_after_stop_if_it_would_have_to_wait) {
  int ended = 0;
  const buf::slice page{std::string{much}};
  spawn_in(rt(), here_color, [&]() -> task<> {
    const auto ends = stream_pair::make();
    stream_writer out{ends->near};
    for (int n = 0; n < 10; ++n) out.append(page);
    post(here_color, [&] { rt().stop(); });
    EXPECT_EQ((co_await out.flush()).error(), errc::canceled);
    ++ended;
  }).detach();
  EXPECT_EQ(rt().run(), 0);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(page.uses(), 1u);
  end_runtime();
}

TEST_P(writing_to_a_stream, is_dropped_by_a_drain_with_what_it_holds) {
  const buf::slice page{std::string{much}};
  std::unique_ptr<stream_pair> ends;
  std::optional<stream_writer> out;
  rt().post(here_color, [&] {
    ends = stream_pair::make();
    out.emplace(ends->near);
    for (int n = 0; n < 10; ++n) out->append(page);
    out->flush([](result<>) { ADD_FAILURE(); });
  });
  static_cast<void>(rt().run_for(std::chrono::milliseconds{1}));
  EXPECT_GT(rt().drain(std::chrono::seconds{0}).destroyed, 0u);
  out.reset();
  ends.reset();
  end_runtime();
  EXPECT_EQ(page.uses(), 1u);
}

using a_writer_death = test::with_objects;
INSTANTIATE_TEST_SUITE_P(on, a_writer_death, testing::Values(1u), test::worker_name);

TEST_P(a_writer_death, ends_the_program_when_it_is_used_in_another_color) {
  EXPECT_DEATH(
      {
        rt().post(here_color, [&] {
          static auto ends = stream_pair::make();
          static stream_writer out{ends->near};
          rt().post(color{8}, [] { out.append("abc"); });
        });
        rt().run_until_idle();
      },
      "stream_writer_test.cpp");
}

}  // namespace
}  // namespace tartan
