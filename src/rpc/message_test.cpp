#include "rpc/message.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

namespace tartan::rpc {
namespace {

std::string words(std::initializer_list<std::uint32_t> all) {
  std::string text;
  for (const std::uint32_t each : all) {
    for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<char>(each >> shift));
  }
  return text;
}

opaque_auth auth(std::uint32_t flavor, std::size_t bytes) {
  opaque_auth made{.flavor = flavor};
  made.body.resize(bytes, std::byte{'a'});
  return made;
}

call_header some_call() {
  return {.xid = 1, .program = 400123, .version = 2, .procedure = 3, .credentials = auth(1, 6), .verifier = auth(6, 1)};
}

/// One of each kind.
std::vector<reply_header> replies() {
  std::vector<reply_header> all;
  for (std::uint32_t status = 0; status <= 5; ++status) {
    all.push_back({.xid = 7, .status = static_cast<accept_status>(status), .verifier = auth(6, 5)});
  }
  all[2].low = 1;
  all[2].high = 3;
  all.push_back({.xid = 8, .accepted = false, .reject = reject_reason::rpc_mismatch, .low = 2, .high = 2});
  all.push_back({.xid = 9, .accepted = false, .reject = reject_reason::auth_error, .why = auth_status::too_weak});
  return all;
}

template <class Header>
std::string wire(const Header& head) {
  buf::chain out;
  write(out, head);
  EXPECT_EQ(out.size(), size_of(head));
  return out.to_string();
}

message_head read(const std::string& text) {
  buf::chain message;
  message.append(text);
  return read_head(message.slices());
}

/// The head's own form, as far as it has one.
std::string wire(const message_head& head) {
  if (const auto* const call = std::get_if<call_header>(&head.what)) return wire(*call);
  if (const auto* const reply = std::get_if<reply_header>(&head.what)) return wire(*reply);
  return {};
}

bool is_malformed(const message_head& head) {
  return std::holds_alternative<malformed>(head.what);
}

TEST(rpc_message, writes_a_call_as_rfc_5531_has_it) {
  EXPECT_EQ(wire(some_call()), words({1, 0, 2, 400123, 2, 3, 1, 6}) + std::string("aaaaaa\0\0", 8) + words({6, 1}) +
                                   std::string("a\0\0\0", 4));
}

TEST(rpc_message, writes_replies_as_rfc_5531_has_them) {
  const std::string verifier = words({6, 5}) + std::string("aaaaa\0\0\0", 8);
  const std::vector<reply_header> all = replies();
  EXPECT_EQ(wire(all[0]), words({7, 1, 0}) + verifier + words({0}));
  EXPECT_EQ(wire(all[2]), words({7, 1, 0}) + verifier + words({2, 1, 3}));
  EXPECT_EQ(wire(all[5]), words({7, 1, 0}) + verifier + words({5}));
  EXPECT_EQ(wire(all[6]), words({8, 1, 1, 0, 2, 2}));
  EXPECT_EQ(wire(all[7]), words({9, 1, 1, 1, 5}));
}

TEST(rpc_message, reads_heads_and_says_where_they_end) {
  const std::string call = wire(some_call());
  const message_head read_call = read(call + "arguments");
  EXPECT_EQ(std::get<call_header>(read_call.what), some_call());
  EXPECT_EQ(read_call.bytes, call.size());
  for (const reply_header& each : replies()) {
    const std::string text = wire(each);
    const message_head head = read(text + "results");
    EXPECT_EQ(std::get<reply_header>(head.what), each) << text;
    EXPECT_EQ(head.bytes, text.size());
  }
}

TEST(rpc_message, reads_a_head_in_slices_of_each_length) {
  const std::string text = wire(some_call()) + "args";
  for (std::size_t length = 1; length < 9; ++length) {
    buf::chain cut;
    for (std::size_t n = 0; n < text.size(); n += length) cut.append(buf::slice::copy_of(text.substr(n, length)));
    const message_head head = read_head(cut.slices());
    EXPECT_EQ(std::get<call_header>(head.what), some_call()) << length;
    EXPECT_EQ(head.bytes, text.size() - 4);
  }
}

TEST(rpc_message, knows_a_call_in_another_version_of_the_protocol) {
  for (const std::uint32_t version : {0u, 1u, 3u, 0xffffffffu}) {
    EXPECT_EQ(std::get<other_version>(read(words({77, 0, version})).what).xid, 77u);
  }
}

TEST(rpc_message, refuses_a_head_that_is_cut_at_any_byte) {
  std::vector<std::string> whole{wire(some_call())};
  for (const reply_header& each : replies()) whole.push_back(wire(each));
  for (const std::string& text : whole) {
    for (std::size_t size = 0; size < text.size(); ++size) {
      const message_head head = read(text.substr(0, size));
      EXPECT_TRUE(is_malformed(head)) << size;
      EXPECT_EQ(head.bytes, 0u);
    }
  }
}

TEST(rpc_message, reads_or_refuses_a_head_with_any_bit_flipped) {
  std::vector<std::string> whole{wire(some_call())};
  for (const reply_header& each : replies()) whole.push_back(wire(each));
  std::size_t refused = 0;
  std::size_t of_other_version = 0;
  for (const std::string& text : whole) {
    for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
      std::string flipped = text + words({0, 0});
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      const message_head head = read(flipped);
      refused += is_malformed(head) ? 1 : 0;
      of_other_version += std::holds_alternative<other_version>(head.what) ? 1 : 0;
      EXPECT_EQ(wire(head), flipped.substr(0, head.bytes)) << "what is read has one form only";
    }
  }
  EXPECT_GT(refused, 300u);
  EXPECT_EQ(of_other_version, 32u + replies().size()) << "each bit of the call's version, one of each reply's type";
}

TEST(rpc_message, takes_credentials_of_400_bytes_and_no_more) {
  call_header head = some_call();
  head.credentials = auth(5, 400);
  EXPECT_EQ(std::get<call_header>(read(wire(head)).what), head);
  head.credentials = auth(5, 401);
  EXPECT_TRUE(is_malformed(read(wire(head))));
}

TEST(rpc_message, refuses_kinds_of_replies_that_it_does_not_know) {
  EXPECT_TRUE(is_malformed(read(words({9, 1, 2, 0, 0, 0, 0})))) << "neither accepted nor denied";
  EXPECT_TRUE(is_malformed(read(words({9, 1, 0, 0, 0, 6})))) << "accepted, with an unknown status";
  EXPECT_TRUE(is_malformed(read(words({9, 1, 1, 2, 0, 0})))) << "denied for an unknown reason";
  EXPECT_TRUE(is_malformed(read(words({9, 2, 2, 0, 0, 0, 0})))) << "neither a call nor a reply";
}

TEST(rpc_message, reads_a_reason_for_refusal_that_has_no_name) {
  const message_head head = read(words({9, 1, 1, 1, 13}));
  EXPECT_EQ(static_cast<int>(std::get<reply_header>(head.what).why), 13);
}

}  // namespace
}  // namespace tartan::rpc
