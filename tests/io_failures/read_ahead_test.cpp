// What a file's sender does when the file is not in the system's cache. Whether it is, is told by preadv2: here it says what it is told to.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <limits>
#include <optional>
#include <semaphore>
#include <string>
#include <tartan/tartan.h>
#include <vector>

#include "tests/io_failures/scenario.h"
#include "tests/temporary_folder.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using test::call;
using test::failing_call;
using test::fails_everywhere;
using test::outcome;
using test::stage;
using test::told;

constexpr std::size_t megabyte = std::size_t{1} << 20;

class sending_a_file : public testing::TestWithParam<unsigned> {
 protected:
  sending_a_file() { std::ofstream{path()} << std::string(3 * megabyte, 'x'); }

  [[nodiscard]] std::string path() const { return folder_ / "file"; }

  [[nodiscard]] static options with_one_blocking_thread() {
    options with;
    with.workers = GetParam();
    with.blocking_threads = 1;
    with.stall_after = {};
    return with;
  }

  /// Runs f(sender, receiver, the file's descriptor) while the only blocking thread is busy until disk_.release().
  template <class F>
  void while_the_disk_is_slow(F f) {
    runtime rt{with_one_blocking_thread()};
    spawn_in(rt, stage, [&]() -> task<> {
      auto ends = local::pair();
      auto file = co_await file::open(path());
      blocking(stage, [&] { disk_.acquire(); }, [](result<>) {});
      const failing_call not_cached{call::preadv2, EAGAIN, 0};
      co_await f(ends->first, ends->second, *file);
      EXPECT_TRUE(not_cached.struck());
    }).detach();
    rt.run_until_idle();
  }

  test::temporary_folder folder_;
  std::binary_semaphore disk_{0};
  std::vector<std::string> seen_;
};
INSTANTIATE_TEST_SUITE_P(on, sending_a_file, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(sending_a_file, lets_others_go_first_while_the_disk_is_read) {
  while_the_disk_is_slow([&](local::stream& from, local::stream& to, file& what) -> task<> {
    from.send_file(what.native_handle(), 0, 1000, [&](result<std::size_t> sent) {
      EXPECT_EQ(*sent, 1000u);
      seen_.emplace_back("sent");
    });
    from.write("behind it", [&](result<std::size_t>) { seen_.emplace_back("written"); });
    post(stage, [&] {
      seen_.emplace_back("another event");
      disk_.release();
    });
    std::string all(1009, ' ');
    const auto got = co_await to.read_exactly(std::as_writable_bytes(std::span{all}));
    EXPECT_TRUE(got);
    EXPECT_EQ(all, std::string(1000, 'x') + "behind it");
  });
  EXPECT_EQ(seen_, (std::vector<std::string>{"another event", "sent", "written"}));
}

TEST_P(sending_a_file, sends_its_head_before_the_disk_is_read) {
  while_the_disk_is_slow([&](local::stream& from, local::stream& to, file& what) -> task<> {
    from.send_file(what.native_handle(), 0, 1000, "head", [&](result<std::size_t> sent) { EXPECT_EQ(*sent, 1004u); });
    from.write("behind it", [](result<std::size_t>) {});
    std::string all(1013, ' ');
    const std::span<std::byte> room = std::as_writable_bytes(std::span{all});
    const auto head = to.try_read_some(room);
    disk_.release();
    EXPECT_TRUE(head);
    if (!head) co_return;
    EXPECT_EQ(all.substr(0, *head), "head");
    EXPECT_TRUE(co_await to.read_exactly(room.subspan(*head)));
    EXPECT_EQ(all, "head" + std::string(1000, 'x') + "behind it");
  });
}

TEST_P(sending_a_file, does_not_ask_for_the_disk_where_there_is_none) {
  while_the_disk_is_slow([&](local::stream& from, local::stream& to, file& what) -> task<> {
    constexpr auto memory = local::stream::file_place::memory;
    std::string all(2006, ' ');
    const std::span<std::byte> room = std::as_writable_bytes(std::span{all});
    EXPECT_EQ(*co_await from.send_file(what.native_handle(), 0, 1000, "one", memory), 1003u);
    from.send_file(what.native_handle(), 0, 1000, "two", memory, [&](result<std::size_t> sent) {
      EXPECT_EQ(*sent, 1003u);
      seen_.emplace_back("sent");
    });
    EXPECT_TRUE(co_await to.read_exactly(room));
    EXPECT_EQ(all, "one" + std::string(1000, 'x') + "two" + std::string(1000, 'x'));
    from.send_file(what.native_handle(), 0, 1000, [&](result<std::size_t>) { seen_.emplace_back("read"); });
    co_await yield();
    EXPECT_EQ(seen_, (std::vector<std::string>{"sent"}));
    disk_.release();
    EXPECT_TRUE(co_await to.read_exactly(room.first(1000)));
  });
  EXPECT_EQ(seen_.back(), "read");
}

TEST_P(sending_a_file, that_does_not_wait_sends_nothing_for_which_the_disk_is_needed) {
  while_the_disk_is_slow([&](local::stream& from, local::stream& to, file& what) -> task<> {
    std::string all(1003, ' ');
    const std::span<std::byte> room = std::as_writable_bytes(std::span{all});
    EXPECT_EQ(from.try_send_file(what.native_handle(), 0, 1000, "one").error(), std::errc::operation_would_block);
    EXPECT_EQ(to.try_read_some(room).error(), std::errc::operation_would_block);
    EXPECT_EQ(*from.try_send_file(what.native_handle(), 0, 1000, "two", local::stream::file_place::memory), 1003u);
    EXPECT_TRUE(co_await to.read_exactly(room));
    EXPECT_EQ(all, "two" + std::string(1000, 'x'));
    disk_.release();
  });
}

TEST_P(sending_a_file, that_does_not_wait_asks_for_both_ends_of_a_megabyte) {
  runtime rt{with_one_blocking_thread()};
  spawn_in(rt, stage, [&]() -> task<> {
    auto ends = local::pair();
    auto opened = co_await file::open(path());
    const failing_call looks{call::preadv2, EIO, 1'000'000};
    const auto sent = ends->first.try_send_file(opened->native_handle(), 0, std::numeric_limits<std::size_t>::max());
    EXPECT_TRUE(sent && *sent <= megabyte);
    EXPECT_EQ(looks.made(), 2u);
  }).detach();
  rt.run_until_idle();
}

TEST_P(sending_a_file, can_be_canceled_and_everything_be_closed_while_the_disk_is_read) {
  const std::size_t before = test::open_descriptors();
  while_the_disk_is_slow([&](local::stream& from, local::stream& to, file& what) -> task<> {
    auto sending = spawn_in(stage, [&]() -> task<> {
      EXPECT_EQ((co_await from.send_file(what.native_handle(), 0, 1000)).error(), errc::canceled);
      seen_.emplace_back("canceled");
    });
    auto other = local::pair();
    std::array<std::byte, 1> room{};
    bool came = false;
    other->first.read_some(room, [&](result<std::size_t>) { came = true; });
    EXPECT_TRUE(co_await other->second.write("x"));
    while (!came) co_await yield();  // by then, that there is room has been told too
    from.write("behind", [&](result<std::size_t>) { seen_.emplace_back("written behind it"); });
    sending.cancel();
    co_await sending.join();
    what = {};
    from.write("later", [&](result<std::size_t>) { seen_.emplace_back("written"); });
    std::string all(11, ' ');
    EXPECT_TRUE(co_await to.read_exactly(std::as_writable_bytes(std::span{all})));
    EXPECT_EQ(all, "behindlater");
    from.close();
    disk_.release();
  });
  EXPECT_EQ(seen_, (std::vector<std::string>{"canceled", "written behind it", "written"}));
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST_P(sending_a_file, ends_with_its_stream_while_the_disk_is_read) {
  while_the_disk_is_slow([&](local::stream& from, local::stream&, file& what) -> task<> {
    from.send_file(what.native_handle(), 0, 1000, [&](result<std::size_t> sent) {
      EXPECT_EQ(sent.error(), errc::closed);
      seen_.emplace_back("closed");
      disk_.release();
    });
    from.close();
    co_await yield();
  });
  EXPECT_EQ(seen_, (std::vector<std::string>{"closed"}));
}

TEST_P(sending_a_file, ends_with_a_stop_while_the_disk_is_read) {
  runtime rt{with_one_blocking_thread()};
  std::optional<failing_call> not_cached;
  spawn_in(rt, stage, [&]() -> task<> {
    auto ends = local::pair();
    auto file = co_await file::open(path());
    blocking(stage, [&] { disk_.acquire(); }, [](result<>) {});
    not_cached.emplace(call::preadv2, EAGAIN, 0u);
    post(stage, [&] { rt.stop(); });
    EXPECT_EQ((co_await ends->first.send_file(file->native_handle(), 0, 1000)).error(), errc::canceled);
    disk_.release();
  }).detach();
  EXPECT_EQ(rt.run(), 0);
  EXPECT_TRUE(not_cached->struck());
}

TEST_P(sending_a_file, asks_once_for_each_megabyte_and_once_for_the_first) {
  runtime rt{with_one_blocking_thread()};
  spawn_in(rt, stage, [&]() -> task<> {
    auto ends = local::pair();
    auto opened = co_await file::open(path());
    const failing_call looks{call::preadv2, EIO, 1'000'000};
    auto sending = spawn_in(stage, [&]() -> task<> {
      EXPECT_EQ(*co_await ends->first.send_file(opened->native_handle(), 0, 3 * megabyte), 3 * megabyte);
      EXPECT_EQ(looks.made(), 4u);
      EXPECT_EQ(*co_await ends->first.send_file(opened->native_handle(), 100, 1000), 1000u);
      EXPECT_EQ(looks.made(), 5u);
    });
    std::string all(3 * megabyte + 1000, ' ');
    EXPECT_TRUE(co_await ends->second.read_exactly(std::as_writable_bytes(std::span{all})));
    co_await sending.join();
  }).detach();
  rt.run_until_idle();
}

TEST(sending_a_file_that_is_not_cached, sends_it_whatever_fails_on_the_way) {
  const test::temporary_folder folder;
  const std::string path = folder / "file";
  std::ofstream{path} << std::string(2 * megabyte, 'x');
  const auto play = [&](runtime& rt, told& errors) {
    spawn_in(rt, stage, [&]() -> task<> {
      auto ends = local::pair();
      if (!errors.ok(ends)) co_return;
      auto opened = co_await file::open(path);
      auto sending = spawn_in(stage, [&]() -> task<> {
        const failing_call not_cached{call::preadv2, EAGAIN, 1, 2};
        const auto sent = co_await ends->first.send_file(opened->native_handle(), 0, 2 * megabyte);
        errors.ok(sent);
        if (sent) {
          EXPECT_EQ(not_cached.made(), 3u);
        }
        ends->first.close();
      });
      std::string room(2 * megabyte, ' ');
      const auto got = co_await ends->second.read_exactly(std::as_writable_bytes(std::span{room}));
      errors.ok(got);
      co_await sending.join();
    }).detach();
  };
  fails_everywhere(play, {
                             {call::fcntl, EMFILE, outcome::retried},
                             {call::pread, EIO, outcome::retried, 1},
                             {call::pread, EINTR, outcome::retried, 3},
                             {call::sendfile, EIO, outcome::told},
                         });
}

}  // namespace
}  // namespace tartan
