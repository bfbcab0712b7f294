// What buf promises about allocations: none where nothing has to be kept that was not kept before.
#include <gtest/gtest.h>
#include <tartan/buf/chain.h>

#include <cstring>
#include <string>
#include <utility>

#include "tests/promises/allocations.h"

namespace tartan::buf {
namespace {

TEST(buffer_costs, a_slice_of_a_string_is_one_allocation_and_its_pieces_are_none) {
  std::string text(100'000, 'x');
  const std::uint64_t before = test::allocations();
  const slice page{std::move(text)};
  EXPECT_EQ(test::allocations() - before, 1u);
  slice piece = page.sub(10, 20);
  const slice copy = piece;
  piece = slice::of_static("static");
  EXPECT_EQ(test::allocations() - before, 1u);
  EXPECT_EQ(copy.data(), page.data() + 10);
}

TEST(buffer_costs, a_chain_that_answers_one_request_after_another_allocates_nothing) {
  const slice page = slice::copy_of(std::string(100'000, 'x'));
  chain in;
  chain out;
  const auto request = [&] {
    const std::string_view text = "GET / HTTP/1.1\r\n\r\n";
    std::memcpy(in.prepare(512).data(), text.data(), text.size());
    in.commit(text.size());
    EXPECT_EQ(in.find_line(100)->length, 14u);
    const slice line = in.take_slice(14);
    in.drop(in.size());
    out.print("HTTP/1.1 ", 200, " OK\r\nContent-Length: ", page.size(), "\r\n\r\n");
    out.append(page);
    out.drop(out.size());
  };
  request();
  const std::uint64_t before = test::allocations();
  for (int n = 0; n < 1000; ++n) request();
  EXPECT_EQ(test::allocations(), before);
}

TEST(buffer_costs, taking_what_is_there_copies_no_bytes) {
  chain from;
  for (int n = 0; n < 4; ++n) from.append(slice{std::string(100'000, 'x')});
  const std::byte* const second = from.slices()[1].data();
  const std::uint64_t before = test::allocations();
  chain taken = from.take(150'000);
  EXPECT_LE(test::allocations() - before, 1u);  // the list of its parts
  EXPECT_EQ(taken.slices()[1].data(), second);
  EXPECT_EQ(from.slices()[0].data(), second + 50'000);
}

}  // namespace
}  // namespace tartan::buf
