/// Large files that are not in memory, on a disk that takes its time.
#include <tartan/core/blocking.h>
#include <tartan/core/yield.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <semaphore>
#include <span>
#include <string>

#include "core/poller.h"
#include "server_fixture.h"
#include "tests/web/failing_disk.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::disk_call;
using test::failing_disk;
using test::get;
using test::head_from;
using test::placed_text;
using test::send;

/// The simulated network's, but for its clock, which goes on while the disk is waited for.
class impatient_poller final : public tartan::detail::poller {
 public:
  explicit impatient_poller(tartan::detail::poller& of) noexcept : of_{of} {}

  void attach(unsigned workers) override { of_.attach(workers); }
  void starts(unsigned worker) noexcept override { of_.starts(worker); }
  [[nodiscard]] std::uint64_t now_ns() noexcept override { return of_.now_ns(); }
  tartan::detail::slept sleep(unsigned worker, tartan::detail::wake_token& token, tartan::detail::sleep_limit limit) noexcept override {
    return of_.sleep(worker, token, limit);
  }
  void wake(unsigned worker, tartan::detail::wake_token& token) noexcept override { of_.wake(worker, token); }
  void deliver(unsigned worker) noexcept override { of_.deliver(worker); }
  bool harvest(unsigned worker) noexcept override { return of_.harvest(worker); }
  [[nodiscard]] tartan::detail::io_system* sockets() noexcept override { return of_.sockets(); }

 private:
  tartan::detail::poller& of_;
};

class a_server_of_one_slow_disk : public test::a_server {
 protected:
  a_server_of_one_slow_disk() {
    write("large", all_);
    with_.pages.open_files = 0;
    options_.blocking_threads = 1;
  }
  [[nodiscard]] tartan::detail::poller* poller_of(tartan::simulation& world) override { return &poller_.emplace(*world.poller()); }

  /// The only thread for the disk is busy for so long.
  [[nodiscard]] static tartan::task<> keep_busy(std::chrono::nanoseconds time) {
    std::binary_semaphore gate{0};
    std::binary_semaphore is_over{0};
    EXPECT_TRUE(tartan::blocking(tartan::color{8}, [&] { gate.acquire(); }, [&](const tartan::result<>&) { is_over.release(); }));
    co_await test::pass(time);
    gate.release();
    while (!is_over.try_acquire()) co_await tartan::yield();
  }

  /// For each piece the disk takes so long, and the client so long.
  [[nodiscard]] tartan::task<> expect_all(tartan::tcp::stream& c, std::chrono::nanoseconds of_disk, std::chrono::nanoseconds of_client) const {
    const failing_disk asked{disk_call::preadv2, EAGAIN, 1'000'000};
    co_await send(c, get("/large"));
    const std::string head = co_await head_from(c);
    std::string body = head.substr(head.find("\r\n\r\n") + 4);
    std::string room(60'000, ' ');
    while (body.size() < all_.size()) {
      co_await keep_busy(of_disk);
      co_await test::pass(of_client);
      const auto got = co_await c.read_some(std::as_writable_bytes(std::span{room}));
      if (!got) break;
      body.append(room, 0, *got);
    }
    EXPECT_TRUE(body == all_) << body.size();
  }

  const std::string all_ = placed_text(4 * large);

 private:
  std::optional<impatient_poller> poller_;
};
INSTANTIATE_TEST_SUITE_P(on, a_server_of_one_slow_disk, testing::Values(1u));

/// It has a second for 256 KB.
TEST_P(a_server_of_one_slow_disk, lets_no_client_pay_for_the_time_that_it_takes) {
  with_.times.write = 1s;
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> { co_await expect_all(c, 900ms, 0ms); });
}

/// Who is slow for 10 s may lose its place to one that waits for it.
TEST_P(a_server_of_one_slow_disk, lets_no_client_lose_its_place_for_the_time_that_it_takes) {
  with_.max_connections = 1;
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const auto waits = co_await tartan::tcp::connect(*c.peer_address());
    EXPECT_TRUE(waits);
    co_await expect_all(c, 5s, 1500ms);
  });
}

}  // namespace
}  // namespace web
