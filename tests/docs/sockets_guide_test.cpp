/// What docs/guide/sockets.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <tartan/tartan.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace {

using namespace std::chrono_literals;

/// A client library with a descriptor.
class database {
 public:
  database() = default;
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  ~database() { ::close(event_); }
  [[nodiscard]] int descriptor() const { return event_; }
  [[nodiscard]] bool is_busy() const { return parts_ < 3; }
  void read_what_is_there() {
    std::uint64_t some = 0;
    if (::read(event_, &some, sizeof some) > 0) ++parts_;
  }
  void part_comes() const {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(event_, &one, sizeof one), 8);
  }

 private:
  int event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int parts_ = 0;
};

tartan::task<> count(tartan::udp::socket& s, std::size_t& bytes) {
  std::array<std::array<std::byte, 1500>, 32> rooms;
  std::array<tartan::udp::incoming, 32> places;
  for (std::size_t n = 0; n < places.size(); ++n) places[n].room = rooms[n];
  while (auto got = co_await s.receive_many(places)) {  // false: closed or canceled
    for (std::size_t n = 0; n < *got; ++n) bytes += places[n].bytes;
  }
}

tartan::task<tartan::result<tartan::tcp::stream>> connect_from(tartan::address to, tartan::address from) {
  const tartan::tcp::connect_options with{.local_address = from};
  co_return co_await tartan::tcp::connect(to, with);
}

tartan::task<bool> wait_for_answer(database& db) {
  auto watch = tartan::descriptor_watch::of(db.descriptor());
  if (!watch) co_return false;
  while (db.is_busy()) {
    const auto ready = co_await tartan::with_timeout(30s, watch->readable());
    if (!ready) co_return false;
    db.read_what_is_there();
  }
  co_return true;
}

TEST(sockets_guide, datagrams_are_counted) {
  tartan::runtime rt;
  auto s = tartan::udp::bind(rt, "127.0.0.1:0");
  std::size_t bytes = 0;
  rt.spawn([&]() -> tartan::task<> {
    auto counting = tartan::spawn(count, std::ref(s), std::ref(bytes));
    const tartan::address to = *s.local_address();
    const std::array<tartan::udp::outgoing, 2> all{{{.bytes = "one", .to = to}, {.bytes = "three", .to = to}}};
    const auto sent = co_await s.send_many(all);
    EXPECT_EQ(*sent, 2u);
    while (bytes < 8) co_await tartan::yield();
    s.close();
    co_await counting.join();
  }).detach();
  rt.run_until_idle();
  EXPECT_EQ(bytes, 8u);
}

TEST(sockets_guide, connections_come_from_a_given_address) {
  tartan::runtime rt;
  const auto door = tartan::tcp::listen(rt, "127.0.0.1:0");
  rt.spawn([&]() -> tartan::task<> {
    const tartan::address from = *tartan::address::parse("127.0.0.2:0");
    const auto made = co_await connect_from(*door.local_address(), from);
    EXPECT_EQ(made->local_address()->with_port(0), from);
  }).detach();
  rt.run_until_idle();
}

TEST(sockets_guide, another_librarys_descriptor_is_waited_for) {
  tartan::runtime rt;
  database db;
  bool answered = false;
  rt.spawn([&]() -> tartan::task<> { answered = co_await wait_for_answer(db); }).detach();
  rt.spawn([&]() -> tartan::task<> {
    while (db.is_busy()) {
      db.part_comes();
      co_await tartan::yield();
    }
  }).detach();
  rt.run_until_idle();
  EXPECT_TRUE(answered);
}

}  // namespace
