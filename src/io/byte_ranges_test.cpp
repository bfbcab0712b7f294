// Every call that moves bytes takes every kind of range. What converts is tested in buf/bytes_test.cpp.

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/chain.h>
#include <tartan/buf/slice.h>
#include <tartan/io/file.h>
#include <tartan/io/local.h>
#include <tartan/io/stream_writer.h>
#include <tartan/io/udp.h>
#include <vector>

#include "io/object_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using test::here_color;

class byte_ranges_of_calls : public test::with_objects_on_either {};
INSTANTIATE_TEST_SUITE_P(on, byte_ranges_of_calls, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(byte_ranges_of_calls, are_what_streams_read_into) {
  in_color([&]() -> task<> {
    auto both = *local::pair();
    EXPECT_TRUE(co_await both.first.write("abcdefghijklmnopqrstuvwxyz"));
    std::string text(3, ' ');
    EXPECT_TRUE(co_await both.second.read_exactly(text));
    EXPECT_EQ(text, "abc");
    std::vector<char> letters(2);
    EXPECT_TRUE(co_await both.second.read_exactly(letters));
    EXPECT_EQ(letters.back(), 'e');
    std::array<unsigned char, 2> octets{};
    EXPECT_TRUE(co_await both.second.read_exactly(octets));
    EXPECT_EQ(octets[1], 'g');
    char c_array[2] = {};
    EXPECT_TRUE(co_await both.second.read_exactly(c_array));
    EXPECT_EQ(c_array[1], 'i');
    std::vector<std::byte> bytes(1);
    EXPECT_EQ(*co_await both.second.read_some(bytes), 1u);
    EXPECT_EQ(*co_await both.second.read_some(std::span{c_array}.first(1)), 1u);
    EXPECT_EQ(c_array[0], 'k');
    EXPECT_EQ(*co_await both.second.read_some({c_array, 1}), 1u);
    co_await until([&] { return both.second.try_read_some(text).has_value(); });
    bool called = false;
    both.second.read_some(c_array, [&](result<std::size_t> got) { called = got.has_value(); });
    co_await until([&] { return called; });
    std::string empty;
    EXPECT_EQ(*co_await both.second.read_some(empty), 0u) << "a string does not grow";
  });
}

TEST_P(byte_ranges_of_calls, are_what_streams_write) {
  world_with.partial_percent = 0;  // a try writes all or nothing
  in_color([&]() -> task<> {
    auto both = *local::pair();
    EXPECT_EQ(*co_await both.first.write("literal,"), 8u) << "without its NUL";
    EXPECT_EQ(*co_await both.first.write(std::string{"string,"}), 7u);
    EXPECT_EQ(*co_await both.first.write(std::string_view{"view,"}), 5u);
    const std::vector<unsigned char> octets{'v', ','};
    EXPECT_EQ(*co_await both.first.write(octets), 2u);
    EXPECT_EQ(*co_await both.first.write(buf::slice::of_static("slice,")), 6u);
    const unsigned char c_array[] = {'c', ','};
    EXPECT_EQ(*co_await both.first.write(c_array), 2u);
    bool called = false;
    both.first.write("callback,", [&](result<std::size_t> wrote) { called = *wrote == 9; });
    co_await until([&] { return called; });
    const auto tried = both.first.try_write("try,");
    EXPECT_EQ(*tried, 4u);
    const std::array<int, 0> none{};
    EXPECT_EQ(*co_await both.first.send_with("with,", none), 5u);
    {
      stream_writer out{both.first};
      out.append("writer,");
      const std::array<char, 2> letters{'a', ','};
      out.append(letters);
      EXPECT_TRUE(co_await out.flush());
    }
    both.first.close();
    std::string all;
    EXPECT_FALSE(co_await both.second.read_until(all, "\n", 1000));
    EXPECT_EQ(all, "literal,string,view,v,slice,c,callback,try,with,writer,a,");
  });
}

TEST_P(byte_ranges_of_calls, are_what_datagrams_are_made_of) {
  const udp::options with{.color = here_color};
  udp::socket near = udp::bind(rt(), "127.0.0.1:0", with);
  udp::socket far = udp::bind(rt(), "127.0.0.1:0", with);
  in_color([&]() -> task<> {
    const address to = *near.local_address();
    EXPECT_TRUE(far.connect(to));
    std::string text(8, ' ');
    EXPECT_TRUE(co_await far.send_to("four", to));
    EXPECT_EQ((co_await near.receive(text))->bytes, 4u);
    const std::vector<char> two{'t', 'w', 'o'};
    EXPECT_TRUE(co_await far.send(two));
    unsigned char room[8];
    EXPECT_EQ((co_await near.receive_from(room))->bytes, 3u);
    EXPECT_EQ(room[0], 't');
  });
}

TEST_P(byte_ranges_of_calls, are_what_files_read_and_write) {
  const test::temporary_folder folder;
  in_color([&]() -> task<> {
    const std::string path = folder / "file";
    using enum file_flags;
    auto opened = co_await file::open(path, read | write | create);
    EXPECT_EQ(*co_await opened->write_at(0, "literal"), 7u);
    const std::vector<std::byte> zeros(2);
    EXPECT_EQ(*co_await opened->write_at(7, zeros), 2u);
    char room[16];
    EXPECT_EQ(*co_await opened->read_at(0, room), 9u);
    std::string text(7, ' ');
    EXPECT_EQ(*co_await opened->read_at(0, text), 7u);
    EXPECT_EQ(text, "literal");
  });
}

TEST(byte_ranges_of_chains, are_copied_in_and_out) {
  buf::chain all;
  all.append("literal ");
  all.append(std::vector<unsigned char>{'o', 'c'});
  char room[4] = {};
  EXPECT_EQ(all.copy_to(room, 6), 4u);
  EXPECT_EQ((std::string_view{room, 4}), "l oc");
  EXPECT_EQ(all.to_string(), "literal oc");
}

}  // namespace
}  // namespace tartan
