#include "colorings/common/load_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "colorings/common/prebuilt_pages.h"
#include "tests/temporary_folder.h"

namespace colorings {
namespace {

class load_file_test : public testing::Test {
 protected:
  load_file_test() {
    std::filesystem::create_directories(folder_.path() / "d" / "e");
    write("d/e/page.html", "page");
    write("d/index.html", "index");
    std::filesystem::create_symlink("page.html", folder_.path() / "d/e/link.html");
    root_ = open_root(folder_.path().string());
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream{folder_.path() / name} << text; }
  [[nodiscard]] loaded_file load(const std::string& path) const { return load_file(path_prefixes{path}, {0, root_}, root_); }

  tartan::test::temporary_folder folder_;
  handle root_;
};

TEST_F(load_file_test, reads_and_gives_what_it_has_opened) {
  const loaded_file file = load("/d/e/page.html");
  ASSERT_EQ(file.code, tartan::http::status::ok);
  EXPECT_EQ(file.page->body.text(), "page");
  ASSERT_EQ(file.handles.size(), 3U);
  EXPECT_EQ(file.handles[2].step, 2U);
}

TEST_F(load_file_test, opens_only_what_is_not_known) {
  const loaded_file first = load("/d/e/page.html");
  const path_prefixes again{"/d/e/page.html"};
  const loaded_file file = load_file(again, {2, first.handles[1].what}, root_);
  ASSERT_EQ(file.code, tartan::http::status::ok);
  EXPECT_EQ(file.handles.size(), 1U);
  const loaded_file known = load_file(again, {3, first.handles[2].what}, root_);
  ASSERT_EQ(known.code, tartan::http::status::ok);
  EXPECT_TRUE(known.handles.empty());
}

TEST_F(load_file_test, looks_again_when_what_is_known_was_removed) {
  const loaded_file first = load("/d/e/page.html");
  write("d/e/new", "new");
  std::filesystem::rename(folder_.path() / "d/e/new", folder_.path() / "d/e/page.html");
  const loaded_file file = load_file(path_prefixes{"/d/e/page.html"}, {3, first.handles[2].what}, root_);
  ASSERT_EQ(file.code, tartan::http::status::ok);
  EXPECT_EQ(file.page->body.text(), "new");
  EXPECT_EQ(file.handles.size(), 3U);
}

TEST_F(load_file_test, tells_why_there_is_nothing) {
  EXPECT_EQ(load("/d/").code, tartan::http::status::ok);
  EXPECT_EQ(load("/d").code, tartan::http::status::moved_permanently);
  EXPECT_EQ(load("/d/nothing").code, tartan::http::status::not_found);
  EXPECT_EQ(load("/d/index.html/x").code, tartan::http::status::not_found);
  EXPECT_EQ(load("/d/e/link.html").code, tartan::http::status::forbidden);
  std::filesystem::resize_file(folder_.path() / "d/e/page.html", (std::uint64_t{64} << 20) + 1);
  EXPECT_EQ(load("/d/e/page.html").code, tartan::http::status::unavailable);
}

TEST_F(load_file_test, needs_a_folder) { EXPECT_THROW(static_cast<void>(open_root((folder_.path() / "nothing").string())), std::system_error); }

TEST_F(load_file_test, of_all_files_at_the_start) {
  const prebuilt_pages pages{folder_.path().string(), 1 << 20};
  ASSERT_NE(pages.find("/d/e/page.html"), nullptr);
  EXPECT_EQ(pages.find("/d/e/page.html")->body.text(), "page");
  ASSERT_NE(pages.find("/d/"), nullptr);
  EXPECT_EQ(pages.find("/d/")->body.text(), "index");
  EXPECT_EQ(pages.find("/d/e/link.html"), nullptr);
  EXPECT_EQ(pages.find("/d"), nullptr);
  EXPECT_THROW(prebuilt_pages(folder_.path().string(), 100), std::runtime_error);
}

}  // namespace
}  // namespace colorings
