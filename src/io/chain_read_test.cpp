#include <tartan/io/chain_read.h>

#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <tartan/buf/chain.h>
#include <tartan/core/yield.h>
#include <vector>

#include "io/stream_pair.h"

namespace tartan {
namespace {

using test::here_color;
using test::stream_pair;

class reading_into_a_chain : public test::with_objects_on_either {};
INSTANTIATE_TEST_SUITE_P(on, reading_into_a_chain, testing::ValuesIn(test::both_machines()), test::place_name);

/// A pair, and what the near end reads into.
struct reader : stream_pair {
  explicit reader(stream_pair&& ends) : stream_pair{std::move(ends)} {}
  static std::unique_ptr<reader> make() { return std::make_unique<reader>(std::move(*stream_pair::make())); }
  buf::chain in;
};

TEST_P(reading_into_a_chain, ends_in_every_way_when_it_reads_some) {
  ends_in_every_way(test::operation_under_test{
      [] { return reader::make(); },
      [](reader& r) { return r.near.read_some(r.in, 100); },
      [](reader& r, auto f) { r.near.read_some(r.in, 100, f); },
      [](reader& r) { r.feed("x"); },
  });
}

TEST_P(reading_into_a_chain, ends_in_every_way_when_it_reads_a_line) {
  ends_in_every_way(test::operation_under_test{
      [] { return reader::make(); },
      [](reader& r) { return r.near.read_line(r.in, 100); },
      [](reader& r, auto f) { r.near.read_line(r.in, 100, f); },
      [](reader& r) { r.feed("line\r\n"); },
  });
}

TEST_P(reading_into_a_chain, ends_in_every_way_when_it_reads_until_a_delimiter) {
  ends_in_every_way(test::operation_under_test{
      [] { return reader::make(); },
      [](reader& r) { return r.near.read_until(r.in, "--", 100); },
      [](reader& r, auto f) { r.near.read_until(r.in, "--", 100, f); },
      [](reader& r) { r.feed("text--"); },
  });
}

TEST_P(reading_into_a_chain, reads_what_there_is_up_to_a_limit) {
  world_with.partial_percent = 0;
  in_color([&]() -> task<> {
    const auto r = reader::make();
    r->in.append("before ");
    r->feed("0123456789");
    co_await arrival();
    EXPECT_EQ(*co_await r->near.read_some(r->in, 4), 4u);
    EXPECT_EQ(*co_await r->near.read_some(r->in, 0), 0u);
    EXPECT_EQ(*co_await r->near.read_some(r->in, std::string::npos), 6u);
    EXPECT_EQ(r->in.to_string(), "before 0123456789");
    r->far.close();
    EXPECT_EQ((co_await r->near.read_some(r->in, 10)).error(), errc::end_of_stream);
  });
}

TEST_P(reading_into_a_chain, reads_lines_that_come_in_pieces) {
  in_color([]() -> task<> {
    const auto r = reader::make();
    post(here_color, [&] {
      r->feed("GET / HT");
      post(here_color, [&] {
        r->feed("TP/1.1\r");
        post(here_color, [&] { r->feed("\nHost: a\nrest"); });
      });
    });
    const auto first = co_await r->near.read_line(r->in, 100);
    EXPECT_TRUE(first);
    EXPECT_EQ(first->length, 14u);
    EXPECT_EQ(first->whole, 16u);
    EXPECT_EQ(r->in.take_line(100), "GET / HTTP/1.1");
    EXPECT_EQ((co_await r->near.read_line(r->in, 100))->length, 7u);
    EXPECT_EQ(r->in.take_line(100), "Host: a");
    r->far.close();
    EXPECT_EQ((co_await r->near.read_line(r->in, 100)).error(), errc::end_of_stream);
    EXPECT_EQ(r->in.to_string(), "rest");
  });
}

TEST_P(reading_into_a_chain, needs_nothing_more_for_what_was_read_before) {
  in_color([]() -> task<> {
    const auto r = reader::make();
    r->feed("a\nb\n");
    EXPECT_EQ((co_await r->near.read_line(r->in, 100))->whole, 2u);  // reads all there is
    EXPECT_EQ(r->in.take_line(100), "a");
    EXPECT_EQ((co_await r->near.read_line(r->in, 100))->whole, 2u);
    EXPECT_EQ(*co_await r->near.read_until(r->in, "b", 100), 1u);
    std::string text;
    r->feed("a--b--");
    EXPECT_EQ(*co_await r->near.read_until(text, "--", 100), 3u);
    text.erase(0, 3);
    EXPECT_EQ(*co_await r->near.read_until(text, "--", 100), 3u);
  });
}

TEST_P(reading_into_a_chain, serves_who_waits_in_line_with_what_the_one_before_has_read) {
  world_with.partial_percent = 0;
  in_color([&]() -> task<> {
    const auto r = reader::make();
    std::vector<std::size_t> got;
    r->near.read_some(r->in, 100, [&](result<std::size_t> some) { got.push_back(*some); });
    r->near.read_line(r->in, 100, [&](result<buf::line> found) { got.push_back(found->whole); });
    r->feed("a\nb\n");
    co_await until([&] { return got.size() == 2; });
    EXPECT_EQ(got, (std::vector<std::size_t>{4, 2}));
  });
}

TEST_P(reading_into_a_chain, finds_a_delimiter_that_comes_in_pieces) {
  world_with.partial_percent = 0;
  in_color([]() -> task<> {
    const auto r = reader::make();
    r->in.append("a-");
    post(here_color, [&] {
      r->feed("b-");
      post(here_color, [&] { r->feed("-c"); });
    });
    EXPECT_EQ(*co_await r->near.read_until(r->in, "--", 100), 5u);
    EXPECT_EQ(r->in.to_string(), "a-b--c");
    EXPECT_EQ(*co_await r->near.read_until(r->in, "--", 5), 5u);
  });
}

TEST_P(reading_into_a_chain, refuses_what_does_not_end_within_the_limit) {
  in_color([]() -> task<> {
    const auto r = reader::make();
    r->feed("0123456789\n");
    EXPECT_EQ((co_await r->near.read_line(r->in, 10)).error(), std::errc::message_size);
    EXPECT_EQ(r->in.to_string(), "0123456789") << "it reads no further than it may";
    EXPECT_EQ((co_await r->near.read_until(r->in, "9\n", 10)).error(), std::errc::message_size);
    EXPECT_EQ((co_await r->near.read_line(r->in, 11))->whole, 11u);
  });
}

TEST_P(reading_into_a_chain, reads_much_through_small_room) {
  world_with.stream_buffer = 1'000'000;
  in_color([]() -> task<> {
    const auto r = reader::make();
    const std::string much(150'000, 'x');
    r->feed(much);
    r->feed("\n");
    EXPECT_EQ((co_await r->near.read_line(r->in, 1'000'000))->length, much.size());
    EXPECT_EQ(r->in.take_line(1'000'000), much);
  });
}

}  // namespace
}  // namespace tartan
