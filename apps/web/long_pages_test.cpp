/// Files that are kept in memory only if not too many have come.
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "web/library_fixture.h"

namespace web {
namespace {

using namespace std::chrono_literals;

/// Of one shelf, with room for two and a half long ones.
class long_pages : public test::pages {
 protected:
  long_pages() {
    for (int n = 0; n < 8; ++n) write(std::to_string(n).c_str(), std::string(bytes, static_cast<char>('a' + n)));
    write("short", std::string(1000, 's'));
    with_.shelves = 1;
    with_.cache.bytes = 5 * bytes / 2 + 5000;
    with_.largest_page = bytes;
    with_.short_page = 1000;
  }
  [[nodiscard]] static bool is_in_memory(const finding& what) {
    EXPECT_EQ(what.code, http::status::ok);
    return what.large == nullptr && what.content->body.size() == what.content->size;
  }
  [[nodiscard]] bool is_read(tartan::runtime& rt, library& all, int n, page_cache::time now) {
    return is_in_memory(ask(rt, all, path_of(n), 1, now).front());
  }

  static constexpr std::size_t bytes = 40'000;
  static constexpr unsigned opening = 2;  ///< calls of statx
  library_settings with_;
};
INSTANTIATE_TEST_SUITE_P(on, long_pages, testing::Values(1u));

TEST_P(long_pages, are_read_until_there_were_as_many_as_the_cache_has) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  EXPECT_TRUE(is_read(rt, all, 0, start_));
  EXPECT_TRUE(is_read(rt, all, 1, start_));
  EXPECT_FALSE(is_read(rt, all, 2, start_));
  EXPECT_FALSE(is_read(rt, all, 3, start_));
  EXPECT_TRUE(is_in_memory(ask(rt, all, "/short", 1, start_).front()));
  EXPECT_TRUE(is_read(rt, all, 0, start_)) << "it is still there";
}

TEST_P(long_pages, are_read_again_when_some_time_has_passed) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  for (int n = 0; n < 3; ++n) EXPECT_EQ(is_read(rt, all, n, start_), n < 2);
  EXPECT_FALSE(is_read(rt, all, 3, start_ + 500ms));
  EXPECT_TRUE(is_read(rt, all, 4, start_ + 2s)) << "a fifth of the cache";
  EXPECT_FALSE(is_read(rt, all, 5, start_ + 2s));
  for (int n = 5; n < 8; ++n) EXPECT_EQ(is_read(rt, all, n, start_ + 1h), n < 7) << "it does not gather";
}

/// Many looks, between two of which there is less than a byte.
TEST_P(long_pages, are_read_again_however_often_somebody_asks_meanwhile) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  for (int n = 0; n < 3; ++n) EXPECT_EQ(is_read(rt, all, n, start_), n < 2);
  bool is_one_read = false;
  rt.spawn([&]() -> tartan::task<> {
    for (auto passed = 0us; passed < 4s && !is_one_read; passed += 50us) {
      const std::optional<finding> found = co_await all.check_ahead(path_of(2), start_ + passed);
      is_one_read = found && is_in_memory(*found);
    }
  });
  rt.run_until_idle();
  EXPECT_TRUE(is_one_read);
}

TEST_P(long_pages, that_were_left_on_the_disk_are_read_by_a_check_ahead) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  for (int n = 0; n < 3; ++n) EXPECT_EQ(is_read(rt, all, n, start_), n < 2);
  const std::optional<finding> too_soon = check_ahead(rt, all, path_of(2), start_ + 100ms);
  EXPECT_TRUE(!too_soon || !is_in_memory(*too_soon));
  const std::optional<finding> found = check_ahead(rt, all, path_of(2), start_ + 2s);
  ASSERT_TRUE(found);
  EXPECT_TRUE(is_in_memory(*found));
  EXPECT_EQ(found->content->body.text(), std::string(bytes, 'c'));
  EXPECT_TRUE(is_read(rt, all, 2, start_ + 2s));
}

TEST_P(long_pages, that_are_asked_for_together_are_no_more_than_there_is_room_for) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  int in_memory = 0;
  for (int n = 0; n < 8; ++n) {
    rt.spawn_in(tartan::color{100u + static_cast<unsigned>(n)}, [&, n]() -> tartan::task<> {
        const std::string path = path_of(n);
        if (is_in_memory(co_await all.ask(path, start_))) ++in_memory;
      }).detach();
  }
  rt.run_until_idle();
  EXPECT_EQ(in_memory, 2);
  EXPECT_TRUE(is_read(rt, all, 7, start_ + 1h)) << "what was not read is not counted";
  EXPECT_TRUE(is_read(rt, all, 6, start_ + 1h));
}

/// They are asked for again and again.
TEST_P(long_pages, that_cannot_be_read_are_an_error_and_count) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  const auto code_of = [&](int n) {
    const test::failing_disk fails{test::disk_call::pread, EIO};
    return ask(rt, all, path_of(n), 1, start_).front().code;
  };
  EXPECT_EQ(code_of(0), http::status::internal_error);
  EXPECT_EQ(code_of(0), http::status::internal_error);
  EXPECT_EQ(code_of(0), http::status::ok) << "nobody has read it yet";
  EXPECT_FALSE(is_read(rt, all, 1, start_));
  EXPECT_TRUE(is_read(rt, all, 1, start_ + 4s));
}

/// Nobody could send what was opened.
TEST_P(long_pages, that_are_written_to_while_they_are_read_are_read_again) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  {
    const test::failing_disk changes{test::disk_call::statx, 0, 2, opening};
    EXPECT_TRUE(is_read(rt, all, 0, start_)) << "the second time";
  }
  const test::failing_disk changes{test::disk_call::statx, 0, 2, opening};
  EXPECT_FALSE(is_read(rt, all, 1, start_)) << "what was read counts, too";
}

TEST_P(long_pages, that_are_written_to_as_often_as_they_are_read_are_unavailable) {
  with_.cache.bytes = 8 * bytes;
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  const test::failing_disk changes{test::disk_call::statx, 0, 2, opening, opening + 2};
  EXPECT_EQ(ask(rt, all, path_of(1), 1, start_).front().code, http::status::unavailable);
  EXPECT_EQ(changes.calls(), 3 * (opening + 2)) << "three times, though there is room for more";
}

/// Else the first who is sent it would be given up.
TEST_P(long_pages, that_are_written_to_while_they_are_opened_are_opened_again) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  {
    const test::failing_disk grows{test::disk_call::statx, EOVERFLOW, opening};
    EXPECT_TRUE(is_read(rt, all, 0, start_));
    EXPECT_GE(grows.calls(), 2 * opening);
  }
  const test::failing_disk grows{test::disk_call::statx, EOVERFLOW, 1'000'000};
  EXPECT_EQ(ask(rt, all, path_of(1), 1, start_).front().code, http::status::unavailable);
}

/// Its tag is of before.
TEST_P(long_pages, that_are_of_another_state_when_they_were_read_stay_on_the_disk) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  const test::failing_disk cannot_tell{test::disk_call::fstat, EIO, 1, 1};
  EXPECT_FALSE(is_read(rt, all, 0, start_));
}

/// As a log does: its bytes may be a mixture, but what is sent is looked at again.
TEST_P(long_pages, that_grow_while_they_are_read_stay_on_the_disk) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  const test::growing_disk longer;
  const test::failing_disk grows{test::disk_call::statx, EOVERFLOW, 1'000'000, opening};
  const finding found = ask(rt, all, path_of(0), 1, start_).front();
  EXPECT_EQ(found.code, http::status::ok);
  EXPECT_FALSE(is_in_memory(found));
}

/// Of all libraries, and those that somebody still sends.
TEST_P(long_pages, are_not_read_if_too_many_bytes_live) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  with_.most_living = page_body::living() + bytes;
  library all{rt, root, with_};
  EXPECT_TRUE(is_read(rt, all, 0, start_));
  EXPECT_FALSE(is_read(rt, all, 1, start_));
  EXPECT_TRUE(is_in_memory(ask(rt, all, "/short", 1, start_).front()));
}

TEST_P(long_pages, that_are_gone_when_they_are_to_be_read_are_not_given_ahead) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  for (int n = 0; n < 4; ++n) EXPECT_EQ(is_read(rt, all, n, start_), n < 2);
  std::filesystem::remove(folder_ / "2");
  EXPECT_FALSE(check_ahead(rt, all, path_of(2), start_ + 2s));
  EXPECT_EQ(ask(rt, all, path_of(2), 1, start_ + 2s).front().code, http::status::not_found);
  const test::failing_disk fails{test::disk_call::openat2, EMFILE, 100};
  const std::optional<finding> found = check_ahead(rt, all, path_of(3), start_ + 4s);
  EXPECT_TRUE(!found || found->content != nullptr);
}

/// Else the end would not know that the disk is asked.
TEST_P(long_pages, that_are_to_be_read_ahead_need_a_permit) {
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  const auto sweeps = std::make_shared<tartan::semaphore>(2);  // one is left to the sweeps
  library all{rt, root, with_, sweeps};
  for (int n = 0; n < 3; ++n) EXPECT_EQ(is_read(rt, all, n, start_), n < 2);
  std::optional<tartan::result<tartan::semaphore::permit>> taken{sweeps->try_acquire()};
  EXPECT_TRUE(*taken);
  std::optional<finding> found = check_ahead(rt, all, path_of(2), start_ + 2s);
  EXPECT_TRUE(!found || !is_in_memory(*found));
  taken.reset();
  found = check_ahead(rt, all, path_of(2), start_ + 2s);
  EXPECT_TRUE(found && is_in_memory(*found));
}

TEST_P(long_pages, that_have_changed_on_the_disk_are_not_read_by_a_sweep) {
  with_.renewal = 10h;
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  for (int n = 0; n < 3; ++n) EXPECT_EQ(is_read(rt, all, n, start_), n < 2);
  write("2", std::string(bytes - 1, 'z'));
  for (const auto passed : {600ms, 800ms}) static_cast<void>(check_ahead(rt, all, path_of(2), start_ + passed));
  EXPECT_FALSE(is_read(rt, all, 2, start_ + 900ms));
}

TEST_P(long_pages, that_are_longer_than_any_page_stay_on_the_disk) {
  write("longer", std::string(bytes + 1, 'x'));
  tartan::runtime rt = runtime();
  const document_root root{folder(), {}};
  library all{rt, root, with_};
  EXPECT_FALSE(is_in_memory(ask(rt, all, "/longer", 1, start_).front()));
  const std::size_t loads = all.loads();
  EXPECT_TRUE(check_ahead(rt, all, "/longer", start_ + 100ms));
  EXPECT_EQ(all.loads(), loads);
}

}  // namespace
}  // namespace web
