#include "library.h"

#include <gtest/gtest.h>
#include <tartan/core/blocking.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/io/simulation.h>
#include <tartan/time/sleep.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "tests/temporary_folder.h"
#include "tests/virtual_time.h"
#include "tests/web/failing_disk.h"
#include "tests/web/failing_memory.h"

namespace web {
namespace {

using namespace std::chrono_literals;

class pages : public testing::TestWithParam<unsigned> {
 protected:
  void write(const char* name, const std::string& content) const { std::ofstream{folder_ / name} << content; }
  [[nodiscard]] tartan::runtime runtime() {
    tartan::options with;
    with.workers = GetParam();
    with.stall_after = {};
    with.poller = &clock_;
    with.blocking_threads = 1;
    return tartan::runtime{with};
  }
  /// Whose clock stands still while the disk is asked.
  [[nodiscard]] static tartan::runtime runtime(tartan::simulation& world) {
    tartan::options with;
    with.workers = GetParam();
    with.poller = world.poller();
    return tartan::runtime{with};
  }
  [[nodiscard]] std::string folder() const { return folder_.path(); }

  /// Those of this program that are open.
  [[nodiscard]] static std::size_t descriptors() {
    const std::filesystem::directory_iterator open{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(open), end(open)));
  }

  [[nodiscard]] static std::string path_of(int n) { return std::string(1, '/').append(std::to_string(n)); }

  /// This one, and two others of its shelf.
  [[nodiscard]] static std::vector<std::string> paths_beside(const std::string& first) {
    const auto shelf_of = [](const std::string& path) { return std::hash<std::string_view>{}(path) % 64; };
    std::vector<std::string> paths{first};
    for (int n = 1; paths.size() < 3; ++n) {
      if (shelf_of(path_of(n)) == shelf_of(first)) paths.push_back(path_of(n));
    }
    return paths;
  }

  /// Each in a color of its own. The disk is busy until all of them wait: only then does this clock move.
  static std::vector<finding> ask(tartan::runtime& rt, library& all, std::string_view path, std::size_t times, page_cache::time now) {
    std::vector<finding> found(times);
    std::binary_semaphore done{0};
    tartan::blocking(rt, {}, [&] { done.acquire(); }, [](tartan::result<>) {});
    rt.spawn([&]() -> tartan::task<> {
        EXPECT_TRUE(co_await tartan::sleep(1s));
        done.release();
      });
    for (std::size_t n = 0; n < times; ++n) {
      rt.spawn_in(tartan::color{100 + n}, [&all, path, now, &into = found[n]]() -> tartan::task<> { into = co_await all.ask(path, now); })
          .detach();
    }
    rt.run_until_idle();
    return found;
  }

  static std::optional<finding> check_ahead(tartan::runtime& rt, library& all, std::string_view path, page_cache::time now) {
    std::optional<finding> found;
    rt.spawn([&]() -> tartan::task<> { found = co_await all.check_ahead(path, now); });
    rt.run_until_idle();
    return found;
  }

  tartan::test::virtual_poller clock_;
  tartan::test::temporary_folder folder_;
  const test::files_changed long_ago_{-60s};
  const page_cache::time start_{1h};
};
INSTANTIATE_TEST_SUITE_P(on, pages, testing::Values(1u, 2u, 4u));

TEST_P(pages, are_read_once_however_many_ask) {
  write("a.txt", "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  const std::vector<finding> found = ask(rt, all, "/a.txt", 200, start_);
  EXPECT_EQ(all.loads(), 1u);
  for (const finding& each : found) {
    ASSERT_EQ(each.code, status::ok);
    EXPECT_EQ(each.content, found[0].content);
    EXPECT_EQ(each.content->body, "a");
  }
  EXPECT_EQ(ask(rt, all, "/a.txt", 10, start_ + 999ms)[9].content, found[0].content);
  EXPECT_EQ(all.loads(), 1u);
}

TEST_P(pages, are_looked_at_again_when_their_time_is_up) {
  write("a.txt", "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  const shared_page first = ask(rt, all, "/a.txt", 1, start_)[0].content;
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 1s)[0].content, first) << "unchanged";
  EXPECT_EQ(all.loads(), 2u);
  write("a.txt", "another");
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 1s + 999ms)[0].content, first);
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 2s)[0].content->body, "another");
  EXPECT_EQ(all.loads(), 3u);
  std::filesystem::remove(folder_ / "a.txt");
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 3s)[0].code, status::not_found);
}

TEST_P(pages, are_given_out_as_they_were_while_one_asks_the_disk) {
  write("a.txt", "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  const shared_page first = ask(rt, all, "/a.txt", 1, start_)[0].content;
  write("a.txt", "another");
  const std::vector<finding> found = ask(rt, all, "/a.txt", 50, start_ + 1s);
  EXPECT_EQ(all.loads(), 2u) << "only one";
  const auto is_old = [&](const finding& each) { return each.content == first; };
  EXPECT_EQ(std::count_if(found.begin(), found.end(), is_old), 49);
  for (const finding& each : found) {
    EXPECT_EQ(each.checked, is_old(each) ? start_ : start_ + 1s);
    EXPECT_EQ(each.content->body, is_old(each) ? "a" : "another");
  }
}

TEST_P(pages, that_are_not_there_are_looked_for_each_time_but_once_for_all_who_wait) {
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  for (const finding& each : ask(rt, all, "/none", 20, start_)) EXPECT_EQ(each.code, status::not_found);
  EXPECT_EQ(all.loads(), 1u);
  write("none", "now there");
  EXPECT_EQ(ask(rt, all, "/none", 1, start_)[0].content->body, "now there");
  EXPECT_EQ(all.loads(), 2u);
}

/// The line is never empty here; still, the disk is asked anew for whoever asks when it has answered.
TEST_P(pages, that_are_not_there_are_looked_for_after_each_question) {
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  constexpr std::size_t questions = 20;
  for (std::size_t n = 0; n < 50; ++n) {
    rt.spawn_in(tartan::color{100 + n}, [&]() -> tartan::task<> {
        for (std::size_t asked = 0; asked < questions; ++asked) co_await all.ask("/none", start_);
      }).detach();
  }
  rt.run_until_idle();
  EXPECT_GE(all.loads(), questions) << "each question of one asker had an answer of its own";
}

TEST_P(pages, that_are_too_large_stay_on_the_disk) {
  write("large", std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.largest_page = 999}};
  const finding found = ask(rt, all, "/large", 1, start_)[0];
  ASSERT_EQ(found.code, status::ok);
  ASSERT_NE(found.large, nullptr);
  EXPECT_TRUE(found.large->is_open());
  EXPECT_EQ(found.content->size, 1000u);
  EXPECT_TRUE(found.content->body.empty());
}

TEST_P(pages, that_are_too_large_are_open_once_while_somebody_sends_them) {
  write("large", std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.largest_page = 999}};
  const std::size_t before = descriptors();
  {
    std::vector<finding> sent = ask(rt, all, "/large", 10, start_);
    EXPECT_EQ(all.loads(), 1u);
    sent.push_back(ask(rt, all, "/large", 1, start_ + 999ms)[0]);
    EXPECT_EQ(all.loads(), 1u) << "somebody has it, and it is fresh";
    sent.push_back(ask(rt, all, "/large", 1, start_ + 1s)[0]);
    EXPECT_EQ(all.loads(), 2u);
    for (const finding& each : sent) EXPECT_EQ(each.large, sent[0].large);
    EXPECT_EQ(descriptors(), before + 1);
    write("large", std::string(2000, 'x'));
    const finding changed = ask(rt, all, "/large", 1, start_ + 2s)[0];
    EXPECT_EQ(changed.content->size, 2000u);
    EXPECT_NE(changed.large, sent[0].large);
  }
  EXPECT_EQ(descriptors(), before);
  EXPECT_TRUE(ask(rt, all, "/large", 1, start_ + 2s)[0].large->is_open());
}

TEST_P(pages, that_are_too_large_stay_open_while_they_are_asked_for) {
  write("large", std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.largest_page = 999}};
  const std::size_t before = descriptors();
  rt.spawn([&]() -> tartan::task<> {
    for (int n = 0; n < 5; ++n) {
      const finding sent = co_await all.ask("/large", start_);
      EXPECT_NE(sent.large, nullptr);
      EXPECT_TRUE(co_await tartan::sleep(4s));
    }
    EXPECT_EQ(all.loads(), 1u);
    EXPECT_EQ(descriptors(), before + 1) << "it was asked for 4 s ago";
    EXPECT_TRUE(co_await tartan::sleep(6s));
    EXPECT_EQ(descriptors(), before);
    const finding again = co_await all.ask("/large", start_);
    EXPECT_NE(again.large, nullptr);
  });
  rt.run_until_idle();
  EXPECT_EQ(all.loads(), 2u);
  EXPECT_EQ(descriptors(), before);
}

/// By a worker that has the page, and so does not ask.
TEST_P(pages, that_are_too_large_stay_open_while_they_are_used) {
  write("large", std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.largest_page = 999}};
  const std::size_t before = descriptors();
  rt.spawn([&]() -> tartan::task<> {
    const shared_page kept = (co_await all.ask("/large", start_)).content;
    for (int n = 1; n <= 6; ++n) {
      EXPECT_TRUE(co_await tartan::sleep(3s));
      const auto open = kept->large.lock();
      if (open == nullptr) co_return ADD_FAILURE() << "closed after " << 3 * n << " s, although it was used 3 s ago";
      open->note_use();
    }
    EXPECT_TRUE(co_await tartan::sleep(11s));
    EXPECT_TRUE(kept->large.expired());
  });
  rt.run_until_idle();
  EXPECT_EQ(all.loads(), 1u);
  EXPECT_EQ(descriptors(), before);
}

/// Its shelf has closed it, for a slow client has had it for long. Another one there is asked for all the time.
TEST_P(pages, that_are_too_large_stay_open_after_a_long_transfer) {
  const std::string other = paths_beside("/large")[1];
  write("large", std::string(1000, 'x'));
  write(other.c_str() + 1, std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::simulation world;
  tartan::runtime rt = runtime(world);
  library all{rt, root, {.largest_page = 999}};
  rt.spawn([&]() -> tartan::task<> {
    finding sent = co_await all.ask("/large", start_);
    const shared_page kept = sent.content;
    for (int s = 0; s < 18; s += 2) {
      static_cast<void>(co_await all.ask(other, start_));
      EXPECT_TRUE(co_await tartan::sleep(2s));
    }
    static_cast<void>(co_await all.ask("/large", start_));
    sent = {};
    EXPECT_TRUE(co_await tartan::sleep(4s));  // the shelf looks after 20 s
    EXPECT_FALSE(kept->large.expired());
  });
  rt.run_until_idle();
  EXPECT_EQ(all.loads(), 2u);
}

TEST_P(pages, that_are_found_to_be_large_no_more_are_closed) {
  write("large", std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::simulation world;
  tartan::runtime rt = runtime(world);
  library all{rt, root, {.largest_page = 999, .longest_sweep = 1h}};
  rt.spawn([&]() -> tartan::task<> {
    const shared_page kept = (co_await all.ask("/large", start_)).content;
    EXPECT_FALSE(kept->large.expired());
    write("large", "x");
    for (const auto later : {500ms, 625ms}) static_cast<void>(co_await all.check_ahead("/large", start_ + later));
    EXPECT_TRUE(kept->large.expired());
  });
  rt.run_until_idle();
  EXPECT_EQ(all.loads(), 2u);
}

/// Of those on one shelf.
TEST_P(pages, that_are_too_large_make_room_where_they_are_not_used) {
  const std::vector<std::string> paths = paths_beside(path_of(0));
  for (const std::string& path : paths) write(path.c_str() + 1, std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::simulation world;
  tartan::runtime rt = runtime(world);
  library all{rt, root, {.largest_page = 999, .open_files = 2 * 64}};
  rt.spawn([&]() -> tartan::task<> {
    std::vector<shared_page> kept;
    for (const int n : {0, 1}) kept.push_back((co_await all.ask(paths[static_cast<std::size_t>(n)], start_)).content);
    EXPECT_TRUE(co_await tartan::sleep(6s));
    if (const auto first = kept[0]->large.lock()) first->note_use();
    static_cast<void>(co_await all.ask(paths[2], start_));
    EXPECT_FALSE(kept[0]->large.expired());
    EXPECT_TRUE(kept[1]->large.expired());
  });
  rt.run_until_idle();
}

/// The path is so long that nothing else is as large as what its copies take.
TEST_P(pages, that_cannot_be_put_on_the_list_for_want_of_memory_become_old) {
  const std::string path = "/" + std::string(200, 'a');
  write(path.c_str() + 1, "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  ask(rt, all, path, 1, start_);
  rt.spawn([&]() -> tartan::task<> {
    const test::failing_memory fails{test::allocations::of(path.size() + 1)};
    bool is_thrown = false;
    try {
      static_cast<void>(co_await all.check_ahead(path, start_ + 500ms));
    } catch (const std::bad_alloc&) {
      is_thrown = true;
    }
    EXPECT_TRUE(is_thrown);
  });
  rt.run_until_idle();
  EXPECT_FALSE(check_ahead(rt, all, path, start_ + 625ms));
  EXPECT_EQ(all.loads(), 1u) << "nothing was on the list";
  EXPECT_EQ(ask(rt, all, path, 1, start_ + 1s)[0].checked, start_ + 1s);
}

TEST_P(pages, that_are_too_large_are_given_out_without_memory_for_a_place_among_the_open_ones) {
  constexpr std::size_t place = sizeof(large_file);  // other things have as many bytes
  write("large", std::string(1000, 'x'));
  const document_root root{folder()};
  const std::size_t before = descriptors();
  std::size_t given_out = 0;
  bool has_failed = true;
  for (std::size_t n = 0; has_failed; ++n) {
    tartan::runtime rt = runtime();
    library all{rt, root, {.largest_page = 999}};
    rt.spawn([&]() -> tartan::task<> {
      {
        const test::failing_memory fails{test::allocations::of(place), n};
        const finding found = co_await all.ask("/large", start_);
        EXPECT_TRUE(found.code == status::unavailable || found.large->is_open()) << n;
        has_failed = fails.count() > n;
        if (has_failed && found.code == status::ok) ++given_out;
      }
      const finding again = co_await all.ask("/large", start_);
      EXPECT_NE(again.large, nullptr) << n;
    });
    rt.run_until_idle();
  }
  EXPECT_NE(given_out, 0u);
  EXPECT_EQ(descriptors(), before);
}

TEST_P(pages, that_are_too_large_are_never_given_out_with_another_length) {
  write("large", std::string(2000, 'x'));
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.largest_page = 999}};
  const finding first = ask(rt, all, "/large", 1, start_)[0];
  for (const std::size_t size : {1500u, 3000u}) {
    write("large", std::string(size, 'x'));  // in place: it is the same open file
    for (const finding& each : ask(rt, all, "/large", 5, start_)) {
      EXPECT_EQ(each.content->size, size);
      EXPECT_NE(each.large, nullptr);
    }
  }
  EXPECT_LE(all.loads(), 3u);
}

TEST_P(pages, that_are_too_large_are_open_in_a_bounded_number) {
  const std::vector<std::string> paths = paths_beside(path_of(0));
  for (const std::string& path : paths) write(path.c_str() + 1, std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::simulation world;
  tartan::runtime rt = runtime(world);
  const std::size_t before = descriptors();
  for (const std::size_t most : {63u, 64u, 128u}) {
    library all{rt, root, {.largest_page = 999, .open_files = most}};
    rt.spawn([&]() -> tartan::task<> {
      for (const int n : {0, 1, 0, 2}) co_await all.ask(paths[static_cast<std::size_t>(n)], start_);
      EXPECT_EQ(descriptors(), before + most / 64);
      co_await all.ask(paths[0], start_);
    });
    rt.run_until_idle();
    EXPECT_EQ(all.loads(), most < 128 ? 5u : 3u) << "the one that was asked for again stays open";
  }
}

TEST_P(pages, that_are_due_are_checked_together_while_they_are_given_out) {
  write("a.txt", "a");
  write("b.txt", "b");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.longest_sweep = 1h}};
  const shared_page first = ask(rt, all, "/a.txt", 1, start_)[0].content;
  ask(rt, all, "/b.txt", 1, start_);
  const std::optional<finding> fresh = check_ahead(rt, all, "/a.txt", start_ + 499ms);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->content, first);
  EXPECT_EQ(fresh->checked, start_);
  write("a.txt", "another");
  std::filesystem::remove(folder_ / "b.txt");
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 500ms));
  EXPECT_FALSE(check_ahead(rt, all, "/b.txt", start_ + 550ms));
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 624ms));
  EXPECT_EQ(all.loads(), 2u) << "they gather";
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 624ms)[0].content, first);
  EXPECT_FALSE(check_ahead(rt, all, "/b.txt", start_ + 625ms));
  EXPECT_EQ(all.loads(), 4u);
  const std::optional<finding> changed = check_ahead(rt, all, "/a.txt", start_ + 626ms);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->content->body, "another");
  EXPECT_EQ(changed->checked, start_ + 625ms);
  EXPECT_FALSE(check_ahead(rt, all, "/b.txt", start_ + 626ms));
  EXPECT_EQ(ask(rt, all, "/b.txt", 1, start_ + 626ms)[0].code, status::not_found);
}

TEST_P(pages, that_are_due_and_cannot_be_checked_become_old) {
  write("a.txt", "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  const shared_page first = ask(rt, all, "/a.txt", 1, start_)[0].content;
  {
    const test::failing_disk fails{test::disk_call::openat2, EMFILE, 100};
    EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 500ms));
    EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 625ms));
    EXPECT_EQ(all.loads(), 2u);
  }
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 999ms));
  EXPECT_EQ(all.loads(), 2u) << "it was asked about half a second ago";
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 999ms)[0].checked, start_);
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 1s));
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 1125ms));
  EXPECT_EQ(all.loads(), 3u);
  EXPECT_EQ(check_ahead(rt, all, "/a.txt", start_ + 1126ms)->checked, start_ + 1125ms);
}

TEST_P(pages, that_are_due_are_checked_by_short_jobs) {
  constexpr std::size_t count = 20;
  const std::string much(64 * 1024, 'x');  // 16 of them are a megabyte
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  for (const bool by_time : {true, false}) {
    for (std::size_t n = 0; n < count; ++n) write(path_of(static_cast<int>(n)).c_str() + 1, by_time ? "x" : much.substr(1));
    library all{rt, root, {.longest_sweep = by_time ? 0ms : 1h}};
    rt.spawn([&]() -> tartan::task<> {
      for (int n = 0; n < static_cast<int>(count); ++n) co_await all.ask(path_of(n), start_);
      for (int n = 0; n < static_cast<int>(count); ++n) write(path_of(n).c_str() + 1, by_time ? "x" : much);
      for (int n = 0; n < static_cast<int>(count); ++n) co_await all.check_ahead(path_of(n), start_ + 500ms);
      co_await all.check_ahead("/0", start_ + 625ms);
      EXPECT_EQ(all.loads(), count + (by_time ? 1 : 16));
      co_await all.check_ahead("/19", start_ + 625ms);
      EXPECT_EQ(all.loads(), count + (by_time ? 1 : 16)) << "the others gather anew";
      co_await all.check_ahead("/19", start_ + 750ms);
      EXPECT_EQ(all.loads(), count + (by_time ? 2 : 20));
    });
    rt.run_until_idle();
  }
}

TEST_P(pages, that_are_due_are_forgotten_if_nobody_asks_in_time) {
  write("a.txt", "a");
  write("b.txt", "b");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  ask(rt, all, "/a.txt", 1, start_);
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 500ms));
  ask(rt, all, "/b.txt", 1, start_ + 1s);
  EXPECT_FALSE(check_ahead(rt, all, "/b.txt", start_ + 1500ms));
  EXPECT_FALSE(check_ahead(rt, all, "/b.txt", start_ + 1625ms));
  EXPECT_EQ(all.loads(), 3u) << "of b alone";
}

TEST_P(pages, that_are_asked_for_while_they_are_checked_are_as_the_question_finds_them) {
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  for (const bool sweep_first : {true, false}) {
    write("a.txt", "a");
    library all{rt, root, {}};
    ask(rt, all, "/a.txt", 1, start_);
    EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 900ms));
    write("a.txt", "another");
    std::binary_semaphore begin{0};
    tartan::blocking(rt, {}, [&] { begin.acquire(); }, [](tartan::result<>) {});  // the only thread: what both ask for waits in line
    finding asked;
    rt.spawn([&]() -> tartan::task<> {
      EXPECT_TRUE(co_await tartan::sleep(sweep_first ? 2s : 1s));
      asked = co_await all.ask("/a.txt", start_ + 1s);
    });
    rt.spawn([&]() -> tartan::task<> {
      EXPECT_TRUE(co_await tartan::sleep(sweep_first ? 1s : 2s));
      co_await all.check_ahead("/a.txt", start_ + 1025ms);
    });
    rt.spawn([&]() -> tartan::task<> {
      EXPECT_TRUE(co_await tartan::sleep(3s));
      begin.release();
    });
    rt.run_until_idle();
    EXPECT_EQ(asked.content->body, "another");
    EXPECT_EQ(all.loads(), 2u) << "the sweep's answer does not count, or is not asked for";
    EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 1999ms)[0].content, asked.content);
  }
}

/// In that order: the check finds nothing, the file is written, the question finds it. Which answer is the first to come back is the scheduler's affair.
TEST_P(pages, that_are_asked_for_stay_though_an_earlier_check_has_found_none) {
  write("a.txt", "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  ask(rt, all, "/a.txt", 1, start_);
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 900ms));
  std::filesystem::remove(folder_ / "a.txt");
  std::binary_semaphore begin{0};
  tartan::blocking(rt, {}, [&] { begin.acquire(); }, [](tartan::result<>) {});  // the only thread: the others wait in line
  finding asked;
  rt.spawn([&]() -> tartan::task<> {
    EXPECT_TRUE(co_await tartan::sleep(1s));
    co_await all.check_ahead("/a.txt", start_ + 1025ms);
  });
  rt.spawn([&]() -> tartan::task<> {
    EXPECT_TRUE(co_await tartan::sleep(2s));
    co_await tartan::blocking([&] { write("a.txt", "another"); });
  });
  rt.spawn([&]() -> tartan::task<> {
    EXPECT_TRUE(co_await tartan::sleep(3s));
    asked = co_await all.ask("/a.txt", start_ + 1s);
  });
  rt.spawn([&]() -> tartan::task<> {
    EXPECT_TRUE(co_await tartan::sleep(4s));
    begin.release();
  });
  rt.run_until_idle();
  ASSERT_TRUE(asked.code == status::ok && asked.content->body == "another");
  EXPECT_EQ(all.loads(), 2u) << "what the check has found counts";
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 1999ms)[0].content, asked.content);
  EXPECT_EQ(all.loads(), 2u) << "it is still there";
}

TEST_P(pages, are_not_checked_ahead_if_there_is_no_time_for_it) {
  write("a.txt", "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  for (const std::chrono::milliseconds recheck : {1ms, 49ms, 50ms}) {
    library all{rt, root, {.recheck = recheck}};
    ask(rt, all, "/a.txt", 1, start_);
    EXPECT_EQ(check_ahead(rt, all, "/a.txt", start_ + recheck).has_value(), recheck < 50ms);
  }
}

TEST_P(pages, that_are_due_wait_while_all_permits_are_taken) {
  write("a.txt", "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  const auto sweeps = std::make_shared<tartan::semaphore>(1);
  library all{rt, root, {}, sweeps};
  ask(rt, all, "/a.txt", 1, start_);
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 500ms));
  {
    const auto taken = sweeps->try_acquire();
    EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 625ms));
    EXPECT_EQ(all.loads(), 1u);
  }
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 626ms));
  EXPECT_EQ(all.loads(), 2u);
  EXPECT_TRUE(sweeps->try_acquire()) << "it was given back";
}

TEST_P(pages, that_are_due_are_on_the_list_once) {
  for (const char* const name : {"a.txt", "b.txt"}) write(name, "x");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.longest_sweep = 1h}};
  rt.spawn([&]() -> tartan::task<> {
    for (const char* const path : {"/a.txt", "/b.txt"}) co_await all.ask(path, start_);
    for (int n = 0; n < 1024; ++n) co_await all.check_ahead("/a.txt", start_ + 500ms);
    co_await all.check_ahead("/b.txt", start_ + 500ms);
    co_await all.check_ahead("/b.txt", start_ + 625ms);
  });
  rt.run_until_idle();
  EXPECT_EQ(all.loads(), 4u) << "one page has the whole list";
}

TEST_P(pages, that_are_due_gather_in_a_bounded_number_and_the_others_become_old) {
  for (int n = 0; n < 1025; ++n) write(path_of(n).c_str() + 1, "x");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.longest_sweep = 1h}};
  rt.spawn([&]() -> tartan::task<> {
    for (int n = 0; n < 1025; ++n) co_await all.ask(path_of(n), start_);
    for (int n = 0; n < 1025; ++n) co_await all.check_ahead(path_of(n), start_ + 500ms);
    co_await all.check_ahead(path_of(0), start_ + 625ms);
    EXPECT_EQ(all.loads(), 1025u + 1024u);
    const finding refused = co_await all.ask(path_of(1024), start_ + 999ms);
    EXPECT_EQ(refused.checked, start_);
    const std::optional<finding> taken = co_await all.check_ahead(path_of(1023), start_ + 999ms);
    EXPECT_TRUE(taken && taken->checked == start_ + 625ms);
    const finding old = co_await all.ask(path_of(1024), start_ + 1s);
    EXPECT_EQ(old.checked, start_ + 1s);
    EXPECT_EQ(all.loads(), 1025u + 1025u);
    co_await all.check_ahead(path_of(1024), start_ + 1500ms);
    co_await all.check_ahead(path_of(1024), start_ + 1625ms);
    EXPECT_EQ(all.loads(), 1025u + 1026u) << "now there is room for it";
  });
  rt.run_until_idle();
}

TEST_P(pages, that_are_checked_ahead_without_memory_for_what_has_changed_are_checked_again) {
  write("a.txt", "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  ask(rt, all, "/a.txt", 1, start_);
  write("a.txt", "another");
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 500ms));
  {
    const test::failing_memory fails{{.least = sizeof(page), .most = sizeof(page) + 32}, 1};  // behind what the disk's thread has it in
    EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 625ms));
    EXPECT_EQ(fails.count(), 2u);
  }
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 999ms)[0].content->body, "a");
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 1s));
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 1125ms));
  EXPECT_EQ(check_ahead(rt, all, "/a.txt", start_ + 1126ms)->content->body, "another");
}

TEST_P(pages, that_cannot_be_checked_are_given_out_as_they_were) {
  write("a.txt", "a");
  write("large", std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.largest_page = 999}};
  const finding page = ask(rt, all, "/a.txt", 1, start_)[0];
  const finding large = ask(rt, all, "/large", 1, start_)[0];
  {
    const test::failing_disk fails{test::disk_call::openat2, EMFILE, 100};
    for (const std::chrono::seconds later : {1s, 2s}) {
      const finding page_again = ask(rt, all, "/a.txt", 1, start_ + later)[0];
      EXPECT_EQ(page_again.code, status::ok);
      EXPECT_EQ(page_again.content, page.content);
      EXPECT_EQ(page_again.checked, start_) << "it was not";
      EXPECT_EQ(ask(rt, all, "/large", 1, start_ + later)[0].large, large.large);
    }
    EXPECT_EQ(ask(rt, all, "/b.txt", 1, start_)[0].code, status::unavailable);
  }
  const test::failing_disk fails{test::disk_call::fstat, EIO};
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 3s)[0].code, status::internal_error) << "that is not for want of anything";
}

TEST_P(pages, that_no_shelf_could_keep_are_not_read) {
  write("a.txt", std::string(600, 'x'));
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library_settings with;
  for (const std::size_t bytes : {64u * 1400, 64u * 1000}) {
    with.cache.bytes = bytes;
    library all{rt, root, with};
    EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_)[0].large == nullptr, bytes == 64 * 1400);
  }
}

TEST_P(pages, make_room_for_others) {
  for (int n = 0; n < 100; ++n) write(path_of(n).c_str() + 1, std::string(10'000, 'x'));
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library_settings with;
  with.cache = {.bytes = 64 * 25'000, .entries = 0};
  library all{rt, root, with};
  for (int n = 0; n < 100; ++n) EXPECT_EQ(ask(rt, all, path_of(n), 1, start_)[0].content->body.size(), 10'000u);
  EXPECT_EQ(all.loads(), 100u);
}

}  // namespace
}  // namespace web
