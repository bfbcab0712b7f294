// The cryptography of a connection without one: what one end has to send, the other one receives.

#include "tls/session.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <tartan/tls/errors.h>
#include <utility>
#include <vector>

#include "tls/context.h"
#include "tls/identity_fixture.h"

namespace tartan::tls::detail {
namespace {

class two_sessions : public testing::Test {
 protected:
  two_sessions() {
    const test::authority::issued own = by_.make("a server", "DNS:a");
    use_identity(*serves_, own.certificate, own.key);
    owned<SSL> server{SSL_new(serves_.get())};
    SSL_set_accept_state(server.get());
    owned<SSL> client{SSL_new(connects_.get())};
    SSL_set_connect_state(client.get());
    far_ = std::make_unique<session>(std::move(server));
    near_ = std::make_unique<session>(std::move(client));
  }

  static void move(session& from, session& to) {
    ASSERT_TRUE(to.receive(from.to_send()));
    from.sent();
  }
  void shake_hands() {
    for (int n = 0; n < 3; ++n) {
      static_cast<void>(near_->handshake());
      move(*near_, *far_);
      static_cast<void>(far_->handshake());
      move(*far_, *near_);
    }
    ASSERT_EQ(near_->handshake(), session::need::nothing);
    ASSERT_EQ(far_->handshake(), session::need::nothing);
  }
  void write(session& by, std::string_view text) {
    std::size_t taken = 0;
    ASSERT_EQ(by.seal(std::as_bytes(std::span{text}), taken), session::need::nothing);
    ASSERT_EQ(taken, text.size());
  }
  session::need read(session& by) { return by.open(room_, got_); }

  test::authority by_;
  owned<SSL_CTX> serves_ = new_context(TLS_server_method());
  owned<SSL_CTX> connects_ = new_context(TLS_client_method());
  std::unique_ptr<session> near_;
  std::unique_ptr<session> far_;
  std::array<std::byte, 100> room_{};
  std::size_t got_ = 0;
};

TEST_F(two_sessions, open_what_the_other_one_has_sealed) {
  shake_hands();
  write(*near_, "some");
  EXPECT_EQ(read(*far_), session::need::input);
  move(*near_, *far_);
  EXPECT_TRUE(far_->has_received());
  EXPECT_EQ(read(*far_), session::need::nothing);
  EXPECT_EQ(got_, 4u);
  EXPECT_EQ(read(*far_), session::need::input);
  near_->finish();
  move(*near_, *far_);
  EXPECT_EQ(read(*far_), session::need::end);
}

TEST_F(two_sessions, keep_what_was_not_sent_yet) {
  shake_hands();
  write(*near_, "some");
  const std::size_t all = near_->to_send().size();
  ASSERT_TRUE(far_->receive(near_->to_send().first(3)));
  ASSERT_TRUE(near_->sent_all_but(all - 3));
  EXPECT_EQ(read(*far_), session::need::input);
  EXPECT_EQ(near_->to_send().size(), all - 3);
  move(*near_, *far_);
  EXPECT_EQ(read(*far_), session::need::nothing);
}

TEST_F(two_sessions, end_with_a_peer_that_asks_for_new_keys_for_ever_and_reads_nothing) {
  shake_hands();
  session::need last = session::need::nothing;
  int asked = 0;
  for (; asked < 100'000 && last == session::need::nothing; ++asked) {
    ASSERT_EQ(SSL_key_update(&near_->ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
    write(*near_, "x");
    move(*near_, *far_);
    last = read(*far_);
  }
  EXPECT_EQ(last, session::need::error);
  EXPECT_EQ(far_->error(), errc::protocol);
  EXPECT_GT(asked, 1000);
}

TEST_F(two_sessions, end_with_a_byte_that_was_changed) {
  shake_hands();
  write(*near_, "some");
  std::vector<std::byte> sealed(near_->to_send().begin(), near_->to_send().end());
  sealed.back() ^= std::byte{1};
  ASSERT_TRUE(far_->receive(sealed));
  EXPECT_EQ(read(*far_), session::need::error);
  EXPECT_EQ(far_->error(), errc::protocol);
  EXPECT_FALSE(far_->to_send().empty()) << "an alert";
}

TEST_F(two_sessions, end_with_a_cut_in_a_message_that_is_longer_than_any) {
  const std::array<std::byte, 5> head{std::byte{22}, std::byte{3}, std::byte{1}, std::byte{0xff}, std::byte{0xff}};
  ASSERT_TRUE(far_->receive(head));
  EXPECT_EQ(far_->handshake(), session::need::error);
  EXPECT_EQ(far_->error(), errc::protocol);
}

}  // namespace
}  // namespace tartan::tls::detail
