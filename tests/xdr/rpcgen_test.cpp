// What tartan-xdr generates from shared.x, against what rpcgen does, byte for byte.
#include <gtest/gtest.h>
#include <tartan/xdr/codec.h>
#include <tartan/xdr/print.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rpcgen_values.h"
#include "shared_values.h"
#include "tests/seed.h"

namespace tartan::xdr::test {
namespace {

constexpr int rounds = 300;

using octets = std::vector<unsigned char>;

template <class T>
octets encoded(const T& value) {
  buf::chain wire;
  const result<> done = encode(wire, value);
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
  const std::string bytes = wire.to_string();
  return {bytes.begin(), bytes.end()};
}

octets encoded_in_c(shared_type type, std::uint64_t seed) {
  octets bytes(65536);
  const long size = rpcgen_encode(type, seed, bytes.data(), bytes.size());
  EXPECT_GE(size, 0);
  bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return bytes;
}

template <class T>
void compare(shared_type type) {
  std::uint64_t now = tartan::test::seed();
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round, ++now) {
    SCOPED_TRACE("value " + std::to_string(now));
    T value{};
    numbers from{now};
    make(from, value);
    const octets mine = encoded(value);
    const octets theirs = encoded_in_c(type, now);
    ASSERT_EQ(mine, theirs) << print(value);
    const result<T> back = decode<T>(std::as_bytes(std::span{theirs}));
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_TRUE(*back == value) << print(*back) << "\n" << print(value);
    octets again(65536);
    const long size = rpcgen_recode(type, mine.data(), mine.size(), again.data(), again.size());
    ASSERT_EQ(size, static_cast<long>(mine.size()));
    again.resize(mine.size());
    EXPECT_EQ(again, mine);
  }
}

TEST(xdr_beside_rpcgen, encodes_scalars_alike) {
  compare<shared::shared_scalars>(type_scalars);
}
TEST(xdr_beside_rpcgen, encodes_arrays_alike) {
  compare<shared::shared_arrays>(type_arrays);
}
TEST(xdr_beside_rpcgen, encodes_typedefs_alike) {
  compare<shared::shared_label>(type_label);
  compare<shared::shared_grid>(type_grid);
  compare<shared::shared_times>(type_times);
}
TEST(xdr_beside_rpcgen, encodes_unions_alike) {
  compare<shared::shared_answer>(type_answer);
  compare<shared::shared_reply>(type_reply);
  compare<shared::shared_number>(type_number);
  compare<shared::shared_maybe>(type_maybe);
}
TEST(xdr_beside_rpcgen, encodes_linked_lists_alike) {
  compare<shared::shared_links>(type_links);
}
TEST(xdr_beside_rpcgen, encodes_trees_alike) {
  compare<shared::shared_tree>(type_tree);
}
TEST(xdr_beside_rpcgen, encodes_all_of_it_together_alike) {
  compare<shared::shared_all>(type_all);
}

}  // namespace
}  // namespace tartan::xdr::test
