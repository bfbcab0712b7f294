#include <tartan/io/tcp.h>

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tartan/core/post.h>
#include <tartan/core/yield.h>
#include <tartan/io/udp.h>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>
#include <thread>
#include <utility>
#include <vector>

#include "io/connection.h"
#include "tests/connected_socket.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using test::door;
using test::here_color;

class tcp_listeners : public test::with_objects_on_either {
 protected:
  std::unique_ptr<door> make(const tcp::listen_options& with = {.color = here_color}) {
    return std::unique_ptr<door>{new door{tcp::listen(rt(), "127.0.0.1:0", with)}};
  }
};
INSTANTIATE_TEST_SUITE_P(on, tcp_listeners, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(tcp_listeners, end_an_accept_in_every_way) {
  ends_in_every_way(test::operation_under_test{[this] { return make(); }, [](door& d) { return d.at.accept(here_color); },
                                               [](door& d, auto f) { d.at.accept(here_color, std::move(f)); },
                                               [](door& d) { d.knock(); }});
}

TEST_P(tcp_listeners, give_each_connection_a_color_of_its_own_or_the_one_that_is_wanted) {
  in_color([&]() -> task<> {
    const auto d = make();
    for (int n = 0; n < 3; ++n) d->knock();
    const auto one = co_await d->at.accept();
    const auto other = co_await d->at.accept();
    EXPECT_NE(one->color(), other->color());
    EXPECT_NE(one->color(), here_color);
    const auto wanted = co_await d->at.accept(color{99});
    EXPECT_EQ(wanted->color(), color{99});
  });
}

/// Connects so often at once, and accepts all.
class bursts : public tcp_listeners {
 protected:
  static constexpr std::size_t peers = 1000;

  void burst(unsigned batch) {
    std::deque<tcp::stream> accepted;
    std::deque<tcp::stream> connected;
    in_color([&]() -> task<> {
      auto d = make({.batch = batch, .color = here_color});
      const address at = *d->at.local_address();
      for (std::size_t n = 0; n < peers; ++n) {
        tcp::connect(at, [&](result<tcp::stream> made) {
          EXPECT_TRUE(made) << made.error().message();
          if (made) connected.push_back(std::move(*made));
        });
      }
      while (accepted.size() < peers) {
        auto got = co_await d->at.accept(here_color);
        EXPECT_TRUE(got) << got.error().message();
        if (!got) break;
        accepted.push_back(std::move(*got));
      }
      co_await until([&] { return connected.size() == peers; });
      // Each of them is one of those.
      std::vector<bool> seen(65'536);
      for (const tcp::stream& each : accepted) seen[each.peer_address()->port()] = true;
      for (const tcp::stream& each : connected) EXPECT_TRUE(seen[each.local_address()->port()]);
      accepted.clear();
      connected.clear();
    });
  }
};
INSTANTIATE_TEST_SUITE_P(on, bursts, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(bursts, are_accepted_completely) { burst(tcp::listen_options{}.batch); }
TEST_P(bursts, are_accepted_completely_one_at_a_time) { burst(1); }

/// Connections that wait in a listener of the kernel's.
std::uint32_t waiting_at(const tcp::listener& at) {
  tcp_info info{};
  socklen_t size = sizeof info;
  EXPECT_EQ(::getsockopt(at.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
  return info.tcpi_unacked;
}

class tcp_listeners_of_the_kernel : public test::with_objects {
 protected:
  /// The most connections, of 20 that wait, that are accepted before another event of that color runs.
  std::size_t most_in_one_turn(unsigned batch, bool taken_over = false) {
    std::size_t most = 0;
    in_color([&]() -> task<> {
      door d{tcp::listen(rt(), "127.0.0.1:0", {.batch = batch, .color = here_color})};
      if (taken_over) d.at = *tcp::listener::from_fd(d.at.release(), here_color, batch);
      std::size_t accepted = 0;
      std::deque<tcp::stream> held;
      tcp::listener& at = d.at;
      for (int n = 0; n < 20; ++n) {
        at.accept(here_color, [&](result<tcp::stream> got) {
          held.push_back(std::move(*got));
          ++accepted;
        });
      }
      for (int n = 0; n < 20; ++n) tcp::connect(*at.local_address(), [&](result<tcp::stream> made) { held.push_back(std::move(*made)); });
      test::spin_until([&] { return waiting_at(at) == 20; });
      for (std::size_t before = 0; held.size() < 40; before = accepted) {
        co_await yield();
        most = std::max(most, accepted - before);
      }
    });
    return most;
  }
};
INSTANTIATE_TEST_SUITE_P(on, tcp_listeners_of_the_kernel, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(tcp_listeners_of_the_kernel, of_ipv6_take_ipv4_as_well_or_leave_it_to_another_one) {
  if (!test::has_ipv6()) {
    EXPECT_EQ(tcp::try_listen(rt(), *address::parse("[::]:0")).error(), std::errc::address_family_not_supported);
    return;
  }
  const tcp::listener ipv4 = tcp::listen(rt(), "0.0.0.0:0");
  const address same_port = *address::parse("[::]:" + std::to_string(ipv4.local_address()->port()));
  EXPECT_EQ(tcp::try_listen(rt(), same_port).error(), std::errc::address_in_use);
  EXPECT_TRUE(tcp::try_listen(rt(), same_port, {.ipv6_only = true}));
  in_color([&]() -> task<> {
    tcp::listener both = tcp::listen(rt(), "[::]:0", {.color = here_color});
    const auto client = co_await tcp::connect(address::loopback(both.local_address()->port()));
    EXPECT_TRUE(client);
    const auto peer = co_await both.accept();
    EXPECT_TRUE(peer->peer_address()->to_string().starts_with("[::ffff:127.0.0.1]:")) << peer->peer_address()->to_string();
  });
}

TEST_P(tcp_listeners_of_the_kernel, accept_no_more_in_one_event_than_their_batch) {
  EXPECT_EQ(most_in_one_turn(1), 1u);
  EXPECT_EQ(most_in_one_turn(16), 16u);
  EXPECT_EQ(most_in_one_turn(64), 20u);
  EXPECT_EQ(most_in_one_turn(3, true), 3u);
}

TEST_P(tcp_listeners, are_not_made_of_anything_else) {
  in_color([&]() -> task<> {
    const auto refused = [&system = test::system_here()](int domain, int type) {
      const int descriptor = system.open_socket(domain, type, 0);
      const auto made = tcp::listener::from_fd(descriptor, here_color);
      int its_type = 0;
      socklen_t size = sizeof its_type;
      EXPECT_EQ(system.get_option(descriptor, SOL_SOCKET, SO_TYPE, &its_type, &size), 0) << "it is still the caller's";
      system.close(descriptor);
      return made.error();
    };
    EXPECT_EQ(refused(AF_INET, SOCK_STREAM), std::errc::invalid_argument);
    EXPECT_EQ(refused(AF_INET, SOCK_DGRAM), std::errc::invalid_argument);
    EXPECT_EQ(refused(AF_UNIX, SOCK_STREAM), std::errc::address_family_not_supported);
    EXPECT_EQ(tcp::listener::from_fd(-1, here_color).error(), std::errc::bad_file_descriptor);
    const auto unix_address = address::unix_path("@tartan-no-tcp");
    EXPECT_EQ(tcp::try_listen(rt(), *unix_address).error(), std::errc::address_family_not_supported);
    co_return;
  });
}

TEST_P(tcp_listeners, are_given_away_and_taken_over) {
  tcp::listener kept = tcp::listen(rt(), "127.0.0.1:0");
  const address at = *kept.local_address();
  kept = *tcp::listener::from_fd(rt(), kept.release(), here_color);
  EXPECT_EQ(kept.color(), here_color);
  in_color([&]() -> task<> {
    const auto near = co_await tcp::connect(at);
    EXPECT_TRUE(near) << near.error().message();
    const auto far = co_await kept.accept();
    EXPECT_EQ(*far->peer_address(), *near->local_address());
    rt().stop();
  });
  EXPECT_TRUE(rt().drain(10s).complete);
  EXPECT_FALSE(kept.is_open()) << "as all listeners after a stop";
}

/// In a world that holds seven sockets.
class listeners_without_descriptors : public tcp_listeners {};
INSTANTIATE_TEST_SUITE_P(on, listeners_without_descriptors, testing::ValuesIn(test::places_on(test::machine::simulated)), test::place_name);

TEST_P(listeners_without_descriptors, take_one_more_connection_at_each_close) {
  world_with.most_descriptors = 7;
  std::deque<tcp::stream> accepted;
  in_color([&]() -> task<> {
    const auto d = make();
    std::deque<tcp::stream> peers;
    for (int n = 0; n < 3; ++n) peers.push_back(*co_await tcp::connect(*d->at.local_address()));
    std::deque<udp::socket> others;
    for (int n = 0; n < 3; ++n) others.push_back(udp::bind(rt(), "127.0.0.1:0", {.color = here_color}));
    const auto began = rt().now();
    for (udp::socket& each : others) {
      const std::size_t before = accepted.size();
      d->at.accept(here_color, [&](result<tcp::stream> got) { accepted.push_back(std::move(*got)); });
      co_await moment();
      EXPECT_EQ(accepted.size(), before);
      each.close();
      co_await until([&] { return accepted.size() > before; });
    }
    EXPECT_LT(rt().now() - began, 100ms) << "the timer let one in, and no close";
    accepted.clear();
  });
}

TEST_P(listeners_without_descriptors, tell_of_it_each_time_that_they_pause) {
  world_with.most_descriptors = 7;
  std::vector<std::error_code> told;
  in_color([&]() -> task<> {
    const auto d = make();
    d->at.on_shortage([&](std::error_code why) {
      EXPECT_EQ(current_color(), here_color);
      told.push_back(why);
    });
    std::deque<tcp::stream> peers;
    for (int n = 0; n < 3; ++n) peers.push_back(*co_await tcp::connect(*d->at.local_address()));
    std::deque<udp::socket> others;
    for (int n = 0; n < 3; ++n) others.push_back(udp::bind(rt(), "127.0.0.1:0", {.color = here_color}));
    bool accepted = false;
    d->at.accept(here_color, [&](const result<tcp::stream>& got) { accepted = static_cast<bool>(got); });
    EXPECT_TRUE(told.empty()) << "not before the call has returned";
    co_await moment();
    EXPECT_TRUE(told.size() == 1 && told.front() == std::errc::too_many_files_open) << told.size();
    static_cast<void>(co_await tartan::sleep(250ms));
    EXPECT_EQ(told.size(), 3u) << "each 100 ms";
    d->at.on_shortage({});
    static_cast<void>(co_await tartan::sleep(250ms));
    EXPECT_EQ(told.size(), 3u);
    others.front().close();
    co_await until([&] { return accepted; });
    d->at.close();
    d->at.on_shortage([](std::error_code) {});
  });
}

TEST_P(tcp_listeners, share_a_port_if_they_both_want_it_and_refuse_it_else) {
  const tcp::listener one = tcp::listen(rt(), "127.0.0.1:0", {.reuse_port = true});
  EXPECT_TRUE(tcp::try_listen(rt(), *one.local_address(), {.reuse_port = true}));
  EXPECT_EQ(tcp::try_listen(rt(), *one.local_address()).error(), std::errc::address_in_use);
  EXPECT_THROW(static_cast<void>(tcp::listen(rt(), *one.local_address())), std::system_error);
  EXPECT_THROW(static_cast<void>(tcp::listen(rt(), "nonsense")), std::invalid_argument);
}

TEST_P(tcp_listeners, of_other_threads_are_closed_or_refused_when_the_runtime_stops) {
  runtime& all = rt();
  std::vector<tcp::listener> made;
  all.post([&] { all.stop(); });
  std::thread other{[&] {
    // Each is closed by an event; a process has but so many descriptors for those whose event has not run.
    const auto not_closed = std::make_shared<int>();
    for (;;) {
      while (not_closed.use_count() > 100) std::this_thread::yield();
      auto one = tcp::try_listen(all, *address::parse("127.0.0.1:0"));
      if (!one) {
        EXPECT_EQ(one.error(), errc::canceled);
        return;
      }
      if (made.empty()) made.push_back(std::move(*one));
      *one = {};
      all.post([not_closed] {});
    }
  }};
  EXPECT_EQ(all.run(), 0);
  other.join();
  for (const tcp::listener& each : made) EXPECT_FALSE(each.is_open());
  EXPECT_EQ(tcp::try_listen(all, *address::parse("127.0.0.1:0")).error(), errc::canceled);
}

TEST_P(tcp_listeners, are_refused_to_who_goes_on_after_stop) {
  runtime& all = rt();
  std::error_code said;
  all.post([&] {
    all.stop();
    post([&] { said = tcp::try_listen(all, *address::parse("127.0.0.1:0")).error(); });
  });
  EXPECT_EQ(all.run(), 0);
  EXPECT_EQ(said, errc::canceled);
}

/// What connects.
class connecting : public tcp_listeners {
 protected:
  /// A listener that takes nobody more: who comes now waits.
  task<std::unique_ptr<door>> make_full() {
    auto d = make({.backlog = 1, .color = here_color});
    // The kernel takes one more than it was asked to.
    const std::size_t begun = simulated() ? 1 : 2;
    for (std::size_t n = 0; n < begun; ++n) {
      auto made = co_await tcp::connect(*d->at.local_address());
      EXPECT_TRUE(made) << made.error().message();
      if (made) inside_.push_back(std::move(*made));
    }
    if (!simulated()) test::spin_until([&] { return waiting_at(d->at) == begun; });
    co_return d;
  }
  void TearDown() override {
    inside_.clear();
    tcp_listeners::TearDown();
  }
  std::deque<tcp::stream> inside_;
};
INSTANTIATE_TEST_SUITE_P(on, connecting, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(connecting, ends_when_somebody_is_there) {
  in_color([&]() -> task<> {
    const auto d = make();
    const auto made = co_await tcp::connect(*d->at.local_address());
    EXPECT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->color(), here_color);
    EXPECT_EQ(*made->peer_address(), *d->at.local_address());
    bool called = false;
    tcp::connect(*d->at.local_address(), [&](result<tcp::stream> other) {
      EXPECT_TRUE(other);
      called = true;
    });
    EXPECT_FALSE(called) << "called back inside the call";
    co_await until([&] { return called; });
  });
}

TEST_P(connecting, fails_when_nobody_is_there) {
  in_color([&]() -> task<> {
    auto d = make();
    const address at = *d->at.local_address();
    d->close();
    EXPECT_EQ((co_await tcp::connect(at)).error(), std::errc::connection_refused);
    bool called = false;
    tcp::connect(at, [&](const result<tcp::stream>& made) {
      EXPECT_EQ(made.error(), std::errc::connection_refused);
      called = true;
    });
    co_await until([&] { return called; });
    EXPECT_EQ((co_await tcp::connect(address{})).error(), std::errc::address_family_not_supported) << "nowhere";
    const auto unix_address = address::unix_path("@tartan-no-tcp");
    EXPECT_EQ((co_await tcp::connect(*unix_address)).error(), std::errc::address_family_not_supported);
  });
}

TEST_P(connecting, ends_later_canceled_or_timed_out_while_it_waits) {
  in_color([&]() -> task<> {
    const auto d = co_await make_full();
    const address at = *d->at.local_address();
    auto canceled = spawn_in(here_color, [&]() -> task<> { EXPECT_EQ((co_await tcp::connect(at)).error(), errc::canceled); });
    co_await tartan::yield();
    canceled.cancel();
    co_await canceled.join();
    EXPECT_EQ((co_await with_timeout(1ms, tcp::connect(at))).error(), errc::timed_out);
    inside_.clear();
  });
}

TEST_P(connecting, with_a_callback_takes_no_longer_than_its_limit) {
  in_color([&]() -> task<> {
    const auto full = co_await make_full();
    bool called = false;
    tcp::connect(*full->at.local_address(), 1ms, [&](const result<tcp::stream>& made) {
      EXPECT_EQ(made.error(), errc::timed_out);
      called = true;
    });
    co_await until([&] { return called; });
    inside_.clear();
    const auto d = make();
    called = false;
    tcp::connect(*d->at.local_address(), 1h, [&](const result<tcp::stream>& made) {
      EXPECT_TRUE(made) << made.error().message();
      EXPECT_EQ(made->color(), here_color);
      EXPECT_EQ(current_color(), here_color);
      called = true;
    });
    EXPECT_FALSE(called) << "called back inside the call";
    co_await until([&] { return called; });
  });
}

// As when something else than its end had made an edge.
TEST_P(connecting, is_not_over_because_it_is_looked_at) {
  in_color([&]() -> task<> {
    const auto full = co_await make_full();
    detail::begun_connection begun =
        detail::begin_connection(detail::transport::tcp, *full->at.local_address(), address{},
                                 std::source_location::current());
    const detail::slot_key key = begun.key();
    bool over = false;
    detail::start_io<detail::connect_op<tcp::stream>>([&](const result<tcp::stream>&) { over = true; },
                                                      std::source_location::current(), std::move(begun));
    co_await tartan::yield();
    key.slot->retry(detail::flow::out);
    co_await tartan::yield();
    co_await tartan::yield();
    EXPECT_FALSE(over);
    key.slot->cancel_all(make_error_code(errc::canceled));
    co_await until([&] { return over; });
    inside_.clear();
  });
}

TEST_P(connecting, ends_as_canceled_after_stop) {
  int ended = 0;
  spawn_in(rt(), here_color, [&]() -> task<> {
    const auto d = co_await make_full();
    const address at = *d->at.local_address();
    tcp::connect(at, [&](const result<tcp::stream>& made) {
      EXPECT_EQ(made.error(), errc::canceled);
      ++ended;
    });
    tcp::connect(at, 1h, [&](const result<tcp::stream>& made) {
      EXPECT_EQ(made.error(), errc::canceled);
      ++ended;
    });
    post(here_color, [&] { rt().stop(); });
    EXPECT_EQ((co_await tcp::connect(at)).error(), errc::canceled);
    EXPECT_EQ((co_await tcp::connect(at)).error(), errc::canceled) << "is not waited for";
    ended += 2;
    while (ended < 4) co_await tartan::yield();
    inside_.clear();
  }).detach();
  EXPECT_EQ(rt().run(), 0);
  EXPECT_EQ(ended, 4);
  end_runtime();
}

}  // namespace
}  // namespace tartan
