#include <tartan/io/file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <tartan/core/blocking.h>
#include <tartan/io/pipe.h>
#include <thread>
#include <vector>

#include "io/object_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using test::here_color;

class files : public test::with_objects_on_either {
 protected:
  [[nodiscard]] std::string path(const char* name = "file") const { return folder_ / name; }
  [[nodiscard]] std::string content() const {
    std::ifstream in{path()};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

 private:
  test::temporary_folder folder_;
};
INSTANTIATE_TEST_SUITE_P(on, files, testing::ValuesIn(test::both_machines()), test::place_name);

constexpr file_flags fresh = file_flags::read | file_flags::write | file_flags::create | file_flags::truncate;

TEST_P(files, are_written_and_read) {
  in_color([&]() -> task<> {
    auto opened = co_await file::open(path(), fresh);
    EXPECT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(current_color(), here_color);
    EXPECT_EQ(*co_await opened->write_at(0, "hello world"), 11u);
    EXPECT_EQ(*co_await opened->write_at(6, "there"), 5u);
    EXPECT_EQ(*co_await opened->size(), 11u);
    EXPECT_TRUE(co_await opened->sync());
    EXPECT_TRUE(co_await opened->sync_data());
    std::array<std::byte, 32> room{};
    EXPECT_EQ(*co_await opened->read_at(0, room), 11u) << "up to its end";
    EXPECT_EQ(*co_await opened->read_at(6, std::span{room}.first(3)), 3u);
    EXPECT_EQ(static_cast<char>(room[0]), 't');
    EXPECT_EQ(*co_await opened->read_at(11, room), 0u);
    EXPECT_EQ(*co_await opened->read_at(0, {}), 0u);
    EXPECT_TRUE(co_await opened->close());
    EXPECT_FALSE(opened->is_open());
    EXPECT_EQ(opened->native_handle(), -1);
  });
  EXPECT_EQ(content(), "hello there");
}

TEST_P(files, call_back_in_the_same_color) {
  file kept;
  std::array<std::byte, 32> room{};
  std::string order;
  rt().post(here_color, [&] {
    file::open(path(), fresh, [&](result<file> opened) {
      EXPECT_EQ(current_color(), here_color);
      kept = std::move(*opened);
      kept.write_at(0, "text", [&](result<std::size_t> wrote) {
        EXPECT_EQ(*wrote, 4u);
        order += 'w';
        kept.read_at(0, room, [&](result<std::size_t> got) {
          EXPECT_EQ(*got, 4u);
          order += 'r';
          kept.size([&](result<std::uint64_t> size) { EXPECT_EQ(*size, 4u); });
          kept.sync([&](result<> done) { EXPECT_TRUE(done); });
          kept.sync_data([&](result<> done) {
            EXPECT_TRUE(done);
            kept.close([&](result<> closed) {
              EXPECT_TRUE(closed);
              order += 'c';
            });
            EXPECT_FALSE(kept.is_open());
          });
        });
        EXPECT_EQ(order, "w") << "called back inside the call";
      });
    });
  });
  rt().run_until_idle();
  EXPECT_EQ(order, "wrc");
}

TEST_P(files, open_as_they_are_told) {
  in_color([&]() -> task<> {
    EXPECT_EQ((co_await file::open(path())).error(), std::errc::no_such_file_or_directory);
    EXPECT_EQ((co_await file::open(path("no/folder"), fresh)).error(), std::errc::no_such_file_or_directory);
    const auto made = co_await file::open(path(), file_flags::write | file_flags::create | file_flags::exclusive, 0600);
    EXPECT_TRUE(made);
    struct stat about {};
    EXPECT_EQ(::fstat(made->native_handle(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
    EXPECT_NE(::fcntl(made->native_handle(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ((co_await file::open(path(), file_flags::write | file_flags::create | file_flags::exclusive)).error(),
              std::errc::file_exists);
    EXPECT_TRUE(co_await made->write_at(0, "one"));
    std::array<std::byte, 8> room{};
    EXPECT_EQ((co_await made->read_at(0, room)).error(), std::errc::bad_file_descriptor);
    const auto longer = co_await file::open(path(), file_flags::append);
    EXPECT_TRUE(co_await longer->write_at(0, "two"));
    EXPECT_EQ(*co_await longer->size(), 6u);
    const auto reads = co_await file::open(path());
    EXPECT_EQ((co_await reads->write_at(0, "x")).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await reads->read_at(~std::uint64_t{0}, room)).error(), std::errc::invalid_argument);
    const auto emptied = co_await file::open(path(), file_flags::write | file_flags::truncate);
    EXPECT_EQ(*co_await emptied->size(), 0u);
    const auto folder = co_await file::open("/");
    EXPECT_EQ((co_await folder->read_at(0, room)).error(), std::errc::is_a_directory);
  });
}

TEST_P(files, move_more_than_one_call_does) {
  constexpr std::size_t much = (5 << 20) + 17;
  in_color([&]() -> task<> {
    const auto opened = co_await file::open(path(), fresh);
    std::vector<std::byte> all(much);
    for (std::size_t n = 0; n < much; ++n) all[n] = static_cast<std::byte>(n * 7 + n / 1000);
    EXPECT_EQ(*co_await opened->write_at(0, all), much);
    std::vector<std::byte> again(much + 100);
    EXPECT_EQ(*co_await opened->read_at(0, again), much);
    again.resize(much);
    EXPECT_EQ(again, all);
  });
}

TEST_P(files, read_what_is_cached_without_a_blocking_thread) {
  {
    std::ofstream out{path()};
    out << "cached";
  }
  file cached = file::from_fd(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
  char letter = 0;
  const iovec part{&letter, 1};
  const bool knows_nowait = ::preadv2(cached.native_handle(), &part, 1, 0, RWF_NOWAIT) == 1;
  in_color([&]() -> task<> {
    const std::size_t before = test::threads();
    std::array<std::byte, 6> room{};
    EXPECT_EQ(*co_await cached.read_at(0, room), 6u);
    if (knows_nowait) {
      EXPECT_EQ(test::threads(), before) << "it went off the workers";
    }
    EXPECT_EQ(*co_await cached.size(), 6u);
    EXPECT_GT(test::threads(), before) << "the first blocking thread";
  });
}

TEST_P(files, finish_what_has_begun_when_timed_out) {
  in_color([&]() -> task<> {
    auto opened = co_await with_timeout(std::chrono::nanoseconds{1}, file::open(path(), fresh));
    EXPECT_TRUE(opened) << "what was done is not lost: " << opened.error().message();
    EXPECT_EQ(*co_await with_timeout(std::chrono::nanoseconds{1}, opened->size()), 0u);
  });
}

// A plain open would hold a blocking thread until another process opens the other side, and a stop could not end it.
TEST_P(files, that_are_fifos_are_opened_without_waiting) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  in_color([&]() -> task<> {
    const auto unread = co_await file::open(path(), file_flags::write);
    EXPECT_EQ(unread.error(), std::errc::no_such_device_or_address) << "nobody reads";
    auto reads = co_await file::open(path());
    EXPECT_TRUE(reads) << reads.error().message();
    auto writes = co_await file::open(path(), file_flags::write);
    EXPECT_TRUE(writes) << writes.error().message();
    std::array<std::byte, 1> room{};
    EXPECT_EQ((co_await reads->read_at(0, room)).error(), std::errc::invalid_seek);
    EXPECT_NE(::fcntl(reads->native_handle(), F_GETFL) & O_NONBLOCK, 0);
    if (simulated()) co_return;  // where there are no streams over the kernel's descriptors
    auto from = *pipe::read_end::from_fd(*reads->release(), here_color);
    auto to = *pipe::write_end::from_fd(*writes->release(), here_color);
    EXPECT_TRUE(co_await to.write("x"));
    EXPECT_EQ(*co_await from.read_exactly(room), 1u);
  });
}

TEST_P(files, that_are_regular_do_not_keep_the_flag_of_their_opening) {
  in_color([&]() -> task<> {
    const auto opened = co_await file::open(path(), fresh | file_flags::append);
    EXPECT_EQ(::fcntl(opened->native_handle(), F_GETFL) & (O_NONBLOCK | O_APPEND), O_APPEND);
  });
}

TEST_P(files, wait_for_another_process_s_lease) {
  { const std::ofstream made{path()}; }
  const int leased = ::open(path().c_str(), O_RDONLY | O_CLOEXEC);
  // Told by a signal that is ignored: the lease is given up as soon as the second open waits for it.
  std::signal(SIGIO, SIG_IGN);
  const bool has_lease = ::fcntl(leased, F_SETLEASE, F_RDLCK) == 0;
  std::thread holder{[&] {
    while (has_lease && ::fcntl(leased, F_GETLEASE) == F_RDLCK) std::this_thread::yield();
    ::fcntl(leased, F_SETLEASE, F_UNLCK);
  }};
  in_color([&]() -> task<> {
    const auto opened = co_await file::open(path(), file_flags::write);
    EXPECT_TRUE(opened) << opened.error().message();
  });
  holder.join();
  ::close(leased);
  std::signal(SIGIO, SIG_DFL);
}

TEST_P(files, are_added_to_at_their_end_however_they_were_opened) {
  in_color([&]() -> task<> {
    const auto opened = co_await file::open(path(), fresh);
    EXPECT_EQ(*co_await opened->append("one"), 3u);
    EXPECT_EQ(*co_await opened->write_at(0, "O"), 1u);
    const auto other = co_await file::open(path(), file_flags::append);
    EXPECT_EQ(*co_await other->append("two"), 3u);
    bool called = false;
    opened->append("three", [&](result<std::size_t> wrote) {
      EXPECT_EQ(*wrote, 5u);
      called = true;
    });
    co_await until([&] { return called; });
    EXPECT_EQ(*co_await opened->append(""), 0u);
    const auto reads = co_await file::open(path());
    EXPECT_EQ((co_await reads->append("x")).error(), std::errc::bad_file_descriptor);
  });
  EXPECT_EQ(content(), "Onetwothree");
}

TEST_P(files, stay_open_for_operations_that_have_begun) {
  {
    std::ofstream out{path()};
    out << std::string(3 << 20, 'x');
  }
  std::vector<std::byte> room(3 << 20);
  std::size_t got = 0;
  in_color([&]() -> task<> {
    auto opened = co_await file::open(path());
    opened->read_at(0, room, [&](result<std::size_t> read) { got = *read; });  // too much for at once
    EXPECT_TRUE(co_await opened->close());
    EXPECT_EQ((co_await opened->read_at(0, room)).error(), errc::closed);
    EXPECT_EQ((co_await opened->size()).error(), errc::closed);
    EXPECT_EQ((co_await opened->sync()).error(), errc::closed);
    EXPECT_EQ((co_await opened->close()).error(), errc::closed);
    opened->write_at(0, "x", [](result<std::size_t> wrote) { EXPECT_EQ(wrote.error(), errc::closed); });
  });
  EXPECT_EQ(got, room.size());
}

TEST_P(files, are_given_away_unless_an_operation_needs_them) {
  {
    std::ofstream out{path()};
    out << std::string(3 << 20, 'x');
  }
  std::vector<std::byte> room(3 << 20);
  int descriptor = -1;
  in_color([&]() -> task<> {
    auto opened = co_await file::open(path());
    bool ended = false;
    opened->read_at(0, room, [&](result<std::size_t> got) {
      EXPECT_EQ(*got, room.size());
      ended = true;
    });
    EXPECT_EQ(opened->release().error(), errc::busy);
    EXPECT_TRUE(opened->is_open());
    co_await until([&] { return ended; });
    co_await yield();  // the callback is gone
    descriptor = *opened->release();
    EXPECT_FALSE(opened->is_open());
    EXPECT_EQ(opened->release().error(), errc::closed);
  });
  char letter = 0;
  EXPECT_EQ(::pread(descriptor, &letter, 1, 0), 1) << "it is still open";
  EXPECT_EQ(letter, 'x');
  EXPECT_EQ(::close(descriptor), 0);
}

TEST_P(files, are_not_canceled) {
  in_color([&]() -> task<> {
    auto asked = spawn_in(here_color, [&]() -> task<> {
      co_await yield();
      const auto opened = co_await file::open(path(), fresh);
      EXPECT_TRUE(co_await opened->write_at(0, "saved"));
      EXPECT_TRUE(co_await opened->sync());
    });
    asked.cancel();
    co_await asked.join();
  });
  EXPECT_EQ(content(), "saved");
}

TEST_P(files, are_saved_after_stop_by_coroutines_and_refused_to_callbacks) {
  int ended = 0;
  spawn_in(rt(), here_color, [&]() -> task<> {
    const auto opened = co_await file::open(path(), fresh);
    rt().stop();
    EXPECT_TRUE(co_await opened->write_at(0, "last words"));
    EXPECT_TRUE(co_await opened->sync());
    while (!rt().state().stopping()) co_await yield();
    opened->size([&](result<std::uint64_t> size) {
      EXPECT_EQ(size.error(), errc::canceled);
      ++ended;
    });
    ++ended;
  }).detach();
  EXPECT_EQ(rt().run(), 0);
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(content(), "last words");
  end_runtime();
}

TEST_P(files, are_used_by_several_colors_at_a_time) {
  {
    std::ofstream out{path()};
    out << "0123456789";
  }
  const file shared = file::from_fd(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
  for (unsigned n = 0; n < 10; ++n) {
    spawn_in(rt(), color{n + 1}, [&shared, n]() -> task<> {
      std::array<std::byte, 1> room{};
      EXPECT_EQ(*co_await shared.read_at(n, room), 1u);
      EXPECT_EQ(static_cast<unsigned>(room[0]), '0' + n);
      EXPECT_EQ(current_color(), color{n + 1});
    }).detach();
  }
  rt().run_until_idle();
}

}  // namespace
}  // namespace tartan
