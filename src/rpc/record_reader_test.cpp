#include "rpc/record_reader.h"

#include <gtest/gtest.h>
#include <tartan/rpc/error.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/seed.h"

namespace tartan::rpc {
namespace {

constexpr std::uint32_t last = 0x80000000;

std::string fragment(std::uint32_t mark, std::string_view bytes = {}) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<char>(mark >> shift));
  return text.append(bytes);
}
std::string record(std::string_view bytes) {
  return fragment(last | static_cast<std::uint32_t>(bytes.size()), bytes);
}

void feed(record_reader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<std::byte> room = reader.room();
    const std::size_t now = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), now);
    reader.add(now);
    bytes.remove_prefix(now);
  }
}

struct outcome {
  std::vector<std::string> records;
  std::vector<std::size_t> descriptors;
  std::error_code error;

  bool operator==(const outcome&) const = default;
};

/// Takes what is there.
void take_all(record_reader& reader, outcome& into) {
  for (;;) {
    auto got = reader.next();
    if (!got) into.error = got.error();
    if (!got || !*got) return;
    into.records.push_back((*got)->to_string());
    into.descriptors.push_back(reader.descriptors());
  }
}

outcome read(std::string_view stream, std::size_t most = 1'000'000, std::size_t step = std::string_view::npos) {
  record_reader reader{most};
  outcome all;
  for (; !stream.empty(); stream.remove_prefix(std::min(step, stream.size()))) {
    feed(reader, stream.substr(0, step));
    take_all(reader, all);
  }
  return all;
}

/// The same the simple way: from the whole stream, with copies.
outcome read_simply(std::string_view stream, std::size_t most) {
  outcome all;
  std::string record;
  std::size_t fragments = 0;
  std::size_t leading = 0;
  while (stream.size() >= 4) {
    std::uint32_t mark = 0;
    for (int n = 0; n < 4; ++n) mark = mark << 8 | static_cast<unsigned char>(stream[static_cast<std::size_t>(n)]);
    stream.remove_prefix(4);
    const std::size_t length = mark & ~last;
    if (record.size() + length > most) return all.error = errc::too_large, all;
    if (mark == 0 && record.empty()) ++leading;
    if (++fragments > 1024 || leading > 16) return all.error = errc::malformed, all;
    if (stream.size() < length) return all;
    record.append(stream.substr(0, length));
    stream.remove_prefix(length);
    if ((mark & last) == 0) continue;
    all.records.push_back(std::exchange(record, {}));
    all.descriptors.push_back(std::exchange(leading, 0));
    fragments = 0;
  }
  return all;
}

TEST(rpc_record_reader, gives_records_as_they_become_whole) {
  const std::string stream = record("one") + record("") + fragment(2, "tw") + fragment(last | 1, "o") + record("three");
  const outcome expected{{"one", "", "two", "three"}, {0, 0, 0, 0}, {}};
  for (std::size_t step = 1; step <= stream.size(); ++step) EXPECT_EQ(read(stream, 5, step), expected) << step;
}

TEST(rpc_record_reader, gives_no_record_that_is_cut_at_any_byte) {
  const std::string stream = fragment(0) + fragment(2, "tw") + fragment(last | 1, "o");
  for (std::size_t size = 0; size < stream.size(); ++size) {
    record_reader reader{100};
    feed(reader, stream.substr(0, size));
    EXPECT_FALSE(reader.next().value().has_value()) << size;
    EXPECT_EQ(reader.is_between_records(), size == 0) << size;
    feed(reader, stream.substr(size));
    EXPECT_EQ(reader.next().value().value().to_string(), "two");
    EXPECT_TRUE(reader.is_between_records());
  }
}

TEST(rpc_record_reader, reads_or_refuses_marks_with_any_bit_flipped) {
  const std::string stream =
      fragment(0) + fragment(2, "tw") + fragment(last | 1, "o") + record("three") + record("four");
  for (std::size_t bit = 0; bit < 8 * stream.size(); ++bit) {
    std::string flipped = stream;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(read(flipped, 20), read_simply(flipped, 20)) << bit;
  }
}

TEST(rpc_record_reader, counts_the_descriptors_in_front_of_a_record) {
  const std::string two = fragment(0) + fragment(0);
  const outcome got = read(two + record("a") + record("b") + fragment(0) + record(""));
  EXPECT_EQ(got.descriptors, (std::vector<std::size_t>{2, 0, 1}));
  EXPECT_EQ(read(fragment(1, "a") + two + fragment(last)).descriptors, std::vector<std::size_t>{0});

  std::string many;
  for (int n = 0; n < 16; ++n) many += fragment(0);
  EXPECT_EQ(read(many + record("")).descriptors, std::vector<std::size_t>{16});
  EXPECT_EQ(read(many + fragment(0)).error, errc::malformed);
}

TEST(rpc_record_reader, refuses_lengths_beyond_the_limit_before_the_bytes_arrive) {
  EXPECT_EQ(read(fragment(last | 100), 99).error, errc::too_large);
  EXPECT_EQ(read(fragment(60, std::string(60, 'x')) + fragment(40), 99).error, errc::too_large);
  EXPECT_EQ(read(fragment(0x7fffffff)).error, errc::too_large);
  EXPECT_EQ(read(fragment(60, std::string(60, 'x')) + fragment(last | 39, std::string(39, 'x')), 99).records.size(),
            1u);
}

TEST(rpc_record_reader, refuses_a_record_of_too_many_fragments) {
  std::string most = fragment(1, "x");
  for (int n = 0; n < 1022; ++n) most += fragment(0);
  EXPECT_EQ(read(most + fragment(last)).records, std::vector<std::string>{"x"});
  EXPECT_EQ(read(most + fragment(0) + fragment(last)).error, errc::malformed);
  EXPECT_EQ(read(most + fragment(last) + most + fragment(last)).records.size(), 2u) << "each record is counted anew";
}

TEST(rpc_record_reader, gives_the_same_error_again) {
  record_reader reader{10};
  feed(reader, fragment(11) + record("a"));
  EXPECT_EQ(reader.next().error(), errc::too_large);
  EXPECT_EQ(reader.next().error(), errc::too_large);
}

TEST(rpc_record_reader, gives_the_memory_that_was_read_to) {
  record_reader reader{1000};
  const std::span<std::byte> room = reader.room();
  const std::string stream = fragment(3, "abc") + fragment(last | 3, "def");
  std::memcpy(room.data(), stream.data(), stream.size());
  reader.add(stream.size());
  const buf::chain got = std::move(reader.next().value().value());
  ASSERT_EQ(got.slices().size(), 2u);
  EXPECT_EQ(got.slices()[0].data(), room.data() + 4);
  EXPECT_EQ(got.slices()[1].data(), room.data() + 11);
}

TEST(rpc_record_reader, leaves_a_record_as_it_is_while_it_reads_on) {
  record_reader reader{1000};
  feed(reader, record("kept"));
  const buf::chain kept = std::move(reader.next().value().value());
  for (int n = 0; n < 10'000; ++n) {
    feed(reader, record("other"));
    ASSERT_EQ(reader.next().value().value().to_string(), "other");
  }
  EXPECT_EQ(kept.to_string(), "kept");
}

TEST(rpc_record_reader, fills_its_block_again_when_the_records_are_gone) {
  record_reader reader{1000};
  const std::byte* const block = reader.room().data();
  for (int n = 0; n < 100; ++n) {
    EXPECT_EQ(reader.room().data(), block);
    feed(reader, record("gone"));
    ASSERT_TRUE(reader.next().value().has_value());
  }
}

TEST(rpc_record_reader, holds_no_more_than_a_slow_sender_has_sent_and_a_block) {
  record_reader reader{100'000'000};
  feed(reader, fragment(last | 90'000'000));
  for (int n = 0; n < 100'000; ++n) {
    const std::span<std::byte> room = reader.room();
    ASSERT_LE(room.size(), 65536u);
    ASSERT_GE(room.size(), 512u);
    room.front() = std::byte{'x'};
    reader.add(1);
    ASSERT_FALSE(reader.next().value().has_value());
    reader.release_room();
  }
  EXPECT_LE(reader.input().slices().size(), 30u) << "one for each block";
}

TEST(rpc_record_reader, gives_more_room_to_a_sender_as_long_as_it_is_fast) {
  record_reader reader{1'000'000};
  const std::size_t first = reader.room().size();
  EXPECT_LE(first, 4096u);
  std::size_t room = first;
  for (int n = 0; n < 4; ++n) {
    room = reader.room().size();
    feed(reader, fragment(static_cast<std::uint32_t>(room) - 4, std::string(room - 4, 'x')));
    ASSERT_FALSE(reader.next().value().has_value());
  }
  EXPECT_GT(room, 60'000u);
  feed(reader, fragment(last));
  EXPECT_TRUE(reader.next().value().has_value());
  reader.release_room();
  EXPECT_GT(reader.room().size(), first) << "it may be as fast after its break";
  for (int n = 0; n < 2; ++n) {
    static_cast<void>(reader.room());
    feed(reader, record("slow"));
    EXPECT_TRUE(reader.next().value().has_value());
    reader.release_room();
  }
  EXPECT_EQ(reader.room().size(), first);
}

TEST(rpc_record_reader, reads_what_was_appended_to_its_input) {
  record_reader reader{100};
  reader.input().append(record("copied") + fragment(last | 3));
  EXPECT_EQ(reader.next().value().value().to_string(), "copied");
  feed(reader, "ab");
  reader.input().append(std::string_view{"c"});
  EXPECT_EQ(reader.next().value().value().to_string(), "abc");
}

class random_stream {
 public:
  explicit random_stream(std::uint64_t seed) : random_{seed} {}

  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random_); }
  std::string make() {
    std::string stream;
    for (std::size_t records = 1 + below(20); records != 0; --records) {
      for (std::size_t n = below(4) == 0 ? below(18) : 0; n != 0; --n) stream += fragment(0);
      for (std::size_t n = below(3) == 0 ? below(5) : 0; n != 0; --n) stream += part(0);
      stream += part(last);
    }
    return stream;
  }

 private:
  std::string part(std::uint32_t bit) {
    const std::size_t size = below(8) == 0 ? below(9000) : below(20);
    return fragment(bit | static_cast<std::uint32_t>(size), std::string(size, static_cast<char>('a' + below(26))));
  }

  std::mt19937_64 random_;
};

TEST(rpc_record_reader, does_as_a_simple_one_with_random_streams) {
  random_stream random{test::seed()};
  std::size_t refused = 0;
  for (int round = 0; round < 500; ++round) {
    const std::string stream = random.make();
    const std::size_t most = 9000 + random.below(9000);
    record_reader reader{most};
    outcome got;
    for (std::size_t at = 0; at < stream.size() && !got.error;) {
      const std::size_t step = 1 + random.below(random.below(4) == 0 ? 20'000 : 50);
      feed(reader, std::string_view{stream}.substr(at, step));
      at += step;
      if (random.below(2) == 0 || at >= stream.size()) take_all(reader, got);
      if (random.below(10) == 0) reader.release_room();
    }
    ASSERT_EQ(got, read_simply(stream, most)) << "round " << round;
    refused += got.error ? 1 : 0;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, 400u);
}

TEST(rpc_record_reader, writes_marks_that_it_reads) {
  buf::chain out;
  write_descriptor_mark(out);
  write_mark(out, 3);
  out.append(std::string_view{"abc"});
  EXPECT_EQ(out.to_string(), fragment(0) + record("abc"));
}

}  // namespace
}  // namespace tartan::rpc
