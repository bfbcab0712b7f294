/// Checks of pages ahead of time that are under way when the server ends. The disk's only thread has another job, behind which they wait: to the
/// disk they would be questions that it does not answer.
#include <tartan/core/await_blocking.h>
#include <tartan/core/spawn.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <semaphore>
#include <string>
#include <utility>

#include "web/server_fixture.h"
#include "tests/web/failing_disk.h"
#include "tests/workers.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::a_server;
using test::get;
using test::hear;
using test::pass;
using test::send;

/// With one worker: with more, a request may come to one that has not the page.
class sweeps : public a_server {
 protected:
  static constexpr std::chrono::milliseconds drain_limit{2'000};
  static constexpr std::chrono::milliseconds for_the_disk{5'000};

  sweeps() {
    options_.blocking_threads = 1;
    network_.longest_job = 1s;  // so long the clock stands still for the disk, each time
    with_.times.drain = drain_limit;
  }

  static tartan::task<> ask_for_page(tartan::tcp::stream& c) {
    std::string came;
    co_await send(c, get("/page"));
    co_await hear(c, came, "a page");
  }

  static tartan::task<> on_the_disk(std::function<void()> what) { co_await tartan::blocking(std::move(what)); }

  /// A check that waits for the disk.
  tartan::task<> begin(tartan::tcp::stream& c) {
    co_await ask_for_page(c);
    co_await pass(500ms);
    co_await ask_for_page(c);  // is put on the list
    co_await pass(125ms);
    tartan::spawn(on_the_disk([this] { disk_goes_on_.acquire(); }));
    co_await pass(1ms);
    co_await ask_for_page(c);
    co_await pass(1ms);  // by now all that was to begin waits: the clock goes on when nothing else does
    tartan::spawn(on_the_disk([this] { all_done_ = true; }));
    co_await pass(1ms);
  }

  /// The clock does not wait for the disk any more: it must not go on before the check has ended.
  void end() {
    disk_goes_on_.release();
    tartan::test::spin_until([this] { return all_done_.load(); });
  }

  const test::files_changed long_ago_{-60s};
  std::binary_semaphore disk_goes_on_{0};
  std::atomic<bool> all_done_{false};
  std::optional<bool> drained_well_;  ///< the default color's, and the client's when nothing else runs
};

INSTANTIATE_TEST_SUITE_P(on, sweeps, testing::Values(1u));

TEST_P(sweeps, that_have_begun_are_waited_for_when_the_server_ends) {
  play([this](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await begin(c);
    drain(s, [this](bool all) { drained_well_ = all; });
    co_await pass(drain_limit + for_the_disk - 1s);
    EXPECT_FALSE(drained_well_.has_value());
    end();
  });
  EXPECT_EQ(drained_well_, true);
}

TEST_P(sweeps, that_the_disk_does_not_end_are_not_waited_for_longer) {
  play([this](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await begin(c);
    drain(s, [this](bool all) { drained_well_ = all; });
    co_await pass(drain_limit + for_the_disk + 1s);
    EXPECT_EQ(drained_well_, false);
    end();
  });
}

}  // namespace
}  // namespace web
