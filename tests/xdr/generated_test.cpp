// The types that tartan-xdr makes of everything.x: their interface, and vectors by hand for what rpcgen does not take.
#include <gtest/gtest.h>
#include <tartan/xdr/codec.h>
#include <tartan/xdr/print.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "tests/xdr/memory_count.h"
#include <everything.h>

namespace tartan::xdr::test {
namespace {

namespace made = everything;

using namespace std::literals;

/// The hexadecimal digits of a value's bytes.
template <class T>
std::string hex_of(const T& value) {
  buf::chain wire;
  const result<> done = encode(wire, value);
  if (!done) return done.error().message();
  std::string text;
  for (const char c : wire.to_string()) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[static_cast<unsigned char>(c) / 16];
    text += digits[static_cast<unsigned char>(c) % 16];
  }
  return text;
}

template <class T>
T again(const T& value) {
  buf::chain wire;
  EXPECT_TRUE(encode(wire, value));
  const result<T> back = decode<T>(wire);
  EXPECT_TRUE(back) << (back ? "" : back.error().message());
  return back ? *back : T{};
}

TEST(generated_types, carry_the_bounds_of_the_file) {
  EXPECT_TRUE((std::is_same_v<made::label, text<64>>));
  EXPECT_TRUE((std::is_same_v<made::digest, std::array<std::byte, 20>>));
  EXPECT_TRUE((std::is_same_v<made::grid, std::array<std::int32_t, 3>>));
  EXPECT_TRUE((std::is_same_v<made::times, list<std::int64_t>>));
  EXPECT_TRUE((std::is_same_v<decltype(made::seat::marks), list<std::int32_t, 8>>));
  EXPECT_TRUE((std::is_same_v<decltype(made::seat::next), optional<made::seat>>));
  EXPECT_TRUE((std::is_same_v<decltype(made::links::second), linked_list<made::link>>));
  EXPECT_TRUE((std::is_same_v<decltype(made::some_pairs::all), optional<made::pairs>>));
}

TEST(generated_types, refer_to_opaque_of_the_asked_size) {
  EXPECT_TRUE((std::is_same_v<decltype(made::seat::blob), data<>>));
  EXPECT_TRUE((std::is_same_v<decltype(made::seat::note), data<100>>));
  EXPECT_TRUE((std::is_same_v<decltype(made::seat::page), bytes<16>>));
}

TEST(generated_types, begin_with_zeros_and_the_first_values) {
  const made::seat empty;
  EXPECT_EQ(empty.row, 0U);
  EXPECT_EQ(empty.until, 0U);
  EXPECT_FALSE(empty.is_taken);
  EXPECT_EQ(empty.how, made::mood::CALM);
  EXPECT_EQ(empty.where, made::grid{});
  EXPECT_FALSE(empty.next.has_value());
  EXPECT_EQ(made::outer{}.color, made::outer_color::RED);
}

TEST(generated_constants, have_their_values_and_types) {
  EXPECT_EQ(made::LEN, 64U);
  EXPECT_EQ(made::MANY, 16U);
  EXPECT_EQ(made::OCTAL, 15U);
  EXPECT_EQ(made::NEGATIVE, -3);
  EXPECT_EQ(made::SAME, 64U);
  EXPECT_EQ(made::inner::LEN, 8U);
}

TEST(generated_enums, have_names_and_values) {
  EXPECT_EQ(static_cast<std::int32_t>(made::mood::LATE), 6);
  EXPECT_EQ(static_cast<std::int32_t>(made::mood::SOUR), -3);
  EXPECT_STREQ(xdr_name(made::mood::BUSY), "BUSY");
  EXPECT_STREQ(xdr_name(made::class_::NULL_), "NULL");
  EXPECT_EQ(xdr_name(static_cast<made::mood>(1)), nullptr);
}

TEST(generated_unions, select_one_arm) {
  made::answer a;
  EXPECT_EQ(a.m(), made::mood::CALM);
  ASSERT_NE(a.s(), nullptr);
  a.s()->row = 7;
  EXPECT_EQ(a.wait(), nullptr);
  a.set_wait(3);
  EXPECT_EQ(a.m(), made::mood::BUSY);
  EXPECT_EQ(a.s(), nullptr);
  EXPECT_EQ(*a.wait(), 3U);
  a.set_wait(made::mood::LATE, 4);
  EXPECT_EQ(a.m(), made::mood::LATE);
  a.set_void(made::mood::SOUR);
  EXPECT_EQ(a.m(), made::mood::SOUR);
  EXPECT_EQ(a.s(), nullptr);
  EXPECT_EQ(a.wait(), nullptr);
  a.set_s().row = 8;
  EXPECT_EQ(a.s()->row, 8U);
}

TEST(generated_unions, have_a_default_arm_for_all_other_values) {
  made::number n;
  n.set_raw(5, "abc");
  EXPECT_EQ(n.size(), 5U);
  EXPECT_EQ(hex_of(n), "000000050000000361626300");
  n.set_wide(15, -1);
  EXPECT_EQ(hex_of(n), "0000000fffffffffffffffff");
  made::reply r;
  r.set_void(9);
  EXPECT_EQ(hex_of(r), "00000009");
}

TEST(generated_unions, compare_discriminant_and_arm) {
  made::answer a;
  made::answer b;
  a.set_wait(made::mood::BUSY, 1);
  b.set_wait(made::mood::LATE, 1);
  EXPECT_FALSE(a == b);
  b.set_wait(made::mood::BUSY, 1);
  EXPECT_TRUE(a == b);
  b.set_wait(made::mood::BUSY, 2);
  EXPECT_FALSE(a == b);
}

TEST(generated_unions_death, end_the_program_at_a_case_of_another_arm) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  made::answer a;
  EXPECT_DEATH(a.set_wait(made::mood::CALM, 1), "answer::set_wait\\(0\\): another arm");
  EXPECT_DEATH(a.set_void(made::mood::BUSY), "answer::set_void\\(5\\): another arm");
  made::number n;
  EXPECT_DEATH(n.set_raw(4), "number::set_raw\\(4\\): another arm");
}

TEST(generated_unions, refuse_a_discriminant_without_an_arm) {
  const std::array<std::byte, 4> kind{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{2}};
  const auto read = decode<made::entry>(std::span<const std::byte>{kind});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), errc::no_arm);
}

TEST(generated_lists, are_vectors_with_the_wire_form_of_pointers) {
  made::links all;
  all.first.push_back({.value = 1, .name = {}});
  all.first.push_back({.value = 2, .name = "x"});
  EXPECT_EQ(hex_of(all),
            "00000001"
            "00000001"
            "00000000"
            "00000001"
            "00000002"
            "0000000178000000"
            "00000000"
            "00000000");
  EXPECT_TRUE(again(all) == all);
}

TEST(generated_lists, may_be_longer_than_a_stack_is_deep) {
  made::links all;
  all.first.resize(100'000);
  buf::chain wire;
  ASSERT_TRUE(encode(wire, all));
  const result<made::links> back = decode<made::links>(wire, limits{.memory_bytes = std::size_t{64} << 20});
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->first.size(), 100'000U);
}

TEST(generated_recursion, has_a_bound) {
  made::tree all;
  made::tree* last = &all;
  for (int depth = 0; depth < 100; ++depth) last = &last->left.emplace();
  buf::chain wire;
  ASSERT_FALSE(encode(wire, all));
  std::string ones;
  for (int n = 0; n < 100'000; ++n) ones += "\0\0\0\1"sv;
  const auto read = decode<made::tree>(std::as_bytes(std::span{ones}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), errc::too_deep);
}

TEST(generated_recursion, works_between_types) {
  made::folder all{.name = "a", .all = {}};
  all.all.resize(2);
  all.all[0].sub()->name = "b";
  all.all[1].set_changed({7});
  EXPECT_EQ(hex_of(all),
            "0000000161000000"
            "00000002"
            "00000000"
            "0000000162000000"
            "00000000"
            "00000001"
            "00000001"
            "0000000000000007");
  EXPECT_TRUE(again(all) == all);
}

// RFC 4506, 4.8: 1 sign bit, 15 bits of exponent with bias 16383, 112 bits of fraction.
TEST(generated_quadruples, have_the_wire_form_of_the_standard) {
  made::seat one;
  const auto exact_of = [&](double value) {
    one.exact = quadruple{value};
    const std::string all = hex_of(one);
    const std::size_t end = all.size() - 3 * 8;  // is_taken, how, next
    return all.substr(end - 32, 32);
  };
  EXPECT_EQ(exact_of(1), "3fff0000000000000000000000000000");
  EXPECT_EQ(exact_of(-2.5), "c0004000000000000000000000000000");
  EXPECT_EQ(exact_of(0), "00000000000000000000000000000000");
}

TEST(generated_inline_types, are_named_after_the_member) {
  made::outer o{.place = made::outer_place{.x = 1, .y = -1}, .color = made::outer_color::GREEN};
  o.extra.set_n(5);
  o.all.push_back({.inner = "ab"});
  EXPECT_EQ(hex_of(o),
            "00000001"
            "ffffffff"
            "00000001"
            "00000001"
            "00000005"
            "00000001"
            "00000002"
            "61620000");
  EXPECT_TRUE(again(o) == o);
  EXPECT_EQ(print(o), "{place: {x: 1, y: -1}, color: GREEN, extra: {has: true, n: 5}, all: [{inner: \"ab\"}]}");
}

TEST(generated_names, stay_clear_of_those_of_the_language) {
  made::delete_ d{.new_ = 1, .label = "l", .mood = made::mood::BUSY};
  d.operator_.emplace().new_ = 2;
  EXPECT_TRUE(again(d) == d);
  made::Value v;
  *v.Value::label() = "x";
  v.set_Archive(3);
  EXPECT_EQ(hex_of(v),
            "00000005"
            "00000003");
  made::both b{.a = made::inner::seat{.who = "in"}};
  EXPECT_TRUE(again(b) == b);
}

// --- damage

/// A value of each type, with something in every part.
template <class T>
T sample();
template <>
made::seat sample() {
  made::seat s{.who = "bob", .row = 3, .at = -1, .weight = 1.5, .share = 2.5};  // not 0, which is equal to -0
  s.blob = "0123456789";
  s.note = "abc";
  s.page.resize(3);
  s.marks = {1, 2};
  s.exact = quadruple{0.5};
  s.next = made::seat{.who = "eve", .weight = -1, .share = -1};
  return s;
}
template <>
made::links sample() {
  made::links all;
  all.first.resize(3);
  all.second.push_back({.value = 2, .name = "xyz"});
  return all;
}
template <>
made::folder sample() {
  made::folder all{.name = "a", .all = {}};
  all.all.resize(3);
  all.all[0].sub()->name = "b";
  all.all[1].set_changed({7, 8});
  all.all[2].sub()->all.resize(1);
  return all;
}
template <>
made::tree sample() {
  made::tree t;
  t.left.emplace().right.emplace().value = 3;
  return t;
}
template <>
made::outer sample() {
  made::outer o;
  o.extra.set_n(5);
  o.all.push_back({.inner = "ab"});
  return o;
}
template <>
made::answer sample() {
  made::answer a;
  a.set_s(sample<made::seat>());
  return a;
}
template <>
made::number sample() {
  made::number n;
  n.set_raw(5, "0123456");
  return n;
}

template <class T>
class damaged_messages : public testing::Test {
 protected:
  static constexpr std::size_t memory = 4096;

  damaged_messages() {
    buf::chain wire;
    EXPECT_TRUE(encode(wire, value_));
    bytes_ = wire.to_string();
  }

  /// Decodes from memory of exactly that size. What decoding takes stays below the limit, and what comes out has these bytes.
  void give(std::string_view message) {
    const std::unique_ptr<char[]> exact{new char[message.size()]};
    std::copy(message.begin(), message.end(), exact.get());
    const std::span<const char> all{exact.get(), message.size()};
    memory_count count;
    const result<T> read = decode<T>(std::as_bytes(all), limits{.memory_bytes = memory});
    // data<> copies here, as no slice owns the bytes; a string has some bytes more than were asked for.
    EXPECT_LE(count.most(), memory + 2 * message.size() + 512);
    if (!read) {
      EXPECT_EQ(read.error().category(), error_category());
      return;
    }
    EXPECT_FALSE(*read == value_);
    buf::chain wire;
    ASSERT_TRUE(encode(wire, *read));
    EXPECT_EQ(wire.to_string(), message);
  }

  T value_ = sample<T>();
  std::string bytes_;
};

using damaged_types =
    testing::Types<made::seat, made::links, made::folder, made::tree, made::outer, made::answer, made::number>;
TYPED_TEST_SUITE(damaged_messages, damaged_types);

TYPED_TEST(damaged_messages, that_are_cut_are_refused) {
  for (std::size_t size = 0; size < this->bytes_.size(); ++size) {
    SCOPED_TRACE(size);
    const auto read = decode<TypeParam>(std::as_bytes(std::span{this->bytes_.data(), size}));
    ASSERT_FALSE(read);
    this->give(std::string_view{this->bytes_}.substr(0, size));
  }
}

TYPED_TEST(damaged_messages, with_a_flipped_bit_are_refused_or_other_values) {
  for (std::size_t bit = 0; bit < this->bytes_.size() * 8; ++bit) {
    SCOPED_TRACE(bit);
    std::string message = this->bytes_;
    message[bit / 8] = static_cast<char>(message[bit / 8] ^ (1 << bit % 8));
    this->give(message);
  }
}

}  // namespace
}  // namespace tartan::xdr::test
