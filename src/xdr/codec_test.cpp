#include <tartan/xdr/codec.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <tartan/xdr/print.h>
#include <vector>

#include "xdr/sample_fixture.h"

namespace tartan::xdr {
namespace {

using test::mood;
using test::seat;

template <class T>
std::string wire(const T& value) {
  buf::chain out;
  EXPECT_TRUE(encode(out, value));
  EXPECT_EQ(encoded_size(value).value(), out.size());
  return out.to_string();
}
std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text});
}

template <class T>
std::error_code error_of(const std::string& text, const limits& within = {}) {
  return decode<T>(bytes_of(text), within).error();
}

std::string zeros(std::size_t count) {
  return std::string(count, '\0');
}
std::string word(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<char>(value >> shift));
  return text;
}

seat a_seat() {
  seat made;
  made.who = "bob";
  made.row = 0x01020304;
  made.at = -2;
  made.tag = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  made.blob = "0123456789";
  made.marks = {1, -1};
  made.grid = {7, 8, 9};
  made.how = mood::busy;
  made.is_taken = true;
  seat next;
  next.who = "next";
  made.next.emplace(next);
  return made;
}

TEST(xdr, writes_each_type_as_rfc_4506_has_it) {
  EXPECT_EQ(wire(std::int32_t{-2}), "\xff\xff\xff\xfe");
  EXPECT_EQ(wire(std::uint64_t{0x0102030405060708}), "\1\2\3\4\5\6\7\10");
  EXPECT_EQ(wire(true), word(1));
  EXPECT_EQ(wire(1.0F), std::string("\x3f\x80\0\0", 4));
  EXPECT_EQ(wire(-2.0), std::string("\xc0\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(wire(mood::sour), "\xff\xff\xff\xff");
  EXPECT_EQ(wire(text<>{"sillyprog"}), word(9) + "sillyprog" + zeros(3));
  EXPECT_EQ(wire(bytes<>{}), word(0));
  EXPECT_EQ(wire(std::array<std::byte, 5>{}), zeros(8));
  EXPECT_EQ(wire(list<std::uint32_t>{5, 6}), word(2) + word(5) + word(6));
  EXPECT_EQ(wire(optional<bool>{}), word(0));
  EXPECT_EQ(wire(optional<bool>{true}), word(1) + word(1));
  EXPECT_EQ(wire(linked_list<std::uint32_t>{5, 6}), word(1) + word(5) + word(1) + word(6) + word(0));
  EXPECT_EQ(wire(std::tuple<std::uint32_t, bool>{9, false}), word(9) + word(0));
}

TEST(xdr, writes_quadruples_as_binary128) {
  EXPECT_EQ(wire(quadruple{1.0}), std::string("\x3f\xff", 2) + zeros(14));
  EXPECT_EQ(wire(quadruple{-1.5}), std::string("\xbf\xff\x80", 3) + zeros(13));
  EXPECT_EQ(wire(quadruple{0.1}), std::string("\x3f\xfb\x99\x99\x99\x99\x99\x99\xa0", 9) + zeros(7));
  for (const double each : {0.0, -0.0, 1.0, -0.1, 1e300, 5e-324, 2.5e-310, std::numeric_limits<double>::max(),
                            std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(static_cast<double>(quadruple{each}), each);
    EXPECT_EQ(std::signbit(static_cast<double>(quadruple{each})), std::signbit(each));
  }
  EXPECT_TRUE(std::isnan(static_cast<double>(quadruple{std::nan("")})));
}

TEST(xdr, rounds_a_quadruple_to_the_nearest_double) {
  quadruple between{1.0};
  between.wire[8] = std::byte{0x08};  // 1 + 2^-53: a tie, to even
  EXPECT_EQ(static_cast<double>(between), 1.0);
  between.wire[15] = std::byte{1};
  EXPECT_EQ(static_cast<double>(between), std::nextafter(1.0, 2.0));
  quadruple small;  // 2^-1075: half of the smallest double
  const int exponent = 16383 - 1075;
  small.wire[0] = static_cast<std::byte>(exponent >> 8);
  small.wire[1] = static_cast<std::byte>(exponent & 0xff);
  EXPECT_EQ(static_cast<double>(small), 0.0);
  small.wire[15] = std::byte{1};
  EXPECT_EQ(static_cast<double>(small), 5e-324);
  quadruple huge;
  huge.wire[0] = std::byte{0x7f};
  EXPECT_EQ(static_cast<double>(huge), std::numeric_limits<double>::infinity());
}

TEST(xdr, reads_what_it_has_written) {
  const seat made = a_seat();
  buf::chain out;
  ASSERT_TRUE(encode(out, made));
  EXPECT_EQ(decode<seat>(out).value(), made);
  const std::string flat = out.to_string();
  EXPECT_EQ(decode<seat>(bytes_of(flat)).value(), made);
  // Cut into slices of each length.
  for (std::size_t length = 1; length < 9; ++length) {
    buf::chain cut;
    for (std::size_t n = 0; n < flat.size(); n += length) cut.append(buf::slice::copy_of(flat.substr(n, length)));
    EXPECT_EQ(decode<seat>(cut).value(), made) << length;
  }
}

TEST(xdr, refers_to_large_data_in_both_directions) {
  const buf::slice page = buf::slice::copy_of(std::string(4096, 'x'));
  buf::chain out;
  ASSERT_TRUE(encode(out, data<>{page}));
  EXPECT_EQ(out.slices()[1].data(), page.data());
  const data<> read = decode<data<>>(out).value();
  EXPECT_EQ(read.slices()[0].data(), page.data());
  EXPECT_EQ(read.size(), 4096u);
}

TEST(xdr, finds_data_that_is_cut_at_any_byte) {
  const std::string whole = wire(a_seat());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(error_of<seat>(whole.substr(0, size)), errc::truncated) << size;
  }
  EXPECT_EQ(error_of<seat>(whole + word(0)), errc::trailing_bytes);
}

TEST(xdr, reads_or_refuses_data_with_any_bit_flipped) {
  const std::string whole = wire(a_seat());
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const result<seat> read = decode<seat>(bytes_of(flipped));
    if (!read) {
      ++refused;
    } else {
      EXPECT_EQ(wire(*read), flipped) << "what is read has one form only";
    }
  }
  EXPECT_GT(refused, 0u);
}

TEST(xdr, says_what_is_wrong) {
  EXPECT_EQ(error_of<bool>(word(2)), errc::bad_boolean);
  EXPECT_EQ(error_of<mood>(word(4)), errc::bad_enumerator);
  EXPECT_EQ(error_of<text<3>>(word(4) + "long"), errc::too_long);
  EXPECT_EQ(error_of<text<>>(word(3) + "pad!"), errc::bad_padding);
  EXPECT_EQ(error_of<list<std::uint32_t>>(word(0xffffffff)), errc::truncated);
  EXPECT_EQ((error_of<list<std::uint32_t, 1>>(word(2) + zeros(8))), errc::too_long);
  EXPECT_EQ(error_of<data<>>(word(8) + "short"), errc::truncated);
  EXPECT_EQ(make_error_code(errc::too_deep).message(), "XDR values are nested too deeply");
}

TEST(xdr, encodes_nothing_of_a_value_that_breaks_its_bounds) {
  buf::chain out;
  EXPECT_EQ(encode(out, std::tuple{std::uint32_t{1}, text<3>{"long"}}).error(), errc::too_long);
  EXPECT_EQ(encode(out, static_cast<mood>(77)).error(), errc::bad_enumerator);
  EXPECT_EQ((encode(out, list<bool, 1>{{true, true}}).error()), errc::too_long);
  test::tree deep;
  for (int n = 0; n < 40; ++n) {
    test::tree outer;
    outer.children.push_back(std::move(deep));
    deep = std::move(outer);
  }
  EXPECT_EQ(encode(out, deep).error(), errc::too_deep);
  EXPECT_TRUE(out.empty());
}

TEST(xdr, does_not_nest_deeper_than_it_is_told) {
  std::string deep;
  for (int n = 0; n < 100'000; ++n) deep += word(1);
  EXPECT_EQ(error_of<test::tree>(deep), errc::too_deep);
  EXPECT_EQ(error_of<test::tree>(word(1) + word(0), {.depth = 4}), std::error_code{});
  EXPECT_EQ(error_of<test::tree>(word(1) + word(0), {.depth = 3}), errc::too_deep);
}

TEST(xdr, reads_a_linked_list_of_any_length_in_a_loop) {
  std::string all;
  for (std::uint32_t n = 0; n < 100'000; ++n) all += word(1) + word(n);
  const auto read = decode<linked_list<std::uint32_t>>(bytes_of(all + word(0)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 100'000u);
  EXPECT_EQ(read->back(), 99'999u);
}

TEST(xdr, takes_no_more_memory_than_it_may) {
  const std::string many = word(1000) + zeros(4000);  // 4 KB of data, 4 MB of values
  EXPECT_EQ(error_of<list<test::large>>(many, {.memory_bytes = 1'000'000}), errc::too_large);
  EXPECT_EQ(error_of<list<test::large>>(many), std::error_code{});
  EXPECT_EQ(error_of<text<>>(word(400) + zeros(400), {.memory_bytes = 399}), errc::too_large);
  std::string chained;
  for (int n = 0; n < 1000; ++n) chained += word(1) + word(0);
  EXPECT_EQ(error_of<linked_list<test::large>>(chained + word(0), {.memory_bytes = 1'000'000}), errc::too_large);
  EXPECT_EQ(error_of<optional<test::large>>(word(1) + word(0), {.memory_bytes = 4000}), errc::too_large);
}

TEST(xdr, prints_a_value_on_one_line) {
  EXPECT_EQ(
      print(a_seat()),
      "{who: \"bob\", row: 16909060, at: -2, tag: 0x0102030405, blob: 0x30313233343536373839, marks: [1, -1], "
      "grid: [7, 8, 9], next: {who: \"next\", row: 0, at: 0, tag: 0x0000000000, blob: 0x, marks: [], grid: [0, 0, 0], "
      "next: null, how: calm, is_taken: false}, how: busy, is_taken: true}");
  EXPECT_EQ(print(text<>{"a\"\\\n"}), "\"a\\\"\\\\\\x0a\"");
  EXPECT_EQ(print(data<>{std::string(40, '0')}),
            "0x3030303030303030303030303030303030303030303030303030303030303030... (40 bytes)");
  EXPECT_EQ(print(static_cast<mood>(9)), "9");
  EXPECT_EQ(print(std::tuple{1.5, quadruple{-2.0}}), "(1.5, -2)");
}

}  // namespace
}  // namespace tartan::xdr
