#include <tartan/rpc/auth.h>

#include <gtest/gtest.h>
#include <tartan/rpc/error.h>
#include <tartan/xdr/error.h>
#include <tartan/xdr/print.h>

#include <string>

namespace tartan::rpc {
namespace {

sys_credentials bob() {
  return {.stamp = 7, .machine = "host", .user = 1000, .group = 100, .groups = {4, 24}};
}

std::string bytes_of(const opaque_auth& auth) {
  return {reinterpret_cast<const char*>(auth.body.data()), auth.body.size()};
}

TEST(rpc_auth, writes_a_user_as_rfc_5531_has_it) {
  const opaque_auth auth = to_auth(bob());
  EXPECT_EQ(auth.flavor, auth_flavor::sys);
  const std::string expected{
      "\0\0\0\7"
      "\0\0\0\4host"
      "\0\0\3\xe8"
      "\0\0\0\x64"
      "\0\0\0\2\0\0\0\4\0\0\0\x18",
      32};
  EXPECT_EQ(bytes_of(auth), expected);
}

TEST(rpc_auth, reads_the_user_that_it_has_written) {
  EXPECT_EQ(sys_credentials_of(to_auth(bob())).value(), bob());
  EXPECT_EQ(sys_credentials_of(to_auth({})).value(), sys_credentials{});
}

TEST(rpc_auth, reads_a_user_of_no_other_flavor) {
  opaque_auth auth = to_auth(bob());
  for (const std::uint32_t flavor : {auth_flavor::none, auth_flavor::short_form, auth_flavor::tls}) {
    auth.flavor = flavor;
    EXPECT_EQ(sys_credentials_of(auth).error(), errc::authentication);
  }
}

TEST(rpc_auth, refuses_a_body_that_is_cut_at_any_byte_or_goes_on) {
  const opaque_auth whole = to_auth(bob());
  for (std::size_t size = 0; size < whole.body.size(); ++size) {
    opaque_auth cut = whole;
    cut.body.resize(size);
    EXPECT_EQ(sys_credentials_of(cut).error(), xdr::errc::truncated) << size;
  }
  opaque_auth longer = whole;
  longer.body.resize(longer.body.size() + 4);
  EXPECT_EQ(sys_credentials_of(longer).error(), xdr::errc::trailing_bytes);
}

TEST(rpc_auth, reads_or_refuses_a_body_with_any_bit_flipped) {
  const opaque_auth whole = to_auth(bob());
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * whole.body.size(); ++bit) {
    opaque_auth flipped = whole;
    flipped.body[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto read = sys_credentials_of(flipped);
    if (read) {
      EXPECT_EQ(to_auth(*read), flipped);
    } else {
      ++refused;
    }
  }
  EXPECT_GE(refused, 60u) << "the two lengths";
}

TEST(rpc_auth, refuses_more_groups_than_the_protocol_has) {
  opaque_auth auth = to_auth({});
  auth.body[19] = std::byte{17};
  auth.body.resize(20 + 4 * 17);
  EXPECT_EQ(sys_credentials_of(auth).error(), xdr::errc::too_long);
  auth.body[19] = std::byte{16};
  auth.body.resize(20 + 4 * 16);
  EXPECT_EQ(sys_credentials_of(auth)->groups.size(), 16u);
}

TEST(rpc_auth, cuts_off_what_the_protocol_does_not_carry) {
  sys_credentials large;
  large.machine = std::string(300, 'm');
  for (std::uint32_t n = 0; n < 20; ++n) large.groups.push_back(n);
  const opaque_auth auth = to_auth(large);
  EXPECT_LE(auth.body.size(), auth.body.max);
  const sys_credentials read = sys_credentials_of(auth).value();
  EXPECT_EQ(read.machine, std::string(255, 'm'));
  ASSERT_EQ(read.groups.size(), 16u);
  EXPECT_EQ(read.groups.back(), 15u);
}

TEST(rpc_auth, names_each_status) {
  EXPECT_EQ(xdr::print(auth_status::too_weak), "too_weak");
  EXPECT_EQ(xdr::print(static_cast<auth_status>(13)), "13");
}

}  // namespace
}  // namespace tartan::rpc
