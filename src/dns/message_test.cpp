#include "dns/message.h"

#include <gtest/gtest.h>
#include <tartan/dns/error.h>

#include <random>
#include <string>

#include "dns/name_server_fixture.h"
#include "tests/seed.h"
#include "tests/workers.h"

namespace tartan::detail {
namespace {

using test::asked;
using test::reply;
using test::wire16;
using test::wire_name;

asked ask(const std::string& name, record_type type) {
  const result<message_bytes> made = write_question({name, type}, 0x1234);
  return {{made->begin(), made->end()}, name, type, false, 0};
}

result<answer> read(const std::string& bytes, std::size_t most = 100) {
  return read_answer({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, most);
}

TEST(dns_messages, ask_one_question_with_recursion_desired) {
  const asked q = ask("a.example", record_type::mx);
  const std::string head{"\x12\x34\1\0\0\1\0\0\0\0\0\0", 12};
  EXPECT_EQ(q.bytes, head + wire_name("a.example") + wire16(15) + wire16(1));
  EXPECT_EQ(write_question({std::string(64, 'a'), record_type::a}, 1).error(), dns::errc::invalid_name);
}

TEST(dns_messages, are_malformed_if_anything_is_cut_off) {
  const asked q = ask("a.example", record_type::srv);
  const std::string whole =
      reply{q}
          .alias("a.example", 1, "b.example")
          .add("b.example", record_type::srv, 2, wire16(1) + wire16(2) + wire16(3) + wire_name("c.example"))
          .add("b.example", record_type::txt, 2, "\3abc\1d")
          .bytes();
  ASSERT_EQ(read(whole)->records.size(), 3u);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_EQ(read(whole.substr(0, bytes)).error(), dns::errc::malformed) << bytes;
}

TEST(dns_messages, are_malformed_if_data_does_not_fill_its_record) {
  const asked q = ask("a.example", record_type::a);
  const auto with = [&](record_type type, const std::string& data) {
    return read(reply{q}.add("a.example", type, 1, data).bytes()).error();
  };
  const std::error_code malformed = dns::errc::malformed;
  EXPECT_EQ(with(record_type::a, "abc"), malformed);
  EXPECT_EQ(with(record_type::a, "abcde"), malformed);
  EXPECT_EQ(with(record_type::aaaa, "abcd"), malformed);
  EXPECT_EQ(with(record_type::cname, wire_name("b") + "x"), malformed);
  EXPECT_EQ(with(record_type::mx, "x"), malformed);
  EXPECT_EQ(with(record_type::txt, ""), malformed);
  EXPECT_EQ(with(record_type::txt, "\5abc"), malformed);
  EXPECT_EQ(with(record_type::ptr, wire16(0xc0ff)), malformed);
  EXPECT_EQ(with(static_cast<record_type>(99), "anything"), std::error_code{})
      << "types that are not known are passed over";
}

TEST(dns_messages, that_are_questions_are_no_answers) {
  EXPECT_EQ(read(ask("a.example", record_type::a).bytes).error(), dns::errc::malformed);
}

TEST(dns_messages, with_names_that_lead_to_themselves_end) {
  const asked q = ask("a.example", record_type::cname);
  std::string whole = reply{q}.alias("a.example", 1, "b.example").bytes();
  const std::size_t data = whole.size() - wire_name("b.example").size();
  whole.replace(data, 2, wire16(0xc000U + static_cast<unsigned>(data)));
  EXPECT_EQ(read(whole).error(), dns::errc::malformed);
}

// c-ares would expand each of them to hundreds of kilobytes.
TEST(dns_messages, are_malformed_with_a_name_that_is_longer_than_any) {
  const asked q = ask("a.example", record_type::a);
  const auto with_labels = [&](int labels) {
    const std::string label = static_cast<char>(63) + std::string(63, '\xff');
    std::string name;
    for (int n = 0; n < labels; ++n) name += label;
    return read(reply{q}.add("a.example", record_type::cname, 1, name + '\0').bytes());
  };
  EXPECT_TRUE(with_labels(3));
  EXPECT_EQ(with_labels(5).error(), dns::errc::malformed);
}

TEST(dns_messages, tell_a_referral_from_a_name_without_records) {
  std::string whole = reply{ask("a.example", record_type::a)}.bytes();
  EXPECT_FALSE(read(whole)->is_referral) << "the server offers recursion";
  whole[3] = 0;
  EXPECT_TRUE(read(whole)->is_referral);
  whole[2] = static_cast<char>(whole[2] | 4);
  EXPECT_FALSE(read(whole)->is_referral) << "the server is the one to know";
  whole[2] = static_cast<char>(whole[2] & ~4);
  whole[3] = 3;
  EXPECT_FALSE(read(whole)->is_referral) << "there is no such name";
}

TEST(dns_messages, have_no_negative_time_to_live) {
  const asked q = ask("a.example", record_type::a);
  const auto got = read(reply{q}.ipv4("a.example", 0x80000001U, "abcd").bytes());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->records.front().time_to_live, 0u);
}

// Whatever is sent is read to an end, within its bytes: the sanitizers look on.
TEST(dns_messages, with_any_bytes_are_read_safely) {
  std::mt19937_64 random{test::seed()};
  const asked q = ask("a.example", record_type::txt);
  const std::string whole = reply{q}
                                .alias("a.example", 1, "b.example")
                                .add("b.example", record_type::mx, 2, wire16(1) + wire_name("c.example"))
                                .add("b.example", record_type::txt, 2, "\3abc\1d")
                                .bytes();
  std::size_t well_formed = 0;
  for (unsigned round = 0; round < test::rounds(20'000); ++round) {
    std::string changed = whole;
    for (auto changes = random() % 4; changes != 0; --changes)
      changed[random() % changed.size()] = static_cast<char>(random());
    changed.resize(changed.size() - (random() % 3 == 0 ? random() % changed.size() : 0));
    const auto got = read(changed, 1000);
    well_formed += got ? 1 : 0;
    if (got) static_cast<void>(records_for({q.name, q.type}, *got));
  }
  EXPECT_GT(well_formed, 0u);
}

}  // namespace
}  // namespace tartan::detail
