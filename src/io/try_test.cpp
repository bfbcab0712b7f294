// What needs no waiting: a wait without a buffer, and calls that would rather do nothing than wait.

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tartan/core/yield.h>
#include <tartan/io/pipe.h>
#include <tartan/io/tcp.h>
#include <utility>
#include <vector>

#include "io/connection.h"

namespace tartan {
namespace {

using test::connection;
using test::here_color;
using test::stream_pair;

constexpr auto would_block = std::errc::operation_would_block;

class calls_that_do_not_wait : public test::with_objects_on_either {
 protected:
  calls_that_do_not_wait() { world_with.partial_percent = 0; }

  /// Where nothing more goes, nor will: nothing that was sent is on its way, for its arrival would make room.
  [[nodiscard]] task<std::unique_ptr<connection>> filled() {
    auto made = co_await connection::make(rt());
    const std::string much(1 << 16, 'x');
    int idle = 0;
    int rounds = 0;
    co_await until([&] {
      bool went = false;
      while (made->near.try_write(std::as_bytes(std::span{much}))) went = true;
      int kept = 0;
      int unsent = 0;
      const int fd = made->near.native_handle();
      const bool is_told = !simulated() && ::ioctl(fd, SIOCOUTQ, &kept) == 0 && ::ioctl(fd, SIOCOUTQNSD, &unsent) == 0;
      idle = went || (is_told && kept != unsent) ? 0 : idle + 1;
      return idle == 3 || ++rounds == 1'000'000;
    });
    co_return made;
  }

  std::array<std::byte, 8> room_{};
};
INSTANTIATE_TEST_SUITE_P(on, calls_that_do_not_wait, testing::ValuesIn(test::both_machines()), test::place_name);

/// Where somebody has looked, and found nothing: else the first wait would be for nothing.
task<std::unique_ptr<connection>> emptied(runtime& rt) {
  auto made = co_await connection::make(rt);
  EXPECT_EQ(made->near.try_read_some(made->room).error(), would_block);
  co_return made;
}

TEST_P(calls_that_do_not_wait, end_a_wait_for_input_in_every_way) {
  ends_in_every_way(test::operation_under_test{[this] { return emptied(rt()); }, [](connection& c) { return c.near.readable(); },
                                               [](connection& c, auto f) { c.near.readable(std::move(f)); },
                                               [](connection& c) { c.feed("x"); }},
                    test::fed::comes_later);
}

TEST_P(calls_that_do_not_wait, end_a_wait_for_room_in_every_way) {
  ends_in_every_way(test::operation_under_test{[this] { return filled(); }, [](connection& c) { return c.near.writable(); },
                                               [](connection& c, auto f) { c.near.writable(std::move(f)); },
                                               [](connection& c) { c.drain(); }},
                    test::fed::comes_later);
}

TEST_P(calls_that_do_not_wait, write_when_there_is_room_again) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    EXPECT_TRUE(co_await ends->near.writable()) << "there is room at the beginning";
    const std::string text = test::much_text();
    ends->drain();
    for (std::string_view left = text; !left.empty();) {
      const auto wrote = ends->near.try_write(std::as_bytes(std::span{left}));
      if (wrote) {
        left.remove_prefix(*wrote);
      } else {
        EXPECT_EQ(wrote.error(), would_block);
        EXPECT_TRUE(co_await ends->near.writable());
      }
    }
    ends->near.close();
    EXPECT_EQ((co_await ends->near.writable()).error(), errc::closed);
  });
}

TEST_P(calls_that_do_not_wait, read_what_there_is) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    EXPECT_EQ(ends->near.try_read_some(room_).error(), would_block);
    ends->feed("abc");
    EXPECT_TRUE(co_await ends->near.readable());
    EXPECT_EQ(*ends->near.try_read_some(room_), 3u);
    EXPECT_EQ(room_[2], std::byte{'c'});
    EXPECT_EQ(ends->near.try_read_some(room_).error(), would_block);
    EXPECT_EQ(*ends->near.try_read_some({}), 0u);
    ends->feed("0123456789");
    EXPECT_TRUE(co_await ends->near.readable());
    EXPECT_EQ(*ends->near.try_read_some(room_), room_.size());
    EXPECT_TRUE(co_await ends->near.readable()) << "no news is needed for the rest";
    EXPECT_EQ(*ends->near.try_read_some(room_), 2u);
    EXPECT_TRUE(ends->far.shutdown_send());
    EXPECT_TRUE(co_await ends->near.readable());
    EXPECT_EQ(ends->near.try_read_some(room_).error(), errc::end_of_stream);
    ends->near.close();
    EXPECT_EQ(ends->near.try_read_some(room_).error(), errc::closed);
    EXPECT_EQ(ends->near.try_write(room_).error(), errc::closed);
  });
}

// Nobody waits, so no edge is told: the system has to be asked.
TEST_P(calls_that_do_not_wait, find_what_has_come_without_a_wait) {
  in_color([&]() -> task<> {
    const auto c = co_await emptied(rt());
    c->feed("x");
    co_await until([&] { return c->near.try_read_some(room_).has_value(); });
    EXPECT_EQ(room_[0], std::byte{'x'});
    const std::string text = test::much_text();
    std::size_t sent = 0;
    co_await until([&] {
      c->came += c->arrived();
      const auto wrote = c->near.try_write(std::as_bytes(std::span{text}).subspan(sent));
      sent += wrote ? *wrote : 0;
      return sent == text.size();
    });
    co_await until([&] {
      c->came += c->arrived();
      return c->came.size() == text.size();
    });
    EXPECT_TRUE(c->came == text);
  });
}

// As what is awaited (contract 12): else who always finds room would keep the worker.
TEST_P(calls_that_do_not_wait, write_64_times_in_one_event) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    co_await yield();
    int wrote = 0;
    while (wrote < 1000 && ends->near.try_write(std::span{room_}.first(1))) ++wrote;
    EXPECT_EQ(wrote, 64);
    co_await yield();
    EXPECT_TRUE(ends->near.try_write(std::span{room_}.first(1)));
  });
}

TEST_P(calls_that_do_not_wait, do_not_overtake_who_waits) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    std::array<std::byte, 8> other{};
    auto reading = spawn_in(here_color, [&]() -> task<> { EXPECT_EQ(*co_await ends->near.read_some(other), 1u); });
    co_await yield();
    ends->feed("x");
    EXPECT_EQ(ends->near.try_read_some(room_).error(), would_block);
    co_await reading.join();
    EXPECT_EQ(other[0], std::byte{'x'});

    const std::string much(test::much, 'm');
    auto writing = spawn_in(here_color, [&]() -> task<> { EXPECT_EQ(*co_await ends->near.write(much), much.size()); });
    co_await yield();
    EXPECT_EQ(ends->near.try_write(room_).error(), would_block);
    ends->drain();
    co_await writing.join();
    co_await until([&] { return ends->near.try_write(room_).has_value(); });  // the peer reads when it may
  });
}

TEST_P(calls_that_do_not_wait, write_until_there_is_no_room) {
  in_color([&]() -> task<> {
    const auto c = co_await connection::make(rt());
    const std::string text = test::much_text();
    std::size_t sent = 0;
    for (;;) {
      const auto wrote = c->near.try_write(std::as_bytes(std::span{text}).subspan(sent % text.size()));
      if (!wrote) {
        EXPECT_EQ(wrote.error(), would_block);
        break;
      }
      sent += *wrote;
      EXPECT_LT(sent, 64 * text.size());
    }
    EXPECT_GT(sent, 0u);
    c->drain();
    EXPECT_EQ(*co_await c->near.write(std::string_view{"the end"}), 7u);
    co_await until([&] { return c->near.try_write(room_).has_value(); });
  });
}

TEST_P(calls_that_do_not_wait, write_parts_one_after_the_other) {
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    const std::string digits = "0123456789";
    std::vector<std::span<const std::byte>> parts(70);
    EXPECT_EQ(*ends->near.try_write(parts), 0u);
    for (std::size_t n = 0; n < parts.size(); ++n) parts[n] = std::as_bytes(std::span{digits}).subspan(n % 10, 1);
    EXPECT_EQ(*ends->near.try_write(parts), 64u) << "as one call takes";
    EXPECT_EQ(*ends->near.try_write(std::span{parts}.subspan(64)), 6u) << "that was not for lack of room";
    std::string came;
    co_await until([&] {
      came += ends->arrived();
      return came.size() == parts.size();
    });
    for (std::size_t n = 0; n < came.size(); ++n) EXPECT_EQ(came[n], digits[n % 10]);
  });
}

/// Whose name is gone.
class short_file {
 public:
  explicit short_file(std::string_view content) : descriptor_{::memfd_create("file", MFD_CLOEXEC)} {
    EXPECT_EQ(::write(descriptor_, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  }
  short_file(const short_file&) = delete;
  short_file& operator=(const short_file&) = delete;
  ~short_file() { ::close(descriptor_); }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

TEST_P(calls_that_do_not_wait, send_a_file_until_there_is_no_room_and_its_rest_later) {
  const std::string text = test::much_text();
  const std::string_view head = std::string_view{text}.substr(0, 1000);
  const short_file file{text};
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    std::size_t sent = 0;
    for (bool goes = true; goes;) {
      const std::size_t of_head = std::min(sent % text.size(), head.size());
      const std::size_t from = std::max(sent % text.size(), head.size());
      const auto went = ends->near.try_send_file(file.descriptor(), static_cast<std::int64_t>(from), text.size() - from, head.substr(of_head));
      goes = went.has_value();
      if (!goes) {
        EXPECT_EQ(went.error(), would_block);
      }
      sent += goes ? *went : 0;
      EXPECT_LT(sent, 64 * text.size());
    }
    EXPECT_GT(sent, head.size());
    auto rest = spawn_in(here_color, [&]() -> task<> {
      const std::size_t from = std::max(sent % text.size(), head.size());
      EXPECT_EQ(*co_await ends->near.send_file(file.descriptor(), static_cast<std::int64_t>(from), text.size() - from,
                                               head.substr(std::min(sent % text.size(), head.size()))),
                text.size() - sent % text.size());
    });
    co_await yield();
    std::string came = ends->arrived();  // now there is room
    EXPECT_EQ(ends->near.try_send_file(file.descriptor(), 0, 1).error(), would_block) << "it would overtake the rest";
    const std::size_t all = (sent / text.size() + 1) * text.size();
    const std::size_t before = came.size();
    came.resize(all);
    EXPECT_TRUE(co_await ends->far.read_exactly(std::as_writable_bytes(std::span{came}).subspan(before)));
    co_await rest.join();
    for (std::size_t at = 0; at < came.size(); at += text.size()) EXPECT_TRUE(came.compare(at, text.size(), text) == 0) << "from " << at;
  });
}

TEST_P(calls_that_do_not_wait, send_a_file_as_far_as_there_is_one) {
  const short_file file{"0123456789"};
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    EXPECT_EQ(*ends->near.try_send_file(file.descriptor(), 4, 4, "head"), 8u);
    EXPECT_EQ(*ends->near.try_send_file(file.descriptor(), 0, 0), 0u);
    EXPECT_EQ(*ends->near.try_send_file(file.descriptor(), 0, 0, "alone"), 5u);
    EXPECT_EQ(*ends->near.try_send_file(file.descriptor(), 8, 8), 2u) << "what there was has been sent";
    EXPECT_EQ(ends->near.try_send_file(file.descriptor(), 10, 6).error(), errc::end_of_stream);
    EXPECT_EQ(ends->near.try_send_file(-1, 0, 1).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ(*ends->near.try_send_file(-1, 0, 1, "told"), 4u) << "the next one says what is wrong";
    EXPECT_TRUE(ends->near.shutdown_send());
    std::string came;
    co_await until([&] {
      came += ends->arrived();
      return came.size() >= 19;
    });
    EXPECT_EQ(came, "head4567alone89told");
    EXPECT_EQ(ends->near.try_send_file(file.descriptor(), 0, 1).error(), std::errc::broken_pipe);
    ends->near.close();
    EXPECT_EQ(ends->near.try_send_file(file.descriptor(), 0, 1).error(), errc::closed);
  });
}

TEST_P(calls_that_do_not_wait, send_64_files_in_one_event) {
  const short_file file{"0123456789"};
  in_color([&]() -> task<> {
    const auto ends = stream_pair::make();
    co_await yield();
    int sent = 0;
    while (sent < 1000 && ends->near.try_send_file(file.descriptor(), 0, 1)) ++sent;
    EXPECT_EQ(sent, 64);
  });
}

/// Of the simulated network, which can have room for all that one event may send.
class calls_with_much_room : public calls_that_do_not_wait {};
INSTANTIATE_TEST_SUITE_P(on, calls_with_much_room, testing::ValuesIn(test::places_on(test::machine::simulated)), test::place_name);

TEST_P(calls_with_much_room, send_a_megabyte_at_most) {
  world_with.stream_buffer = 8 << 20;
  constexpr std::size_t megabyte = 1 << 20;
  const std::string much(3 * megabyte, 'x');
  const short_file file{much};
  in_color([&]() -> task<> {
    const auto of_file = stream_pair::make();
    const auto of_head = stream_pair::make();
    co_await yield();
    EXPECT_EQ(*of_file->near.try_send_file(file.descriptor(), 0, much.size()), megabyte);
    EXPECT_EQ(of_file->near.try_send_file(file.descriptor(), 0, 1).error(), would_block) << "one event moves no more";
    co_await yield();
    EXPECT_EQ(*of_head->near.try_send_file(file.descriptor(), 0, 1, much), megabyte);
  });
}

class calls_on_pipes : public test::with_objects {};
INSTANTIATE_TEST_SUITE_P(on, calls_on_pipes, testing::Values(1u), test::worker_name);

TEST_P(calls_on_pipes, know_what_a_short_read_says) {
  in_color([&]() -> task<> {
    auto both = pipe::open(rt(), here_color, here_color);
    std::array<std::byte, 8> room{};
    EXPECT_TRUE(both);
    EXPECT_EQ(both->read.try_read_some(room).error(), would_block);
    EXPECT_EQ(*both->write.try_write(std::span{room}.first(3)), 3u);
    EXPECT_TRUE(co_await both->read.readable());
    EXPECT_EQ(*both->read.try_read_some(room), 3u);
    EXPECT_EQ(both->read.try_read_some(room).error(), would_block);
  });
}

TEST_P(calls_on_pipes, end_the_program_outside_of_their_color) {
  EXPECT_DEATH(
      {
        auto both = pipe::open(rt(), here_color, here_color);
        rt().post(color{8}, [&] { static_cast<void>(both->read.try_read_some({})); });
        rt().run_until_idle();
      },
      "try_test.cpp");
  EXPECT_DEATH(
      {
        auto both = pipe::open(rt(), here_color, here_color);
        static_cast<void>(both->write.try_write(std::span<const std::byte>{}));
      },
      "try_test.cpp");
}

}  // namespace
}  // namespace tartan
