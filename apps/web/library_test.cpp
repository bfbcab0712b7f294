#include "web/library_fixture.h"

#include <tartan/core/hints.h>
#include <tartan/core/on.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <semaphore>
#include <set>
#include <string>
#include <vector>

#include "tests/web/failing_disk.h"
#include "tests/web/failing_memory.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::pages;

INSTANTIATE_TEST_SUITE_P(on, pages, testing::Values(1u, 2u, 4u));

TEST_P(pages, are_read_once_however_many_ask) {
  write("a.txt", "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  const std::vector<finding> found = ask(rt, all, "/a.txt", 200, start_);
  EXPECT_EQ(all.loads(), 1u);
  for (const finding& each : found) {
    ASSERT_EQ(each.code, http::status::ok);
    EXPECT_EQ(each.content, found[0].content);
    EXPECT_EQ(each.content->body.text(), "a");
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
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 2s)[0].content->body.text(), "another");
  EXPECT_EQ(all.loads(), 3u);
  std::filesystem::remove(folder_ / "a.txt");
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 3s)[0].code, http::status::not_found);
}

TEST_P(pages, with_a_sibling_that_is_too_young_are_looked_at_again_after_a_second) {
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const char* name : {"a.txt", "a.txt.gz"}) write(name, "a");
  std::filesystem::last_write_time(folder_ / "a.txt", now - 1h);
  std::filesystem::last_write_time(folder_ / "a.txt.gz", now + 60s);  // this machine may be slow
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.recheck = 1h}};
  EXPECT_TRUE(ask(rt, all, "/a.txt", 1, start_)[0].content->siblings.empty());
  EXPECT_TRUE(ask(rt, all, "/a.txt", 1, start_ + 1s)[0].content->siblings.empty());
  std::filesystem::last_write_time(folder_ / "a.txt.gz", now - 3s);
  EXPECT_TRUE(ask(rt, all, "/a.txt", 1, start_ + 1999ms)[0].content->siblings.empty());
  EXPECT_TRUE(ask(rt, all, "/a.txt", 1, start_ + 2s)[0].content->siblings.has(http::coding::gzip));
  EXPECT_EQ(all.loads(), 3u);
  EXPECT_TRUE(ask(rt, all, "/a.txt", 1, start_ + 30min)[0].content->siblings.has(http::coding::gzip));
  EXPECT_EQ(all.loads(), 3u);
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
    EXPECT_EQ(each.content->body.text(), is_old(each) ? "a" : "another");
  }
}

TEST_P(pages, that_are_not_there_are_looked_for_each_time_but_once_for_all_who_wait) {
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {}};
  for (const finding& each : ask(rt, all, "/none", 20, start_)) EXPECT_EQ(each.code, http::status::not_found);
  EXPECT_EQ(all.loads(), 1u);
  write("none", "now there");
  EXPECT_EQ(ask(rt, all, "/none", 1, start_)[0].content->body.text(), "now there");
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
  EXPECT_EQ(changed->content->body.text(), "another");
  EXPECT_EQ(changed->checked, start_ + 625ms);
  EXPECT_FALSE(check_ahead(rt, all, "/b.txt", start_ + 626ms));
  EXPECT_EQ(ask(rt, all, "/b.txt", 1, start_ + 626ms)[0].code, http::status::not_found);
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

/// So much else of the same urgency runs meanwhile that each visit waits.
class pages_of_a_busy_worker : public pages {
 protected:
  static constexpr int count = 16;

  pages_of_a_busy_worker() {
    std::set<std::size_t> shelves;
    for (int n = 0; paths_.size() < count; ++n) {
      if (shelves.insert(shelf_of(path_of(n))).second) paths_.push_back(path_of(n));
    }
    for (const std::string& path : paths_) write(path.c_str() + 1, "x");
  }

  /// Goes on until `over_`, in turns with all others.
  tartan::task<> crowd() {
    co_await tartan::hint({.priority = 1});
    for (std::uint64_t n = 0; !over_; ++n) co_await tartan::on(tartan::color{1000 + n % 2});
  }

  /// Counts its rounds from when a sweep gives its first page until it gives its last. There is one worker, so what it looks at stands still.
  tartan::task<> count_rounds(const library& all) {
    co_await tartan::hint({.priority = 1});
    const std::size_t before = all.loads();
    std::size_t seen = before;
    for (int round = 0; !over_; ++round) {
      co_await tartan::on(tartan::color{1 + static_cast<std::uint64_t>(round) % 2});
      if (all.loads() == seen) continue;
      if (seen == before) first_ = round;
      seen = all.loads();
      last_ = round;
    }
  }

  std::vector<std::string> paths_;  ///< each on a shelf of its own
  bool over_ = false;
  int first_ = 0;
  int last_ = 0;
};
INSTANTIATE_TEST_SUITE_P(on, pages_of_a_busy_worker, testing::Values(1u));

TEST_P(pages_of_a_busy_worker, that_are_due_are_checked_on_all_shelves_at_once) {
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.longest_sweep = 1h}};
  for (const std::string& path : paths_) ask(rt, all, path, 1, start_);
  for (int n = 0; n < 100; ++n) rt.spawn_in(tartan::color{100}, crowd()).detach();
  rt.spawn_in(tartan::color{1}, count_rounds(all)).detach();
  rt.spawn([&]() -> tartan::task<> {
    co_await tartan::hint({.priority = 1});
    for (const std::string& path : paths_) co_await all.check_ahead(path, start_ + 500ms);
    co_await all.check_ahead(paths_[0], start_ + 625ms);
    over_ = true;
  });
  rt.run_until_idle();
  EXPECT_EQ(all.loads(), std::size_t{2 * count});
  EXPECT_GT(first_, 0);
  EXPECT_LE(last_ - first_, 2) << "no shelf waits for another one";
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
    EXPECT_EQ(asked.content->body.text(), "another");
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
  ASSERT_TRUE(asked.code == http::status::ok && asked.content->body.text() == "another");
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
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 999ms)[0].content->body.text(), "a");
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 1s));
  EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 1125ms));
  EXPECT_EQ(check_ahead(rt, all, "/a.txt", start_ + 1126ms)->content->body.text(), "another");
}

TEST_P(pages, that_are_checked_ahead_without_memory_for_a_visit_are_checked_again) {
  write("a.txt", "a");
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  for (const std::size_t others : {0u, 1u}) {  // which page is of which shelf, and the visits
    write("a.txt", "a");
    library all{rt, root, {}};
    ask(rt, all, "/a.txt", 1, start_);
    write("a.txt", "another");
    EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 500ms));
    {
      const test::failing_memory fails{test::allocations::of(sizeof(void*)), others};
      EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 625ms));
      EXPECT_EQ(fails.count(), others + 1);
    }
    EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 999ms)[0].content->body.text(), "a");
    EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 1s));
    EXPECT_FALSE(check_ahead(rt, all, "/a.txt", start_ + 1125ms));
    EXPECT_EQ(check_ahead(rt, all, "/a.txt", start_ + 1126ms)->content->body.text(), "another");
  }
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
      EXPECT_EQ(page_again.code, http::status::ok);
      EXPECT_EQ(page_again.content, page.content);
      EXPECT_EQ(page_again.checked, start_) << "it was not";
      EXPECT_EQ(ask(rt, all, "/large", 1, start_ + later)[0].large, large.large);
    }
    EXPECT_EQ(ask(rt, all, "/b.txt", 1, start_)[0].code, http::status::unavailable);
  }
  const test::failing_disk fails{test::disk_call::fstat, EIO};
  EXPECT_EQ(ask(rt, all, "/a.txt", 1, start_ + 3s)[0].code, http::status::internal_error) << "that is not for want of anything";
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
