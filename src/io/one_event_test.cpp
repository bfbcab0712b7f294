// What one event of a descriptor may do: how much it moves, how many operations it serves, and what reports say of it.

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tartan/core/post.h>
#include <tartan/io/file.h>
#include <tartan/io/local.h>
#include <vector>

#include "io/object_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using test::here_color;

/// One worker, and one event of a color before the others have their turn.
class one_event : public testing::Test {
 protected:
  one_event() : rt_{settings()} {}

  [[nodiscard]] options settings() {
    options with{.workers = 1, .batch = 1};
    with.on_exception = [this](const escaped_exception& e) { places_.push_back(e.post_site); };
    return with;
  }
  /// Counts what moves until an event of another color runs.
  void look_from_another_color() {
    rt_.post(color{9}, [this] { seen_ = moved_; });
  }

  std::vector<std::source_location> places_;
  runtime rt_;
  std::size_t moved_ = 0;
  std::size_t seen_ = 0;
};

constexpr std::size_t megabyte = std::size_t{1} << 20;

TEST_F(one_event, reads_about_a_megabyte_of_a_file) {
  const test::temporary_folder folder;
  { std::ofstream{folder / "file"} << std::string(8 * megabyte, 'x'); }
  rt_.spawn_in(here_color, [&]() -> task<> {
    auto opened = co_await file::open(folder / "file", file_flags::read);
    std::vector<std::byte> room(megabyte / 4);
    co_await yield();
    look_from_another_color();
    for (std::uint64_t at = 0; at < 8 * megabyte; at += room.size()) {
      const auto got = co_await opened->read_at(at, room);
      moved_ += *got;
    }
  }).detach();
  rt_.run_until_idle();
  EXPECT_EQ(moved_, 8 * megabyte);
  EXPECT_LE(seen_, 2 * megabyte);
}

TEST_F(one_event, moves_about_a_megabyte_through_a_socket) {
  auto both = local::pair(rt_, here_color, color{8});
  static_cast<void>(both->first.set_send_buffer(1 << 25));  // a hint
  constexpr std::size_t piece = 65'536;
  rt_.spawn_in(color{8}, [far = std::move(both->second)]() mutable -> task<> {
    std::vector<std::byte> room(piece);
    while (co_await far.read_some(room)) {
    }
  }).detach();
  rt_.spawn_in(here_color, [this, near = std::move(both->first)]() mutable -> task<> {
    const std::string bytes(piece, 'x');
    co_await yield();
    look_from_another_color();
    for (int n = 0; n < 128; ++n) moved_ += *co_await near.write(bytes);
  }).detach();
  rt_.run_until_idle();
  EXPECT_EQ(moved_, 128 * piece);
  EXPECT_LE(seen_, 2 * megabyte);
}

TEST_F(one_event, serves_a_bounded_number_of_operations) {
  auto both = local::pair(rt_, here_color, color{8});
  std::byte byte{};
  constexpr int all = 1000;
  const std::string bytes(all, 'x');
  ssize_t left_behind = 0;  // by the event in which the first one was served
  rt_.post(here_color, [&] {
    for (int n = 0; n < all; ++n) {
      both->first.read_some({&byte, 1}, [&](const result<std::size_t>& got) {
        std::array<char, all> copy;
        if (moved_ == 0) left_behind = ::recv(both->first.native_handle(), copy.data(), copy.size(), MSG_PEEK);
        moved_ += *got;
      });
    }
    rt_.post(color{8}, [&] { both->second.write(bytes, [](const result<std::size_t>&) {}); });  // when all of them wait
  });
  rt_.run_until_idle();
  EXPECT_EQ(moved_, static_cast<std::size_t>(all));
  EXPECT_GE(left_behind, all - 64);
}

TEST_F(one_event, refuses_an_operation_behind_very_many_others) {
  auto both = local::pair(rt_, here_color, here_color);
  std::byte byte{};
  constexpr int most = 65'536;
  int canceled = 0;
  int busy = 0;
  rt_.post(here_color, [&] {
    for (int n = 0; n < most + 2; ++n) {
      both->first.read_some({&byte, 1}, [&](const result<std::size_t>& got) {
        canceled += got.error() == errc::canceled ? 1 : 0;
        busy += got.error() == errc::busy ? 1 : 0;
      });
    }
    both->first.cancel();
    both->first.read_some({&byte, 1}, [&](const result<std::size_t>& got) { canceled += got.error() == errc::canceled ? 1 : 0; });
    rt_.post(here_color, [&] { both->first.cancel(); });
  });
  rt_.run_until_idle();
  EXPECT_EQ(canceled, most + 1) << "the line is empty again";
  EXPECT_EQ(busy, 2);
}

TEST_F(one_event, is_reported_with_the_place_of_the_operation_that_goes_on_in_it) {
  auto both = local::pair(rt_, here_color, here_color);
  std::byte byte{};
  const unsigned before = std::source_location::current().line();
  rt_.post(here_color, [&] { both->first.read_some({&byte, 1}, [](const result<std::size_t>&) { throw std::runtime_error{"x"}; }); });
  rt_.post(color{8}, [&] { rt_.post(here_color, [&] { both->second.write("a", [](const result<std::size_t>&) {}); }); });
  rt_.run_until_idle();
  ASSERT_EQ(places_.size(), 1u);
  EXPECT_EQ(places_[0].line(), before + 1);
  EXPECT_NE(std::string_view{places_[0].file_name()}.find("one_event_test"), std::string_view::npos);
}

TEST_F(one_event, is_reported_with_the_place_of_the_coroutine_that_goes_on_in_it) {
  auto both = local::pair(rt_, here_color, here_color);
  std::byte byte{};
  const auto reads = [&]() -> task<> {
    static_cast<void>(co_await both->first.read_some({&byte, 1}));
    throw std::runtime_error{"x"};
  };
  const unsigned before = std::source_location::current().line();
  rt_.spawn_in(here_color, reads).detach();
  rt_.post(color{8}, [&] { rt_.post(here_color, [&] { both->second.write("a", [](const result<std::size_t>&) {}); }); });
  rt_.run_until_idle();
  ASSERT_EQ(places_.size(), 1u);
  EXPECT_EQ(places_[0].line(), before + 1);
}

}  // namespace
}  // namespace tartan
