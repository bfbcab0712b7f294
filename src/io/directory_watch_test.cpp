#include <tartan/io/directory_watch.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "io/object_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using test::here_color;
namespace fs = std::filesystem;

struct watched_folder {
  fs::path path;
  directory_watch watch;
  int files = 0;
  void close() { watch.close(); }
  void cancel() { watch.cancel(); }
  [[nodiscard]] bool is_open() const { return watch.is_open(); }
};

class watched_directories : public test::with_objects {
 protected:
  [[nodiscard]] fs::path path() const { return folder_.path(); }
  /// A folder below that, watched.
  std::unique_ptr<watched_folder> make() {
    fs::path below = folder_ / std::to_string(++folders_);
    fs::create_directory(below);
    auto watch = directory_watch::open(below);
    EXPECT_TRUE(watch) << watch.error().message();
    return std::unique_ptr<watched_folder>{new watched_folder{std::move(below), std::move(*watch)}};
  }

 private:
  test::temporary_folder folder_;
  int folders_ = 0;
};
INSTANTIATE_TEST_SUITE_P(on, watched_directories, testing::ValuesIn(test::worker_counts()), test::worker_name);

void write_file(const fs::path& at) {
  std::ofstream out{at};
  out << "text";
}

TEST_P(watched_directories, end_a_wait_in_every_way) {
  ends_in_every_way(test::operation_under_test{[&] { return make(); }, [](watched_folder& f) { return f.watch.next(); },
                                               [](watched_folder& f, auto g) { f.watch.next(std::move(g)); },
                                               [](watched_folder& f) { fs::create_directory(f.path / std::to_string(++f.files)); }});
}

TEST_P(watched_directories, tell_names_and_what_happened_in_order) {
  in_color([&]() -> task<> {
    auto f = make();
    write_file(f->path / "a");
    fs::permissions(f->path / "a", fs::perms::owner_read);
    fs::rename(f->path / "a", f->path / "b");
    fs::remove(f->path / "b");
    const std::vector<std::pair<std::string, change_kind>> expected{
        {"a", change_kind::created},    {"a", change_kind::modified},   {"a", change_kind::written}, {"a", change_kind::attributes},
        {"a", change_kind::moved_away}, {"b", change_kind::moved_here}, {"b", change_kind::removed}};
    for (const auto& [name, kind] : expected) {
      const auto got = co_await f->watch.next();
      EXPECT_EQ(got->name, name);
      EXPECT_EQ(got->kind, kind) << name << ", " << static_cast<int>(kind);
    }
    fs::remove(f->path);
    const auto last = co_await f->watch.next();
    EXPECT_EQ(last->kind, change_kind::gone);
    EXPECT_EQ(last->name, "");
    EXPECT_EQ((co_await f->watch.next()).error(), errc::end_of_stream);
  });
}

TEST_P(watched_directories, lose_nothing_between_two_reads) {
  constexpr int many = 300;  // more than one read holds
  in_color([&]() -> task<> {
    auto f = make();
    for (int n = 0; n < many; ++n) fs::create_directory(f->path / ("folder-with-a-long-name-" + std::to_string(n)));
    for (int n = 0; n < many; ++n) {
      const auto got = co_await f->watch.next();
      EXPECT_EQ(got->name, "folder-with-a-long-name-" + std::to_string(n));
    }
    const auto none = co_await with_timeout(std::chrono::milliseconds{1}, f->watch.next());
    EXPECT_EQ(none.error(), errc::timed_out);
  });
}

TEST_P(watched_directories, tell_when_changes_were_lost) {
  unsigned long most = 0;
  std::ifstream{"/proc/sys/fs/inotify/max_queued_events"} >> most;
  ASSERT_GT(most, 0u);
  ASSERT_LE(most, 1'000'000u);
  in_color([&]() -> task<> {
    auto f = make();
    const fs::path one = f->path / "1";
    const fs::path other = f->path / "2";
    write_file(one);
    for (unsigned long n = 0; n <= most / 2 + 1; ++n) fs::rename(n % 2 == 0 ? one : other, n % 2 == 0 ? other : one);
    bool lost = false;
    for (unsigned long n = 0; n <= most + 1 && !lost; ++n) {
      const auto got = co_await f->watch.next();
      lost = got->kind == change_kind::overflow;
      if (lost) {
        EXPECT_EQ(got->name, "");
      }
    }
    EXPECT_TRUE(lost);
    fs::remove_all(f->path / "1");
    fs::remove_all(f->path / "2");
    EXPECT_EQ((co_await f->watch.next())->kind, change_kind::removed) << "it goes on";
  });
}

TEST_P(watched_directories, say_why_they_cannot_be_watched) {
  EXPECT_EQ(directory_watch::open(rt(), path() / "no").error(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(directory_watch::open(rt(), "/etc/passwd").error(), std::errc::not_a_directory);
}

TEST_P(watched_directories, are_watched_from_outside_of_events_too) {
  auto watch = directory_watch::open(rt(), path(), here_color);
  EXPECT_TRUE(watch);
  write_file(path() / "x");
  in_color([&]() -> task<> { EXPECT_EQ((co_await watch->next())->name, "x"); });
}

}  // namespace
}  // namespace tartan
