#include "web/document_root.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "tests/temporary_folder.h"
#include "tests/web/failing_disk.h"
#include "web/sibling.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::disk_call;
using test::failing_disk;

class folder : public testing::Test {
 public:
  [[nodiscard]] static auto open_files() {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
  }

 protected:
  folder() { std::ofstream{path_ / "page"} << "a page"; }

  tartan::test::temporary_folder path_;
  const document_root root_{path_.path()};
  const test::files_changed old_{-60s};
};

TEST_F(folder, tells_of_each_failure_of_the_system) {
  struct {
    disk_call call;
    int error;
    unsigned times;
    http::status expected;
  } const cases[] = {
      {disk_call::openat2, ENOENT, 1, http::status::not_found},
      {disk_call::openat2, ENOTDIR, 1, http::status::not_found},
      {disk_call::openat2, ENAMETOOLONG, 1, http::status::not_found},
      {disk_call::openat2, EACCES, 1, http::status::forbidden},
      {disk_call::openat2, EPERM, 1, http::status::forbidden},
      {disk_call::openat2, EXDEV, 1, http::status::forbidden},
      {disk_call::openat2, ELOOP, 1, http::status::forbidden},
      {disk_call::openat2, ENXIO, 1, http::status::forbidden},
      {disk_call::openat2, EMFILE, 1, http::status::unavailable},
      {disk_call::openat2, ENFILE, 1, http::status::unavailable},
      {disk_call::openat2, ENOMEM, 1, http::status::unavailable},
      {disk_call::openat2, EIO, 1, http::status::internal_error},
      {disk_call::openat2, EINTR, 1, http::status::ok},
      {disk_call::openat2, EAGAIN, 1, http::status::ok},
      {disk_call::openat2, EAGAIN, 1000, http::status::unavailable},
      {disk_call::fstat, EIO, 1, http::status::internal_error},
      {disk_call::pread, EIO, 1, http::status::internal_error},
      {disk_call::pread, EINTR, 5, http::status::ok},
      {disk_call::pread, 0, 1, http::status::ok},
      {disk_call::pread, 0, 1000, http::status::unavailable},
  };
  const auto before = open_files();
  for (const auto& each : cases) {
    const failing_disk fails{each.call, each.error, each.times};
    const document found = root_.load("/page", 100);
    EXPECT_EQ(found.code, each.expected) << static_cast<unsigned>(each.call) << ", error " << each.error;
    EXPECT_EQ(found.content.body.text(), each.expected == http::status::ok ? "a page" : "");
  }
  EXPECT_EQ(open_files(), before);
}

TEST_F(folder, reads_a_file_again_that_was_cut_while_it_was_read) {
  const failing_disk cut{disk_call::fstat, 0, 1, 1};
  EXPECT_EQ(root_.load("/page", 100).content.body.text(), "a page");
  EXPECT_EQ(cut.calls(), 4u);
}

TEST_F(folder, gives_nothing_of_a_file_that_is_cut_each_time_that_it_is_read) {
  const failing_disk cut{disk_call::fstat, 0, 100};
  EXPECT_EQ(root_.load("/page", 100).code, http::status::unavailable);
  EXPECT_EQ(cut.calls(), 6u);
}

/// As one that is written anew, and longer: what was read may be of both.
TEST_F(folder, gives_nothing_of_a_file_that_grows_each_time_that_it_is_read) {
  const test::growing_disk grows;
  EXPECT_EQ(root_.load("/page", 100).code, http::status::unavailable);
}

TEST_F(folder, knows_a_page_by_its_version) {
  const document first = root_.load("/page", 100);
  EXPECT_FALSE(first.unchanged);
  EXPECT_TRUE(root_.load("/page", 100, &first.content).unchanged);
  std::ofstream{path_ / "page"} << "another";
  EXPECT_EQ(root_.load("/page", 100, &first.content).content.body.text(), "another");
}

TEST_F(folder, has_a_version_that_nothing_equals_of_what_may_change_unseen) {
  const failing_disk after_the_read{disk_call::fstat, EIO, 1, 1};
  EXPECT_EQ(root_.load("/page", 100).content.version, file_version{});
  const test::files_changed just_now{60s};  // this machine is slow, and may have no time to lose
  const document young = root_.load("/page", 100);
  EXPECT_EQ(young.content.body.text(), "a page");
  EXPECT_EQ(young.content.version, file_version{});
}

TEST_F(folder, whose_index_is_a_folder_has_none) {
  std::filesystem::create_directories(path_ / "some" / "index.html");
  EXPECT_EQ(root_.load("/some/", 100).code, http::status::not_found);
  const document_root lists{path_.path(), {.listings = true}};
  EXPECT_NE(lists.load("/some/", 100).content.body.text().find("index.html/"), std::string::npos);
  EXPECT_NE(lists.load(key_of("/some/", http::coding::gzip), 100).code, http::status::ok);
}

TEST_F(folder, names_what_is_in_it_if_it_shall) {
  std::filesystem::create_directories(path_ / "some" / "more");
  std::ofstream{path_ / "some" / "a"} << "12345";
  std::ofstream{path_ / "some" / ".hidden"} << "x";
  std::filesystem::create_symlink("../page", path_ / "some" / "inside");
  std::filesystem::create_symlink("../../etc", path_ / "some" / "outside");
  ASSERT_EQ(::mkfifo((path_ / "some" / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(root_.load("/some/", 100).code, http::status::not_found);
  const document_root lists{path_.path(), {.listings = true}};
  const document found = lists.load("/some/", 100);
  EXPECT_EQ(found.code, http::status::ok);
  const std::string_view text = found.content.body.text();
  EXPECT_NE(text.find("<a href=\"./a\">a</a></td><td>5</td>"), std::string::npos) << text;
  EXPECT_NE(text.find("<a href=\"./more/\">more/</a>"), std::string::npos) << text;
  EXPECT_NE(text.find("<a href=\"./inside\">inside</a></td><td>6</td>"), std::string::npos) << text;
  for (const char* absent : {"hidden", "outside", "pipe", ">index"}) EXPECT_EQ(text.find(absent), std::string::npos) << absent;
  EXPECT_EQ(found.content.head.find("Last-Modified"), std::string::npos);
  EXPECT_EQ(found.content.head.find("ETag"), std::string::npos);
  EXPECT_FALSE(lists.load("/some/", 100, &found.content).unchanged);
  EXPECT_EQ(lists.load("/nothing/", 100).code, http::status::not_found);
  {
    const failing_disk without_descriptors{disk_call::openat2, EMFILE, 1, 2};  // behind index.html and the folder
    EXPECT_EQ(lists.load("/some/", 100).code, http::status::unavailable);
  }
  std::ofstream{path_ / "some" / "index.html"} << "index";
  EXPECT_EQ(lists.load("/some/", 100).content.body.text(), "index");
}

/// A site of which each release has a folder, and a symbolic link leads to the one that is served.
class published_folder : public testing::Test {
 protected:
  published_folder() {
    for (const char* each : {"first", "second"}) {
      std::filesystem::create_directory(path_ / each);
      std::ofstream{path_ / each / "page"} << each;
    }
    publish("first");
    root_.emplace(served_.string());
  }
  void publish(const char* release) const {
    std::filesystem::create_symlink(release, path_ / "next");
    std::filesystem::rename(path_ / "next", served_);
  }
  [[nodiscard]] std::string page() const { return std::string{root_->load("/page", 100).content.body.text()}; }

  tartan::test::temporary_folder path_;
  const std::filesystem::path served_ = path_ / "served";
  std::optional<document_root> root_;
  const test::files_changed old_{-60s};
};

TEST_F(published_folder, is_the_one_that_the_path_leads_to) {
  const document first = root_->load("/page", 100);
  EXPECT_EQ(first.content.body.text(), "first");
  EXPECT_TRUE(root_->is_still_there());
  publish("second");
  EXPECT_FALSE(root_->is_still_there());
  EXPECT_FALSE(root_->load("/page", 100, &first.content).unchanged);
  EXPECT_EQ(page(), "second");
  EXPECT_EQ(root_->load("/page", 1).large->name(), "/page");
  publish("first");
  EXPECT_TRUE(root_->load("/page", 100, &first.content).unchanged);
}

TEST_F(published_folder, may_be_another_one_of_the_same_name) {
  EXPECT_EQ(page(), "first");
  std::filesystem::rename(path_ / "first", path_ / "old");
  EXPECT_EQ(page(), "first") << "until there is another one";
  std::filesystem::rename(path_ / "second", path_ / "first");
  EXPECT_EQ(page(), "second");
}

/// Neither is what was served before the last one served again, nor is there nothing.
TEST_F(published_folder, cannot_be_told_while_another_one_is_put_there) {
  publish("second");
  EXPECT_EQ(page(), "second");
  std::filesystem::remove(served_);
  EXPECT_EQ(root_->load("/page", 100).code, http::status::unavailable);
  publish("first");
  EXPECT_EQ(page(), "first");
}

TEST_F(published_folder, cannot_be_told_when_the_one_of_the_start_was_deleted) {
  EXPECT_EQ(page(), "first");
  std::filesystem::remove_all(path_ / "first");
  EXPECT_EQ(root_->load("/page", 100).code, http::status::unavailable);
  publish("second");
  EXPECT_EQ(page(), "second");
}

TEST_F(published_folder, cannot_be_told_where_a_file_is_in_its_place) {
  std::filesystem::remove(served_);
  std::ofstream{served_} << "no folder";
  EXPECT_EQ(root_->load("/page", 100).code, http::status::unavailable);
}

TEST_F(published_folder, leaves_no_descriptor_open_and_is_unavailable_without_one) {
  publish("second");
  const auto before = folder::open_files();
  for (int n = 0; n < 3; ++n) EXPECT_EQ(page(), "second");
  EXPECT_EQ(folder::open_files(), before);
  rlimit was{};
  ::getrlimit(RLIMIT_NOFILE, &was);
  const rlimit none{0, was.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const http::status code = root_->load("/page", 100).code;
  ::setrlimit(RLIMIT_NOFILE, &was);
  EXPECT_EQ(code, http::status::unavailable);
}

class folder_with_siblings : public folder {
 protected:
  void write(const char* name, std::chrono::seconds age) {
    std::ofstream{path_ / name} << name;
    std::filesystem::last_write_time(path_ / name, written_ - age);
  }
  [[nodiscard]] http::coding_set siblings() const { return root_.load("/page", 100).content.siblings; }
  [[nodiscard]] static http::coding_set only(http::coding c) {
    http::coding_set set;
    set.add(c);
    return set;
  }

  /// As a file that was written just now.
  void write_young(const char* name) {
    std::ofstream{path_ / name} << name;
    // This machine may be slow.
    std::filesystem::last_write_time(path_ / name, std::filesystem::file_time_type::clock::now() + 60s);
  }
  folder_with_siblings() { std::filesystem::last_write_time(path_ / "page", written_); }

  const std::filesystem::file_time_type written_ = std::filesystem::file_time_type::clock::now() - 1h;
};

/// A compressor that writes in place leaves an empty file first, then a part of what it will be.
TEST_F(folder_with_siblings, knows_none_that_may_still_be_being_written) {
  write_young("page.gz");
  const document before = root_.load("/page", 100);
  EXPECT_TRUE(before.content.siblings.empty());
  EXPECT_TRUE(before.content.has_young_sibling);
  EXPECT_NE(root_.load(key_of("/page", http::coding::gzip), 100).code, http::status::ok) << "an earlier state was known";
  EXPECT_TRUE(root_.load("/page", 100, &before.content).unchanged);
  std::filesystem::last_write_time(path_ / "page.gz", std::filesystem::file_time_type::clock::now() - 3s);
  const document after = root_.load("/page", 100, &before.content);
  EXPECT_FALSE(after.unchanged);
  EXPECT_EQ(after.content.siblings, only(http::coding::gzip));
  EXPECT_FALSE(after.content.has_young_sibling);
  EXPECT_EQ(root_.load(key_of("/page", http::coding::gzip), 100).content.body.text(), "page.gz");
}

TEST_F(folder_with_siblings, knows_one_from_the_second_second_of_its_age_on) {
  for (const auto& [age, is_taken] : {std::pair{1900ms, false}, {2100ms, true}}) {
    std::ofstream{path_ / "page.gz"} << "page.gz";
    const auto dated = std::filesystem::file_time_type::clock::now() - age;
    std::filesystem::last_write_time(path_ / "page.gz", dated);
    const bool is_found = siblings().has(http::coding::gzip);
    const bool is_old_by_now = std::filesystem::file_time_type::clock::now() - dated >= 2s;  // this machine may be slow
    EXPECT_TRUE(is_found == is_taken || (is_found && is_old_by_now)) << age.count();
  }
}

TEST_F(folder_with_siblings, knows_none_that_is_empty) {
  std::ofstream{path_ / "page.gz"};
  std::filesystem::last_write_time(path_ / "page.gz", written_);
  const document found = root_.load("/page", 100);
  EXPECT_TRUE(found.content.siblings.empty());
  EXPECT_FALSE(found.content.has_young_sibling);
  EXPECT_NE(root_.load(key_of("/page", http::coding::gzip), 100).code, http::status::ok);
}

TEST_F(folder_with_siblings, forgets_a_young_one_that_has_gone) {
  write_young("page.gz");
  const document before = root_.load("/page", 100);
  std::filesystem::remove(path_ / "page.gz");
  const document after = root_.load("/page", 100, &before.content);
  EXPECT_FALSE(after.unchanged) << "else it would be looked for each second";
  EXPECT_FALSE(after.content.has_young_sibling);
}

TEST_F(folder_with_siblings, knows_those_that_are_no_older_than_their_file) {
  EXPECT_TRUE(siblings().empty());
  write("page.br", 1s);
  EXPECT_TRUE(siblings().empty());
  write("page.gz", 0s);
  EXPECT_EQ(siblings(), only(http::coding::gzip));
  write("page.br", -1s);
  EXPECT_TRUE(siblings().has(http::coding::gzip) && siblings().has(http::coding::brotli));
  write("page.br", -30min);
  EXPECT_TRUE(siblings().has(http::coding::gzip) && siblings().has(http::coding::brotli));
  EXPECT_TRUE((document_root{path_.path(), {.precompressed = false}}.load("/page", 100).content.siblings.empty()));
}

/// brotli before 1.1 gives its file the other one's time without the fraction.
TEST_F(folder_with_siblings, compares_those_whose_time_has_no_fraction_by_the_second) {
  const auto second = std::chrono::floor<std::chrono::seconds>(std::filesystem::file_time_type::clock::now()) - 600s;
  std::filesystem::last_write_time(path_ / "page", second + 500ms);
  const std::pair<std::chrono::milliseconds, bool> cases[] = {{0ms, true}, {1ms, false}, {499ms, false}, {500ms, true}, {-1000ms, false}, {1000ms, true}};
  for (const auto& [after, is_taken] : cases) {
    std::ofstream{path_ / "page.br"} << "page.br";
    std::filesystem::last_write_time(path_ / "page.br", second + after);
    EXPECT_EQ(siblings().has(http::coding::brotli), is_taken) << after.count();
  }
  std::filesystem::last_write_time(path_ / "page", second + 500ms);
  std::filesystem::last_write_time(path_ / "page.br", second);
  const test::files_changed before_the_file{-3600s};  // and so not made from this state of it
  EXPECT_FALSE(siblings().has(http::coding::brotli));
}

TEST_F(folder_with_siblings, cannot_say_which_there_are_without_descriptors) {
  write("page.gz", 0s);
  const failing_disk fails{disk_call::openat2, EMFILE, 1, 2};  // behind the file, and one sibling
  EXPECT_EQ(root_.load("/page", 100).code, http::status::unavailable);
  EXPECT_EQ(root_.load("/page", 100).content.siblings, only(http::coding::gzip));
}

TEST_F(folder_with_siblings, takes_no_folder_for_one) {
  std::filesystem::create_directory(path_ / "page.gz");
  EXPECT_TRUE(siblings().empty());
  EXPECT_NE(root_.load(key_of("/page", http::coding::gzip), 100).code, http::status::ok);
}

TEST_F(folder_with_siblings, loads_one_as_what_it_stands_for) {
  write("page.gz", 0s);
  const document sibling = root_.load(key_of("/page", http::coding::gzip), 100);
  EXPECT_EQ(sibling.content.body.text(), "page.gz");
  EXPECT_NE(sibling.content.head.find("\r\nContent-Encoding: gzip\r\n"), std::string::npos);
  EXPECT_TRUE(sibling.content.siblings.empty());
  EXPECT_EQ(root_.load(key_of("/page", http::coding::brotli), 100).code, http::status::not_found);
}

TEST_F(folder_with_siblings, sees_one_that_has_come_or_gone) {
  const document before = root_.load("/page", 100);
  write("page.gz", 0s);
  const document after = root_.load("/page", 100, &before.content);
  EXPECT_FALSE(after.unchanged);
  EXPECT_TRUE(root_.load("/page", 100, &after.content).unchanged);
  std::filesystem::remove(path_ / "page.gz");
  EXPECT_FALSE(root_.load("/page", 100, &after.content).unchanged);
}

}  // namespace
}  // namespace web
