// Descriptors whose turn comes later are looked at before it: of whatever kind what waits on them is.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task.h>
#include <tartan/io/tcp.h>
#include <utility>
#include <vector>

#include "io/source_fixture.h"

namespace tartan {
namespace {

/// Each is waited for in one of three ways; the second time nobody waits for the third kind any more.
class descriptors_of_a_long_line : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::size_t count = 60;
  enum class kind : std::uint8_t { coroutine, callback, once };
  [[nodiscard]] static kind kind_of(std::size_t n) { return static_cast<kind>(n % 3); }

  descriptors_of_a_long_line() {
    for (std::size_t n = 0; n < count; ++n) {
      peers_.push_back(std::make_unique<test::wire>());
      streams_.push_back(*tcp::stream::from_fd(rt_, std::exchange(peers_[n]->ends[0], -1), color{n + 1}));
    }
  }

  /// All become ready while one event runs, so that they wait in line.
  void begins() {
    const std::size_t now = ++begun_;
    if (now != count && now != count + count / 3 * 2) return;
    rt_.post(color{}, [this] {
      for (const auto& each : peers_) each->send();
    });
  }
  [[nodiscard]] std::span<std::byte> room(std::size_t n) { return std::span{bytes_}.subspan(n, 1); }

  task<> read(std::size_t n) {
    for (int times = kind_of(n) == kind::once ? 1 : 2; times > 0; --times) {
      begins();
      const result<std::size_t> got = co_await streams_[n].read_some(room(n));
      served_ += got ? *got : 0;
    }
  }
  void read(std::size_t n, int times) {
    if (times == 0) return;
    begins();
    streams_[n].read_some(room(n), [this, n, times](const result<std::size_t>& got) {
      served_ += got ? *got : 0;
      read(n, times - 1);
    });
  }

  runtime rt_{{.workers = GetParam()}};
  std::vector<std::unique_ptr<test::wire>> peers_;
  std::vector<tcp::stream> streams_;
  std::array<std::byte, count> bytes_{};
  std::atomic<std::size_t> begun_{0};
  std::atomic<std::size_t> served_{0};
};
INSTANTIATE_TEST_SUITE_P(workers, descriptors_of_a_long_line, testing::Values(1u, 2u));

TEST_P(descriptors_of_a_long_line, are_served_whoever_waits_for_them) {
  for (std::size_t n = 0; n < count; ++n) {
    if (kind_of(n) == kind::callback) {
      rt_.post(color{n + 1}, [this, n] { read(n, 2); });
    } else {
      rt_.spawn_in(color{n + 1}, read(n)).detach();
    }
  }
  rt_.run_until_idle();
  EXPECT_EQ(served_, count + count / 3 * 2);
}

}  // namespace
}  // namespace tartan
