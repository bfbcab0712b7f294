#include <tartan/buf/slice.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tartan::buf {
namespace {

const std::string long_text(100, 'x');

TEST(slice, is_empty_when_it_was_made_of_nothing) {
  const slice none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.uses(), 0u);
  EXPECT_EQ(none, "");
  EXPECT_TRUE(none.sub(0).empty());
  EXPECT_TRUE(slice::copy_of("").empty());
  EXPECT_TRUE(slice{std::string{}}.empty());
}

TEST(slice, shows_static_text_in_its_place_and_does_not_count_it) {
  constexpr std::string_view text = "404 Not Found";
  const slice all = slice::of_static(text);
  const slice copy = all;
  EXPECT_EQ(copy.text().data(), text.data());
  EXPECT_EQ(copy.uses(), 0u);
  EXPECT_EQ(all.sub(4, 3), "Not");
}

TEST(slice, takes_over_a_string_and_a_vector_without_a_copy) {
  std::string text = long_text;
  const char* const there = text.data();
  const slice of_string{std::move(text)};
  EXPECT_EQ(of_string.text().data(), there);
  EXPECT_EQ(of_string, long_text);

  std::vector<std::byte> bytes(50, std::byte{7});
  const std::byte* const where = bytes.data();
  const slice of_vector{std::move(bytes)};
  EXPECT_EQ(of_vector.data(), where);
  EXPECT_EQ(of_vector.size(), 50u);

  EXPECT_EQ(slice{std::string{"short"}}, "short");
}

TEST(slice, shares_its_bytes_with_its_pieces) {
  slice all = slice::copy_of("method SP target");
  EXPECT_EQ(all.uses(), 1u);
  {
    const slice target = all.sub(10);
    EXPECT_EQ(target, "target");
    EXPECT_EQ(target.data(), all.data() + 10);
    EXPECT_EQ(all.uses(), 2u);
    EXPECT_EQ(all.sub(7, 2), "SP");
    EXPECT_TRUE(all.sub(all.size()).empty());
  }
  EXPECT_EQ(all.uses(), 1u);
  const slice piece = all.sub(0, 6);
  all = slice{};
  EXPECT_EQ(piece, "method");
  EXPECT_EQ(piece.uses(), 1u);
}

TEST(slice, survives_assignment_to_itself_and_is_empty_when_moved_from) {
  slice one = slice::copy_of("one");
  const slice& same = one;
  one = same;
  EXPECT_EQ(one, "one");
  EXPECT_EQ(one.uses(), 1u);
  const slice two = std::move(one);
  EXPECT_EQ(two.uses(), 1u);
  EXPECT_TRUE(one.empty());
}

TEST(slice, lets_its_keeper_go_with_the_last_piece) {
  const auto owner = std::make_shared<std::string>(long_text);
  slice all = slice::kept_by(owner, std::as_bytes(std::span{*owner}));
  EXPECT_EQ(owner.use_count(), 2);
  slice piece = all.sub(3, 4);
  all = slice{};
  EXPECT_EQ(owner.use_count(), 2);
  piece = slice{};
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(slice, is_shared_between_threads_and_freed_once) {
  for (int round = 0; round < 50; ++round) {
    const auto owner = std::make_shared<std::string>(long_text);
    {
      slice all = slice::kept_by(owner, std::as_bytes(std::span{*owner}));
      std::vector<std::thread> threads;
      for (int n = 0; n < 4; ++n) {
        threads.emplace_back([mine = all] {
          for (int turn = 0; turn < 500; ++turn) {
            const slice piece = mine.sub(static_cast<std::size_t>(turn % 100), 1);
            EXPECT_EQ(piece, "x");
          }
        });
      }
      all = slice{};
      for (std::thread& each : threads) each.join();
    }
    EXPECT_EQ(owner.use_count(), 1);
  }
}

TEST(slice_death, ends_the_program_when_asked_for_what_is_not_there) {
  EXPECT_DEATH(static_cast<void>(slice::of_static("abc").sub(4)), "tartan: a slice of 3 bytes was asked for what lies behind its byte 4");
}

}  // namespace
}  // namespace tartan::buf
