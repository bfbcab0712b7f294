#include <tartan/buf/chain.h>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace tartan::buf {
namespace {

void write_to(std::span<std::byte> room, std::string_view text) { std::memcpy(room.data(), text.data(), text.size()); }

/// Each text in a slice of its own.
chain in_pieces(const std::vector<std::string>& texts) {
  chain made;
  for (const std::string& each : texts) made.append(slice::copy_of(each));
  return made;
}

TEST(chain, gathers_what_is_appended_by_copy_in_one_slice) {
  chain out;
  EXPECT_TRUE(out.empty());
  out.append("HTTP/1.1 ");
  out.append("200 OK");
  EXPECT_EQ(out.size(), 15u);
  ASSERT_EQ(out.slices().size(), 1u);
  EXPECT_EQ(out.slices()[0], "HTTP/1.1 200 OK");
  out.append("");
  out.append(slice{});
  EXPECT_EQ(out.slices().size(), 1u);
}

TEST(chain, prints_texts_characters_integers_and_slices) {
  chain out;
  const slice shared = slice::copy_of("<shared>");
  const std::string text = "text ";
  out.print(text, "literal", ' ', 0, ' ', -7, ' ', 18'446'744'073'709'551'615u, ' ', std::numeric_limits<std::int64_t>::min(), ' ',
            std::uint8_t{65}, ' ', hex{0xbeef}, shared, std::string_view{"!"});
  EXPECT_EQ(out.to_string(), "text literal 0 -7 18446744073709551615 -9223372036854775808 65 beef<shared>!");
  EXPECT_EQ(shared.uses(), 2u);
  static_assert(!printable<bool> && !printable<double> && !printable<void*> && !printable<wchar_t>);
}

TEST(chain, refers_to_slices_instead_of_copying_them) {
  chain out;
  const slice page = slice::copy_of("a page");
  out.append("head ");
  out.append(page);
  out.append(" tail");
  ASSERT_EQ(out.slices().size(), 3u);
  EXPECT_EQ(out.slices()[1].data(), page.data());
  EXPECT_EQ(page.uses(), 2u);
  out.drop(11);
  EXPECT_EQ(page.uses(), 1u);
  EXPECT_EQ(out.to_string(), " tail");
}

TEST(chain, joins_pieces_of_a_slice_that_follow_each_other) {
  const slice all = slice::copy_of("one two");
  chain out;
  out.append(all.sub(0, 3));
  out.append(all.sub(3));
  EXPECT_EQ(out.slices().size(), 1u);
  EXPECT_EQ(out.to_string(), "one two");
}

TEST(chain, moves_another_chain_to_its_end) {
  chain head = in_pieces({"a", "b"});
  chain body = in_pieces({"c", "d"});
  const std::byte* const there = body.slices()[1].data();
  head.append(std::move(body));
  EXPECT_EQ(head.to_string(), "abcd");
  EXPECT_EQ(head.slices()[3].data(), there);
  EXPECT_TRUE(body.empty());
  body.append("again");
  EXPECT_EQ(body.to_string(), "again");
}

TEST(chain, takes_its_first_bytes_without_copying_them) {
  chain in = in_pieces({"abc", "def", "ghi"});
  const std::byte* const second = in.slices()[1].data();
  chain taken = in.take(5);
  EXPECT_EQ(taken.to_string(), "abcde");
  EXPECT_EQ(taken.slices()[1].data(), second);
  EXPECT_EQ(in.to_string(), "fghi");
  EXPECT_EQ(in.slices()[0].data(), second + 2);
  EXPECT_TRUE(in.take(0).empty());
  EXPECT_EQ(in.take(4).to_string(), "fghi");
  EXPECT_TRUE(in.empty());
}

TEST(chain, takes_a_slice_without_a_copy_where_it_lies_in_one_piece) {
  chain in = in_pieces({"abc", "def"});
  const std::byte* const first = in.slices()[0].data();
  EXPECT_EQ(in.take_slice(2).data(), first);
  const slice joined = in.take_slice(3);
  EXPECT_EQ(joined, "cde");
  EXPECT_EQ(joined.uses(), 1u);
  EXPECT_TRUE(in.take_slice(0).empty());
  EXPECT_EQ(in.to_string(), "f");
}

TEST(chain, leaves_what_was_taken_as_it_was_while_it_is_filled_on) {
  chain in;
  in.append("first ");
  const slice taken = in.take_slice(6);
  in.append("second");
  EXPECT_EQ(in.take_slice(6), "second");
  in.append("third!");
  EXPECT_EQ(taken, "first ");
}

TEST(chain, is_filled_in_place_by_who_asks_for_room) {
  chain in;
  const std::span<std::byte> room = in.prepare(10);
  ASSERT_GE(room.size(), 10u);
  write_to(room, "0123456789");
  in.commit(4);
  EXPECT_EQ(in.to_string(), "0123");
  const std::span<std::byte> rest = in.prepare(1);
  EXPECT_EQ(rest.data(), room.data() + 4);
  write_to(rest, "abc");
  in.commit(3);
  EXPECT_EQ(in.slices().size(), 1u);
  EXPECT_EQ(in.to_string(), "0123abc");
  EXPECT_GE(in.prepare(100'000).size(), 100'000u);
  in.commit(0);
  EXPECT_EQ(in.size(), 7u);
}

TEST(chain, fills_its_block_anew_when_everything_has_left) {
  chain in;
  const std::byte* const begin = in.prepare(1).data();
  for (int round = 0; round < 1000; ++round) {
    const std::span<std::byte> room = in.prepare(100);
    ASSERT_EQ(room.data(), begin);
    write_to(room, "request");
    in.commit(7);
    in.drop(7);
  }
  in.append("request");
  const slice kept = in.take_slice(7);
  EXPECT_NE(in.prepare(1).data(), begin) << "somebody still reads it";
  in.append(slice::of_static("elsewhere"));
  EXPECT_EQ(kept, "request");
}

TEST(chain, fills_a_block_anew_that_has_left_while_other_bytes_are_there) {
  chain in;
  const std::byte* const begin = in.prepare(1).data();
  in.append(std::string(4000, 'x'));
  in.append(slice::of_static("static"));
  in.drop(4000);
  EXPECT_EQ(in.prepare(2000).data(), begin);
  EXPECT_EQ(in.to_string(), "static");
}

TEST(chain, gives_the_kept_memory_back_when_asked) {
  chain in;
  in.append("abc");
  in.release_room();
  EXPECT_EQ(in.slices()[0].uses(), 1u);
  in.append("def");
  EXPECT_EQ(in.to_string(), "abcdef");
  in.drop(6);
  in.release_room();
  in.release_room();
  EXPECT_TRUE(in.empty());
}

TEST(chain, takes_larger_blocks_when_more_is_queued) {
  chain out;
  for (int n = 0; n < 4000; ++n) out.append(std::string(100, 'x'));
  EXPECT_EQ(out.size(), 400'000u);
  EXPECT_LE(out.slices().size(), 14u);
}

TEST(chain, finds_lines_across_the_borders_of_slices) {
  const std::string text = "GET / HTTP/1.1\r\n\nHost: a\r\nrest";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    chain in;
    for (std::size_t n = 0; n < text.size(); n += size) in.append(slice::copy_of(std::string_view{text}.substr(n, size)));
    EXPECT_EQ(in.take_line(100), "GET / HTTP/1.1");
    EXPECT_EQ(in.take_line(100), "");
    EXPECT_EQ(in.take_line(100), "Host: a");
    EXPECT_FALSE(in.take_line(100));
    EXPECT_EQ(in.to_string(), "rest");
  }
}

TEST(chain, goes_on_with_the_search_for_a_line_where_it_stopped) {
  std::string text = "abc";
  chain in;
  in.append(slice::kept_by(&text, std::as_bytes(std::span{text})));
  EXPECT_FALSE(in.find_line(10));
  text = "a\nc";  // where it has been already: it does not look again
  EXPECT_FALSE(in.find_line(10));
  in.append("\r");
  EXPECT_FALSE(in.find_line(10));
  in.append("\n");
  const std::optional<line> found = in.find_line(10);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->length, 3u);
  EXPECT_EQ(found->whole, 5u);
  EXPECT_EQ(in.find_line(10)->whole, 5u);
  in.drop(1);
  EXPECT_EQ(in.find_line(10)->whole, 4u);
}

TEST(chain, finds_no_line_that_ends_behind_the_limit) {
  chain in;
  in.append("abc\r\n");
  EXPECT_FALSE(in.find_line(0));
  EXPECT_FALSE(in.find_line(4));
  EXPECT_TRUE(in.find_line(5));
  EXPECT_FALSE(in.find_line(4)) << "after it was found";
}

TEST(chain, copies_out_and_gathers_a_bounded_number_of_parts_and_bytes) {
  chain out = in_pieces({"abc", "def", "ghi", "jkl"});
  std::array<std::byte, 5> some{};
  EXPECT_EQ(out.copy_to(some, 2), 5u);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(some.data()), 5), "cdefg");
  EXPECT_EQ(out.copy_to(some, 10), 2u);
  EXPECT_EQ(out.copy_to(some, 12), 0u);
  std::array<std::span<const std::byte>, 3> parts;
  EXPECT_EQ(out.gather(parts), 3u);
  EXPECT_EQ(parts[2].data(), out.slices()[2].data());
  EXPECT_EQ(out.gather(parts, 4), 2u);
  EXPECT_EQ(parts[1].size(), 1u);
  EXPECT_EQ(out.gather(parts, 3), 1u);
  EXPECT_EQ(out.gather(parts, 0), 0u);
}

TEST(chain, moves_everything_with_it) {
  int called = 0;
  chain from;
  from.append("abc");
  from.mark([&] { ++called; });
  chain to = std::move(from);
  EXPECT_TRUE(from.empty());
  from.drop(0);
  EXPECT_EQ(called, 0);
  to.append("d");
  EXPECT_EQ(to.slices().size(), 1u);
  to.drop(3);
  EXPECT_EQ(called, 1);
  to = chain{};
  EXPECT_TRUE(to.empty());
}

TEST(chain_death, ends_the_program_when_more_is_dropped_than_there_is) {
  chain in;
  in.append("abc");
  EXPECT_DEATH(in.drop(4), "tartan: a chain was to drop 4 bytes where there are 3, at .*chain_test.cpp");
  EXPECT_DEATH(static_cast<void>(in.take(4)), "from a chain was to be taken 4 bytes where there are 3");
  EXPECT_DEATH(static_cast<void>(in.take_slice(4)), "from a chain was to be taken 4 bytes where there are 3");
  EXPECT_DEATH(in.commit(5000), "tartan: a chain was to commit 5000 bytes where there are");
  EXPECT_DEATH(in.append(std::move(in)), "tartan: a chain was appended to itself");
}

}  // namespace
}  // namespace tartan::buf
