/// What the library keeps open of files that are sent from the disk.
#include "web/library_fixture.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/web/failing_memory.h"

namespace web {
namespace {

using namespace std::chrono_literals;

class large_pages : public test::pages {
 protected:
  /// Two files have the two places of a shelf; the first one is used, and the second makes room for a third.
  void use_the_first_of_three(const std::function<tartan::task<>(library&, const std::string&, const page&)>& use) {
    const std::vector<std::string> paths = paths_beside(path_of(0));
    for (const std::string& path : paths) write(path.c_str() + 1, std::string(1000, 'x'));
    const document_root root{folder()};
    tartan::simulation world;
    tartan::runtime rt = runtime(world);
    library all{rt, root, {.largest_page = 999, .open_files = 2 * 64}};
    rt.spawn([&]() -> tartan::task<> {
      const shared_page first = (co_await all.ask(paths[0], start_)).content;
      const shared_page second = (co_await all.ask(paths[1], start_)).content;
      co_await use(all, paths[0], *first);
      static_cast<void>(co_await all.ask(paths[2], start_));
      EXPECT_FALSE(first->large.expired());
      EXPECT_TRUE(second->large.expired());
    });
    rt.run_until_idle();
  }

  /// With a file of 1000 bytes that is too large for a page, and was changed long ago.
  void check_ahead_of(const std::function<tartan::task<>(library&)>& check) {
    write("large", std::string(1000, 'x'));
    std::filesystem::last_write_time(folder_ / "large", std::filesystem::file_time_type::clock::now() - 1h);  // else it gets its date in between
    const document_root root{folder()};
    tartan::simulation world;
    tartan::runtime rt = runtime(world);
    library all{rt, root, {.largest_page = 999, .longest_sweep = 1h}};
    rt.spawn([&]() -> tartan::task<> { co_await check(all); });
    rt.run_until_idle();
  }
};
INSTANTIATE_TEST_SUITE_P(on, large_pages, testing::Values(1u, 2u, 4u));

TEST_P(large_pages, that_are_too_large_stay_on_the_disk) {
  write("large", std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::runtime rt = runtime();
  library all{rt, root, {.largest_page = 999}};
  const finding found = ask(rt, all, "/large", 1, start_)[0];
  ASSERT_EQ(found.code, http::status::ok);
  ASSERT_NE(found.large, nullptr);
  EXPECT_TRUE(found.large->is_open());
  EXPECT_EQ(found.content->size, 1000u);
  EXPECT_TRUE(found.content->body.text().empty());
}

TEST_P(large_pages, that_are_too_large_are_open_once_while_somebody_sends_them) {
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

TEST_P(large_pages, that_are_too_large_stay_open_while_they_are_asked_for) {
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
TEST_P(large_pages, that_are_too_large_stay_open_while_they_are_used) {
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
TEST_P(large_pages, that_are_too_large_stay_open_after_a_long_transfer) {
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

TEST_P(large_pages, that_are_too_large_are_checked_ahead_while_they_are_open) {
  check_ahead_of([this](library& all) -> tartan::task<> {
    const shared_page kept = (co_await all.ask("/large", start_)).content;
    for (const auto later : {500ms, 625ms}) static_cast<void>(co_await all.check_ahead("/large", start_ + later));
    const std::optional<finding> checked = co_await all.check_ahead("/large", start_ + 626ms);
    EXPECT_EQ(all.loads(), 2u);
    EXPECT_TRUE(checked && checked->content == kept && checked->checked == start_ + 625ms);
    EXPECT_FALSE(kept->large.expired());
    std::filesystem::remove(folder_ / "large");
    write("large", std::string(2000, 'x'));
    for (const auto later : {1125ms, 1250ms, 1251ms}) {
      const bool is_there = (co_await all.check_ahead("/large", start_ + later)).has_value();
      EXPECT_FALSE(is_there) << "whoever asks for it opens it";
    }
    const finding changed = co_await all.ask("/large", start_ + 2s);
    EXPECT_EQ(changed.content->size, 2000u);
    EXPECT_TRUE(kept->large.expired());
  });
}

/// Who sends it all the time has it checked ahead, and never asks.
TEST_P(large_pages, that_are_too_large_have_their_place_again_when_they_are_checked_ahead) {
  use_the_first_of_three([this](library& all, const std::string& path, const page&) -> tartan::task<> {
    static_cast<void>(co_await all.check_ahead(path, start_ + 100ms));
  });
}

TEST_P(large_pages, that_are_found_to_be_large_no_more_are_closed) {
  check_ahead_of([this](library& all) -> tartan::task<> {
    const shared_page kept = (co_await all.ask("/large", start_)).content;
    EXPECT_FALSE(kept->large.expired());
    write("large", "x");
    for (const auto later : {500ms, 625ms}) static_cast<void>(co_await all.check_ahead("/large", start_ + later));
    EXPECT_TRUE(kept->large.expired());
    EXPECT_EQ(all.loads(), 2u);
  });
}

/// A page is known by its length; who asks next gets another descriptor.
TEST_P(large_pages, that_have_become_longer_are_closed_where_they_were_open) {
  write("large", std::string(1000, 'x'));
  const document_root root{folder()};
  tartan::simulation world;
  tartan::runtime rt = runtime(world);
  library all{rt, root, {.largest_page = 999}};
  const std::size_t before = descriptors();
  rt.spawn([&]() -> tartan::task<> {
    for (const std::size_t size : {1000u, 2000u, 3000u}) {
      write("large", std::string(size, 'x'));
      static_cast<void>(co_await all.ask("/large", start_));
      EXPECT_EQ(descriptors(), before + 1);
    }
  });
  rt.run_until_idle();
}

TEST_P(large_pages, that_are_too_large_make_room_where_they_are_not_used) {
  use_the_first_of_three([](library&, const std::string&, const page& first) -> tartan::task<> {
    EXPECT_TRUE(co_await tartan::sleep(6s));  // the shelf has looked
    if (const auto open = first.large.lock()) open->note_use();
  });
}

TEST_P(large_pages, that_are_too_large_are_given_out_without_memory_for_a_place_among_the_open_ones) {
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
        EXPECT_TRUE(found.code == http::status::unavailable || found.large->is_open()) << n;
        has_failed = fails.count() > n;
        if (has_failed && found.code == http::status::ok) ++given_out;
      }
      const finding again = co_await all.ask("/large", start_);
      EXPECT_NE(again.large, nullptr) << n;
    });
    rt.run_until_idle();
  }
  EXPECT_NE(given_out, 0u);
  EXPECT_EQ(descriptors(), before);
}

TEST_P(large_pages, that_are_too_large_are_never_given_out_with_another_length) {
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

TEST_P(large_pages, that_are_too_large_are_open_in_a_bounded_number) {
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

}  // namespace
}  // namespace web
