#include "web/keep_fresh.h"

#include <gtest/gtest.h>
#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/spawn.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/temporary_folder.h"
#include "tests/virtual_time.h"
#include "tests/web/failing_disk.h"
#include "tests/web/failing_memory.h"

namespace web {
namespace {

using namespace std::chrono_literals;

page copy_of(const page& of) {
  page copy;
  copy.head = of.head;
  copy.type = of.type;
  copy.tag = of.tag;
  copy.modified = of.modified;
  copy.known_by = of.known_by;
  copy.body = page_body{std::string{of.body.text()}};
  copy.size = of.size;
  copy.version = of.version;
  copy.siblings = of.siblings;
  copy.as = of.as;
  copy.large = of.large;
  return copy;
}

/// One page of a site with one worker, which has it in its cache.
class a_known_page : public testing::Test {
 protected:
  static constexpr page_cache::time start{1h};

  a_known_page() {
    std::ofstream{folder_ / "page"} << "a page";
    settings with;
    with.hosts.resize(1);
    with.hosts[0].root = folder_.path();
    site_ = std::make_shared<site>(rt_, with, nullptr, std::make_shared<tartan::semaphore>(library::most_sweeps));
    rt_.spawn([this]() -> tartan::task<> {
      const finding found = co_await the_host().pages.ask("/page", start);
      cache().put("/page", found.content, found.checked);
    });
    rt_.run_until_idle();
  }

  [[nodiscard]] host& the_host() { return site_->host_of(""); }
  [[nodiscard]] page_cache& cache() { return site_->stores.local().pages[0]; }

  template <class F>
  void on_the_worker(F what) {
    rt_.post(what);
    rt_.run_until_idle();
  }

  /// How many events it takes to ask so often, but for the one that asks.
  std::uint64_t events_of(int times, page_cache::time now) {
    const std::uint64_t before = rt_.counters().events;
    on_the_worker([&] {
      for (int n = 0; n < times; ++n) keep_fresh(site_, the_host(), *cache().find("/page"), now, site_->settings.pages.pause());
    });
    return rt_.counters().events - before - 1;
  }

  tartan::test::temporary_folder folder_;
  const test::files_changed long_ago_{-60s};
  tartan::test::virtual_poller clock_;
  tartan::runtime rt_{[this] {
    tartan::options with;
    with.workers = 1;
    with.poller = &clock_;
    return with;
  }()};
  std::shared_ptr<site> site_;
};

TEST_F(a_known_page, is_asked_for_once_in_an_eighth_of_its_time_however_many_are_served) {
  EXPECT_GT(events_of(1, start + 500ms), 0u);
  EXPECT_EQ(events_of(100, start + 500ms), 0u);
  EXPECT_EQ(events_of(100, start + 624ms), 0u);
  EXPECT_EQ(the_host().pages.loads(), 1u) << "the list is not old enough";
  EXPECT_GT(events_of(100, start + 625ms), 0u);
  EXPECT_EQ(the_host().pages.loads(), 2u);
}

TEST_F(a_known_page, is_not_asked_for_if_it_has_no_tag_for_it_is_made_anew_each_time) {
  on_the_worker([this] {
    page changed = copy_of(*cache().find("/page")->content);
    changed.tag.clear();
    cache().put("/page", std::make_shared<const page>(std::move(changed)), start);
  });
  EXPECT_EQ(events_of(1, start + 500ms), 0u);
}

/// One that is sent from the disk. Between two runs its shelf closes it.
TEST_F(a_known_page, is_asked_for_if_it_is_large_as_long_as_somebody_has_it_open) {
  std::ofstream{folder_ / "page"} << std::string(100'000, 'x');
  std::filesystem::last_write_time(folder_ / "page", std::filesystem::file_time_type::clock::now() - 1h);  // else it gets its date in between
  large_file sent;
  rt_.spawn([&]() -> tartan::task<> {
    const finding found = co_await the_host().pages.ask("/page", start + 2s);
    sent = found.large;
    cache().put("/page", found.content, found.checked);
  });
  rt_.run_until_idle();
  EXPECT_GT(events_of(1, start + 2500ms), 0u);
  EXPECT_GT(events_of(1, start + 2625ms), 0u);
  EXPECT_GT(events_of(1, start + 2750ms), 0u);
  on_the_worker([&] { EXPECT_EQ(cache().find("/page")->checked, start + 2625ms); });
  sent = nullptr;
  EXPECT_EQ(events_of(1, start + 3250ms), 0u) << "the next one has to ask anyway";
  on_the_worker([this] {
    page changed = copy_of(*cache().find("/page")->content);
    changed.siblings.add(http::coding::gzip);
    cache().put("/page", std::make_shared<const page>(std::move(changed)), start + 2625ms);
  });
  EXPECT_GT(events_of(1, start + 3250ms), 0u) << "who gets a sibling needs no file";
}

/// The path is so long that nothing else is as large as what its copies take: of the first lives the question, of the second the library's list.
TEST_F(a_known_page, is_served_on_if_there_is_no_memory_to_ask_for_it) {
  const std::string path = "/" + std::string(200, 'a');
  std::ofstream{folder_ / path.substr(1)} << "a page";
  rt_.spawn([&]() -> tartan::task<> {
    const finding found = co_await the_host().pages.ask(path, start);
    cache().put(path, found.content, found.checked);
  });
  rt_.run_until_idle();
  const auto ask_at = [&](page_cache::time now) {
    on_the_worker([&] { keep_fresh(site_, the_host(), *cache().find(path), now, site_->settings.pages.pause()); });
  };
  for (const std::size_t n : {0u, 1u}) {
    const test::failing_memory fails{test::allocations::of(path.size() + 1), n};
    ask_at(start + 500ms + n * 125ms);
    EXPECT_EQ(fails.count(), n + 1);
  }
  on_the_worker([&] { EXPECT_EQ(cache().find(path)->checked, start); });
  ask_at(start + 1125ms);  // half a second after the library was asked
  ask_at(start + 1250ms);
  ask_at(start + 1375ms);
  on_the_worker([&] { EXPECT_EQ(cache().find(path)->checked, start + 1250ms); });
}

TEST_F(a_known_page, that_was_checked_is_served_for_as_long_again) {
  EXPECT_GT(events_of(1, start + 500ms), 0u);
  EXPECT_GT(events_of(1, start + 625ms), 0u);
  EXPECT_GT(events_of(1, start + 750ms), 0u);  // what the library has by now
  on_the_worker([this] { EXPECT_EQ(cache().find("/page")->checked, start + 625ms); });
}

}  // namespace
}  // namespace web
