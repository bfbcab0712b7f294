// What --classic makes of classic_kiosk.x: exactly, and in use with a stand-in for libasync's types.
#include <classic_kiosk.h>
#include <gtest/gtest.h>
#include <modern_kiosk.h>
#include <tartan/xdr/codec.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/xdr/classic/xdrmisc.h"

bool traverse_bytes(XDR* x, char* bytes, std::size_t size) {
  const std::size_t padding = (4 - size % 4) % 4;
  if (x->x_op == XDR_ENCODE) {
    x->bytes.append(bytes, size).append(padding, '\0');
    return true;
  }
  if (x->bytes.size() - x->at < size + padding) return false;
  x->bytes.copy(bytes, size, x->at);
  x->at += size + padding;
  return true;
}
bool rpc_traverse(XDR*& x, u_int32_t& value, const char* /*field*/) {
  char bytes[4];
  for (int n = 0; n < 4; ++n) bytes[n] = static_cast<char>(value >> (24 - 8 * n));
  if (!traverse_bytes(x, bytes, 4)) return false;
  value = 0;
  for (const char each : bytes) value = value << 8 | static_cast<unsigned char>(each);
  return true;
}
bool rpc_traverse(XDR*& x, rpc_str<>& value, const char* field) {
  auto size = static_cast<u_int32_t>(value.size());
  if (!rpc_traverse(x, size, field) || (x->x_op == XDR_DECODE && size > x->bytes.size())) return false;
  value.resize(size);
  return traverse_bytes(x, value.data(), size);
}

namespace xdr_compiler {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(classic_output, is_as_expected) {
  EXPECT_EQ(text_of(TARTAN_CLASSIC_OUTPUT ".h"), text_of(TARTAN_XDR_TESTS "/classic_kiosk.h.expected"));
  EXPECT_EQ(text_of(TARTAN_CLASSIC_OUTPUT ".C"), text_of(TARTAN_XDR_TESTS "/classic_kiosk.C.expected"));
}

seat sample_seat() {
  seat s;
  s.who = "bob";
  s.row = 3;
  s.at = -2;
  s.tag.fill('t');
  s.blob.push_back('b');
  s.marks.push_back(-1);
  s.where = {};
  s.where[2] = 7;
  s.is_taken = true;
  s.note = "hm";
  seat& next = *s.next.alloc();
  next = s;
  next.next.clear();
  return s;
}

modern_kiosk::seat sample_modern_seat() {
  modern_kiosk::seat s{.who = "bob", .row = 3, .at = -2, .where = {0, 0, 7}, .is_taken = true, .note = "hm"};
  s.tag.fill(std::byte{'t'});
  s.blob = "b";
  s.marks = {-1};
  s.next.emplace(modern_kiosk::seat{s});
  return s;
}

template <class T>
std::string classic_bytes(T& value, xdrproc_t with) {
  XDR x{.x_op = XDR_ENCODE, .bytes = {}};
  EXPECT_TRUE(with(&x, &value));
  return x.bytes;
}
template <class T>
std::string modern_bytes(const T& value) {
  tartan::buf::chain wire;
  EXPECT_TRUE(tartan::xdr::encode(wire, value));
  return wire.to_string();
}

TEST(classic_types, are_encoded_as_modern_ones) {
  seat s = sample_seat();
  EXPECT_EQ(classic_bytes(s, xdr_seat), modern_bytes(sample_modern_seat()));
  answer a{CALM};
  *a.s = s;
  modern_kiosk::answer modern;
  modern.set_s(sample_modern_seat());
  EXPECT_EQ(classic_bytes(a, xdr_answer), modern_bytes(modern));
  a.set_m(LATE);
  *a.wait = 5;
  modern.set_wait(modern_kiosk::mood::LATE, 5);
  EXPECT_EQ(classic_bytes(a, xdr_answer), modern_bytes(modern));
  a.set_m(ODDER);
  modern.set_void(modern_kiosk::mood::ODDER);
  EXPECT_EQ(classic_bytes(a, xdr_answer), modern_bytes(modern));
}

TEST(classic_types, are_decoded_again) {
  numbered n{1};
  n.one->alloc();
  (*n.one)->set_m(ODD);
  (*n.one)->many->push_back(4);
  const std::string bytes = classic_bytes(n, xdr_numbered);
  XDR x{.x_op = XDR_DECODE, .bytes = bytes};
  auto* const back = static_cast<numbered*>(numbered_alloc());
  ASSERT_TRUE(xdr_numbered(&x, back));
  EXPECT_EQ(back->number, 1);
  EXPECT_EQ((*back->one)->m, ODD);
  EXPECT_EQ((*back->one)->many->front(), 4);
  EXPECT_EQ(classic_bytes(*back, xdr_numbered), bytes);
  x.x_op = XDR_FREE;
  EXPECT_TRUE(xdr_numbered(&x, back));
  ::operator delete(back);
}

TEST(classic_types, refuse_a_discriminant_without_an_arm) {
  XDR x{.x_op = XDR_DECODE, .bytes = std::string("\0\0\0\7", 4)};
  answer a;
  EXPECT_FALSE(xdr_answer(&x, &a));
  XDR longer{.x_op = XDR_DECODE, .bytes = std::string("\0\0\0\5", 4)};
  EXPECT_FALSE(xdr_answer(&longer, &a));
}

TEST(classic_unions, are_used_like_pointers) {
  answer r{BUSY};
  *r.wait = 3;
  EXPECT_EQ(r.m, BUSY);
  answer copy = r;
  r.set_m(CALM);
  r.s->row = 9;
  EXPECT_EQ(*copy.wait, 3U);
  copy = r;
  EXPECT_EQ(copy.m, CALM);
  EXPECT_EQ(copy.s->row, 9U);
  const maybe nothing{false};
  EXPECT_FALSE(nothing.is_there);
}

TEST(classic_unions, have_macros_over_their_arms) {
  std::vector<std::string> seen;
#define SEEN(type, field) seen.push_back(#type " " #field)
  for (const int which : {0, 5, 6, 64, 65, 1}) {
    rpcunion_switch_answer(which, SEEN, seen.push_back("void"), seen.push_back("none"));
  }
  for (const bool which : {false, true}) {
    rpcunion_switch_maybe(int(which), SEEN, seen.push_back("void"), seen.push_back("none"));
  }
#undef SEEN
  EXPECT_EQ(seen, (std::vector<std::string>{"seat s", "u_int32_t wait", "u_int32_t wait", "answer::many_type many",
                                            "void", "none", "void", "label text"}));
}

TEST(classic_printing, shows_every_member) {
  answer a{LATE};
  *a.wait = 7;
  const strbuf lines;
  rpc_print(lines, a, RPC_INFINITY, "a", "");
  EXPECT_EQ(lines.text(), "answer a = {\n  mood m = LATE;\n  wait = 7;\n};\n");
  const strbuf line;
  rpc_print(line, a, RPC_INFINITY, nullptr, nullptr);
  EXPECT_EQ(line.text(), "{ mood m = LATE, wait = 7 }");
  EXPECT_STREQ(rpc_type2str<answer>::type(), "answer");
}

TEST(classic_programs, have_a_table_with_a_row_for_each_number) {
  EXPECT_EQ(kiosk_prog_1.progno, 400123U);
  EXPECT_EQ(kiosk_prog_1.versno, unsigned{KIOSK_V1});
  EXPECT_EQ(kiosk_prog_1.nproc, 4U);
  EXPECT_STREQ(kiosk_prog_1.name, "kiosk_prog_1");
  EXPECT_STREQ(kiosk_prog_1.tbl[KIOSK_ASK].name, "KIOSK_ASK");
  EXPECT_EQ(kiosk_prog_1.tbl[KIOSK_ASK].xdr_arg, xdr_label);
  EXPECT_EQ(kiosk_prog_1.tbl[KIOSK_ASK].alloc_res, answer_alloc);
  EXPECT_EQ(*kiosk_prog_1.tbl[KIOSK_SIT].type_res, typeid(bool));
  EXPECT_EQ(kiosk_prog_1.tbl[2].xdr_arg, xdr_false);
  EXPECT_EQ(kiosk_prog_1.tbl[KIOSK_NULL].xdr_arg, xdr_void);
}

/// What a procedure's functions call.
struct fake_client {
  unsigned proc = 0;
  const void* argument = nullptr;
  int call(unsigned number, const void* arg, void* /*res*/, int cb) {
    proc = number;
    argument = arg;
    return cb;
  }
};
struct fake_call {
  const void* replied = nullptr;
  int rejected = -1;
  label argument{"arg"};
  template <class T>
  T* getarg() {
    return &argument;
  }
  void reply(const void* result) { replied = result; }
  void reject(accept_stat why) { rejected = why; }
  void reject(auth_stat why) { rejected = why; }
};

TEST(classic_namespaces, have_functions_with_types) {
  namespace calls = typed::other_prog_2;
  fake_client client;
  const label who{"x"};
  answer result;
  EXPECT_EQ(calls::other_ask(&client, &who, &result, 3), 3);
  EXPECT_EQ(client.argument, &who);
  EXPECT_EQ(calls::other_ask(&client, who, &result, 4), 4);
  EXPECT_EQ(client.proc, unsigned{OTHER_ASK});
  EXPECT_EQ(calls::other_null(&client, 5), 5);
  EXPECT_EQ(client.proc, unsigned{OTHER_NULL});
  const auto wrapper = [](rpc_bundle_t bundle, int cb) { return static_cast<int>(bundle.proc()) * 10 + cb; };
  int (*function)(rpc_bundle_t, int) = wrapper;
  EXPECT_EQ((calls::w_other_ask<int, int>(&function, who, &result, 6)), 16);

  fake_call call;
  calls::other_ask_srv_t<fake_call> srv{&call};
  EXPECT_EQ(*srv.getarg(), "arg");
  srv.reply(result);
  EXPECT_EQ(call.replied, &result);
  EXPECT_EQ(srv.sbp(), nullptr);
  calls::other_null_srv_t<fake_call> second{&call};
  second.reject();
  EXPECT_EQ(call.rejected, PROC_UNAVAIL);
}

}  // namespace
}  // namespace xdr_compiler
