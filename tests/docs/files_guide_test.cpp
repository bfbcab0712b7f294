/// What docs/guide/files.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tartan/tartan.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "tests/temporary_folder.h"

namespace {

using namespace std::chrono_literals;

tartan::task<bool> log(const tartan::file& to, std::string_view line) {
  const auto wrote = co_await to.append(line);
  co_return wrote.has_value();
}

tartan::task<tartan::result<tartan::pipe::read_end>> open_fifo(std::string path, tartan::color c) {
  auto opened = co_await tartan::file::open(path);
  if (!opened) co_return opened.error();
  co_return tartan::pipe::read_end::from_fd(*opened->release(), c);
}

tartan::task<bool> build(std::string directory) {
  tartan::command make{.arguments = {"make", "-j4"}, .directory = std::move(directory)};
  make.input = tartan::child_stream::null;
  make.output = tartan::child_stream::append_to("build.log");
  make.errors = tartan::child_stream::output;
  auto child = tartan::process::spawn(make);
  if (!child) co_return false;
  const auto end = co_await tartan::with_timeout(10min, child->wait());
  co_return end && end->success();  // too late: make and all its compilers are killed here, with `child`
}

std::string content_of(const std::string& path) {
  std::ifstream in{path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

TEST(files_guide, lines_are_added_to_a_log) {
  const tartan::test::temporary_folder folder;
  const std::string path = folder / "log";
  tartan::runtime rt;
  rt.spawn([&]() -> tartan::task<> {
    using enum tartan::file_flags;
    const auto opened = co_await tartan::file::open(path, write | create);
    EXPECT_TRUE(co_await log(*opened, "one\n"));
    EXPECT_TRUE(co_await log(*opened, "two\n"));
  }).detach();
  rt.run_until_idle();
  EXPECT_EQ(content_of(path), "one\ntwo\n");
}

TEST(files_guide, fifos_become_pipes) {
  const tartan::test::temporary_folder folder;
  const std::string path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  tartan::runtime rt;
  rt.spawn([&]() -> tartan::task<> {
    auto from = co_await open_fifo(path, tartan::color{});
    EXPECT_TRUE(from) << from.error().message();
    auto to = co_await tartan::file::open(path, tartan::file_flags::write);
    auto writes = tartan::pipe::write_end::from_fd(*to->release(), tartan::color{});
    EXPECT_TRUE(co_await writes->write("x"));
    std::array<char, 1> room{};
    EXPECT_TRUE(co_await from->read_exactly(room));
  }).detach();
  rt.run_until_idle();
}

TEST(files_guide, a_build_writes_its_log) {
  const tartan::test::temporary_folder folder;
  std::ofstream{folder / "Makefile"} << "all:\n\t@true\n";
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  bool built = false;
  {
    tartan::runtime rt;
    rt.spawn([&]() -> tartan::task<> { built = co_await build(folder.path()); }).detach();
    rt.run_until_idle();
  }
  std::filesystem::current_path(before);
  EXPECT_TRUE(built);
}

}  // namespace
