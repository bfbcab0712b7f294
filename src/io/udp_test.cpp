#include <tartan/io/udp.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <string>
#include <vector>

#include "io/object_fixture.h"

namespace tartan {
namespace {

using test::bytes_of;
using test::here_color;

struct two_sockets {
  udp::socket near;
  udp::socket far;
  std::array<std::byte, 16> room{};

  void close() { near.close(); }
  void cancel() { near.cancel(); }
  [[nodiscard]] bool is_open() const { return near.is_open(); }
  void send_here(std::string_view text) {
    const address to = *near.local_address();
    iovec part{const_cast<char*>(text.data()), text.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_name = const_cast<sockaddr*>(to.data());
    message.msg_namelen = to.size();
    EXPECT_EQ(test::system_here().send_message(far.native_handle(), message, 0), static_cast<ssize_t>(text.size()));
  }
};

template <class Base>
class with_two_sockets : public Base {
 protected:
  std::unique_ptr<two_sockets> make() {
    const udp::options in_color{.color = here_color};
    return std::unique_ptr<two_sockets>{
        new two_sockets{udp::bind(this->rt(), "127.0.0.1:0", in_color), udp::bind(this->rt(), "127.0.0.1:0", in_color)}};
  }
};
class datagrams : public with_two_sockets<test::with_objects_on_either> {};
INSTANTIATE_TEST_SUITE_P(on, datagrams, testing::ValuesIn(test::both_machines()), test::place_name);
/// Where they keep their order, and come from elsewhere.
class datagrams_of_the_kernel : public with_two_sockets<test::with_objects> {};
INSTANTIATE_TEST_SUITE_P(on, datagrams_of_the_kernel, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(datagrams, end_a_receive_in_every_way) {
  ends_in_every_way(test::operation_under_test{[&] { return make(); }, [](two_sockets& s) { return s.near.receive(s.room); },
                                               [](two_sockets& s, auto f) { s.near.receive(s.room, std::move(f)); },
                                               [](two_sockets& s) { s.send_here("x"); }});
}

TEST_P(datagrams, end_a_receive_from_anybody_in_every_way) {
  ends_in_every_way(test::operation_under_test{[&] { return make(); }, [](two_sockets& s) { return s.near.receive_from(s.room); },
                                               [](two_sockets& s, auto f) { s.near.receive_from(s.room, std::move(f)); },
                                               [](two_sockets& s) { s.send_here("x"); }});
}

TEST_P(datagrams, go_there_and_back) {
  in_color([&]() -> task<> {
    auto s = make();
    EXPECT_TRUE(co_await s->far.send_to(bytes_of("there"), *s->near.local_address()));
    const auto got = co_await s->near.receive_from(s->room);
    EXPECT_EQ(got->bytes, 5u);
    EXPECT_FALSE(got->truncated);
    EXPECT_EQ(got->from, *s->far.local_address());
    int called = 0;
    s->near.send_to(bytes_of("back"), got->from, [&](result<> sent) {
      EXPECT_TRUE(sent);
      ++called;
    });
    EXPECT_EQ(called, 0);
    const auto back = co_await s->far.receive(s->room);
    EXPECT_EQ(back->bytes, 4u);
    co_await yield();
    EXPECT_EQ(called, 1);
  });
}

TEST_P(datagrams_of_the_kernel, may_be_empty_or_cut_off) {
  in_color([&]() -> task<> {
    auto s = make();
    s->send_here("");
    s->send_here("0123456789abcdefghij");
    s->send_here("0123456789abcdef");
    const auto empty = co_await s->near.receive(s->room);
    EXPECT_EQ(empty->bytes, 0u);
    const auto cut = co_await s->near.receive(s->room);
    EXPECT_EQ(cut->bytes, 16u);
    EXPECT_TRUE(cut->truncated);
    const auto fits = co_await s->near.receive(s->room);
    EXPECT_EQ(fits->bytes, 16u);
    EXPECT_FALSE(fits->truncated);
  });
}

TEST_P(datagrams, come_from_the_connected_peer_only) {
  in_color([&]() -> task<> {
    auto s = make();
    EXPECT_EQ((co_await s->near.send(bytes_of("x"))).error(), std::errc::destination_address_required);
    EXPECT_TRUE(s->near.connect(*s->far.local_address()));
    EXPECT_EQ(*s->near.peer_address(), *s->far.local_address());
    auto stranger = make();
    EXPECT_TRUE(co_await stranger->far.send_to(bytes_of("stranger"), *s->near.local_address()));
    s->send_here("peer");
    EXPECT_EQ((co_await s->near.receive(s->room))->bytes, 4u);
    EXPECT_TRUE(co_await s->near.send(bytes_of("reply")));
    EXPECT_EQ((co_await s->far.receive(s->room))->bytes, 5u);
    // Nobody is there any more: told by a later call, and the socket goes on.
    s->far.close();
    EXPECT_TRUE(co_await s->near.send(bytes_of("anybody?")));
    EXPECT_EQ((co_await s->near.receive(s->room)).error(), std::errc::connection_refused);
    EXPECT_TRUE(s->near.is_open());
  });
}

TEST_P(datagrams_of_the_kernel, give_the_systems_errors) {
  in_color([&]() -> task<> {
    auto s = make();
    const std::vector<std::byte> much(70'000);
    EXPECT_EQ((co_await s->near.send_to(much, *s->far.local_address())).error(), std::errc::message_size);
    EXPECT_EQ(udp::try_bind(rt(), *s->near.local_address()).error(), std::errc::address_in_use);
    EXPECT_EQ(udp::try_bind(rt(), *address::unix_path("@x")).error(), std::errc::address_family_not_supported);
    EXPECT_EQ((co_await s->near.send_to(bytes_of("x"), *address::parse("255.255.255.255:9"))).error(), std::errc::permission_denied);
    EXPECT_TRUE(s->near.set_receive_buffer(30'000));
    EXPECT_EQ(*s->near.option(SOL_SOCKET, SO_RCVBUF), 60'000);
    EXPECT_TRUE(s->near.set_send_buffer(30'000));
  });
  EXPECT_THROW(static_cast<void>(udp::bind(rt(), "nonsense")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(udp::bind(rt(), "192.0.2.1:9")), std::system_error);
}

TEST_P(datagrams, share_a_port_if_they_both_want_it) {
  const udp::options shared{.reuse_port = true, .broadcast = true, .color = here_color};
  const udp::socket one = udp::bind(rt(), "127.0.0.1:0", shared);
  const auto other = udp::try_bind(rt(), *one.local_address(), shared);
  EXPECT_TRUE(other) << other.error().message();
  EXPECT_EQ(*one.option(SOL_SOCKET, SO_BROADCAST), 1);
}

TEST_P(datagrams_of_the_kernel, are_taken_over_from_elsewhere) {
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  udp::socket outside = *udp::socket::from_fd(rt(), descriptor, here_color);
  in_color([&]() -> task<> {
    auto s = make();
    EXPECT_TRUE(co_await outside.send_to(bytes_of("x"), *s->near.local_address()));
    EXPECT_EQ((co_await s->near.receive(s->room))->bytes, 1u);
    EXPECT_EQ(udp::socket::from_fd(-1, here_color).error(), std::errc::bad_file_descriptor);
  });
}

/// Rooms for datagrams of up to 8 bytes.
struct places {
  std::array<std::array<char, 8>, udp::max_datagrams_per_call + 6> rooms{};
  std::array<udp::incoming, udp::max_datagrams_per_call + 6> all{};

  places() {
    for (std::size_t n = 0; n < all.size(); ++n) all[n].room = rooms[n];
  }
  [[nodiscard]] std::string_view text(std::size_t n) const { return {rooms[n].data(), all[n].bytes}; }
};

TEST_P(datagrams, end_a_receive_of_many_in_every_way) {
  places into;
  ends_in_every_way(test::operation_under_test{[&] { return make(); },
                                               [&](two_sockets& s) { return s.near.receive_many(into.all); },
                                               [&](two_sockets& s, auto f) {
                                                 s.near.receive_many(into.all, std::move(f));
                                               },
                                               [](two_sockets& s) { s.send_here("x"); }});
}

TEST_P(datagrams_of_the_kernel, are_received_together) {
  in_color([&]() -> task<> {
    auto s = make();
    s->send_here("one");
    s->send_here("");
    s->send_here("three is cut off");
    places into;
    EXPECT_EQ(*co_await s->near.receive_many(into.all), 3u);
    EXPECT_EQ(into.text(0), "one");
    EXPECT_EQ(into.text(1), "");
    EXPECT_FALSE(into.all[1].truncated);
    EXPECT_EQ(into.text(2), "three is");
    EXPECT_TRUE(into.all[2].truncated);
    EXPECT_EQ(into.all[2].from, *s->far.local_address());
    // As many as there are places, and no more than one call takes.
    for (int n = 0; n < 70; ++n) s->send_here("x");
    EXPECT_EQ(*co_await s->near.receive_many(std::span{into.all}.first(2)), 2u);
    EXPECT_EQ(*co_await s->near.receive_many(into.all), udp::max_datagrams_per_call);
    EXPECT_EQ(*co_await s->near.receive_many(into.all), 4u);
    EXPECT_EQ(*co_await s->near.receive_many({}), 0u);
  });
}

TEST_P(datagrams, are_sent_together) {
  world_with.loss_percent = 0;
  in_color([&]() -> task<> {
    auto s = make();
    const address to = *s->near.local_address();
    std::vector<udp::outgoing> all;
    for (int n = 0; n < 100; ++n) all.push_back({.bytes = n % 2 == 0 ? "even" : "odd", .to = to});
    EXPECT_EQ(*co_await s->far.send_many(all), 100u);
    places into;
    std::size_t evens = 0;
    for (std::size_t got = 0; got < 100;) {
      const auto some = co_await s->near.receive_many(into.all);
      EXPECT_TRUE(some);
      if (!some) co_return;
      for (std::size_t n = 0; n < *some; ++n) evens += into.text(n) == "even" ? 1 : 0;
      got += *some;
    }
    EXPECT_EQ(evens, 50u);
    EXPECT_EQ(*co_await s->far.send_many({}), 0u);
    bool called = false;
    s->far.send_many(std::span{all}.first(3), [&](result<std::size_t> sent) { called = *sent == 3; });
    co_await until([&] { return called; });
  });
}

TEST_P(datagrams, are_sent_together_up_to_the_first_that_fails) {
  in_color([&]() -> task<> {
    auto s = make();
    const address to = *s->near.local_address();
    const std::vector<std::byte> too_much(70'000);
    std::vector<udp::outgoing> all;
    all.push_back({.bytes = "one", .to = to});
    all.push_back({.bytes = "two", .to = to});
    all.push_back({.bytes = too_much, .to = to});
    all.push_back({.bytes = "four", .to = to});
    EXPECT_EQ(*co_await s->far.send_many(all), 2u);
    EXPECT_EQ((co_await s->far.send_many(std::span{all}.subspan(2))).error(), std::errc::message_size);
    all.front().to = {};
    EXPECT_EQ((co_await s->far.send_many(all)).error(), std::errc::destination_address_required);
    EXPECT_TRUE(s->far.connect(to));
    EXPECT_EQ(*co_await s->far.send_many(std::span{all}.first(1)), 1u);
  });
}

}  // namespace
}  // namespace tartan
