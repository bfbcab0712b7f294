#include "common/line_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/temporary_folder.h"

namespace tartan::apps {
namespace {

const line_log_names names{"a-program", "access log"};

class a_log : public testing::Test {
 protected:
  /// In an event of each color, and to the end.
  void add(line_log& to, int lines, const std::string& text = "line\n") {
    for (int n = 0; n < lines; ++n)
      rt_.post(tartan::color{static_cast<std::uint64_t>(n % 4) + 1}, [&to, text] { to.add(text); });
    rt_.run_until_idle();
  }
  void flush(line_log& of) {
    rt_.spawn([&]() -> tartan::task<> { co_await of.flush(); });
    rt_.run_until_idle();
  }
  [[nodiscard]] static tartan::options two_workers() {
    tartan::options with;
    with.workers = 2;
    return with;
  }
  [[nodiscard]] static std::string content(const std::filesystem::path& file) {
    std::ifstream from{file};
    return {std::istreambuf_iterator<char>{from}, {}};
  }

  tartan::test::temporary_folder folder_;
  const std::filesystem::path path_ = folder_ / "log";
  tartan::runtime rt_{two_workers()};
};

TEST_F(a_log, appends_all_lines) {
  std::ofstream{path_} << "old\n";
  line_log log{rt_, path_, names};
  add(log, 1000);
  flush(log);
  const std::string found = content(path_);
  EXPECT_EQ(found.substr(0, 4), "old\n");
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1001);
}

TEST_F(a_log, goes_on_with_its_file_if_that_cannot_be_opened_anew) {
  line_log log{rt_, path_, names};
  std::filesystem::rename(path_, folder_ / "old");
  std::filesystem::create_directory(path_);
  testing::internal::CaptureStderr();
  log.reopen(path_);
  add(log, 1);
  flush(log);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("a-program: cannot open the access log '" + path_.string() +
                                                        "' anew (Is a directory)"),
            std::string::npos);
  EXPECT_EQ(content(folder_ / "old"), "line\n");
}

// A pipe that nobody reads takes 64 KB, and then some megabytes wait; who reads begins when all has been added.
TEST_F(a_log, that_is_too_slow_loses_lines_and_says_how_many) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const file reader{::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  std::optional<line_log> log{std::in_place, rt_, path_, names};
  const std::string line = std::string(9'999, 'a') + '\n';
  constexpr std::size_t added = 1000;
  std::size_t bytes = 0;
  std::thread reads;
  const auto read_all = [&] {
    std::array<char, 65536> some;
    for (ssize_t got = -1; got != 0; bytes += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
      got = ::read(reader.descriptor(), some.data(), some.size());
  };
  testing::internal::CaptureStderr();
  rt_.post([&] {
    for (std::size_t n = 0; n < added; ++n) log->add(line);
    tartan::post(log->color(), [&] { reads = std::thread{read_all}; });
  });
  flush(*log);
  log.reset();
  reads.join();
  std::size_t lost = 0;
  std::istringstream said{testing::internal::GetCapturedStderr()};
  for (std::string each; std::getline(said, each);) lost += std::stoul(each.substr(each.find(" lost: ") + 7));
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(bytes, (added - lost) * line.size());
}

TEST_F(a_log, has_to_be_writable_at_first) {
  EXPECT_THROW((line_log{rt_, folder_ / "no" / "log", names}), std::runtime_error);
}

TEST_F(a_log, can_be_checked_without_a_trace) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  const std::filesystem::path link = folder_ / "link";
  const std::filesystem::path broken = folder_ / "broken";
  std::filesystem::create_symlink("new", link);
  std::filesystem::create_symlink("between", broken);
  std::filesystem::create_symlink("no/new", folder_ / "between");
  const std::filesystem::path door = folder_ / "door";
  ASSERT_EQ(::mknod(door.c_str(), S_IFSOCK | 0600, 0), 0);
  const auto before = std::filesystem::last_write_time(folder_.path());
  for (const std::filesystem::path& good : {folder_ / "new", pipe, path_, link})
    EXPECT_NO_THROW(line_log::check(good, "access log")) << good;
  for (const std::filesystem::path& bad : {folder_ / "no" / "log", path_ / "log", folder_ / ".", broken, door}) {
    EXPECT_THROW(line_log::check(bad, "access log"), std::runtime_error) << bad;
  }
  EXPECT_EQ(std::filesystem::last_write_time(folder_.path()), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));  // the time's tick may be the same
  ::close(reader);
}

// To open such a pipe would take until somebody reads it.
TEST_F(a_log, is_no_pipe_that_nobody_reads) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  try {
    const line_log log{rt_, pipe, names};
    FAIL();
  } catch (const std::runtime_error& wrong) {
    EXPECT_EQ(wrong.what(), "cannot write the access log '" + pipe.string() + "': nobody reads it");
  }
  line_log log{rt_, path_, names};
  std::filesystem::rename(path_, folder_ / "old");
  std::filesystem::rename(pipe, path_);
  testing::internal::CaptureStderr();
  log.reopen(path_);
  add(log, 1);
  flush(log);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("anew (nobody reads it)"), std::string::npos);
  EXPECT_EQ(content(folder_ / "old"), "line\n");
}

TEST_F(a_log, begins_a_line_in_a_file_that_ends_within_one) {
  std::ofstream{path_} << "a half";
  line_log log{rt_, path_, names};
  add(log, 2);
  flush(log);
  EXPECT_EQ(content(path_), "a half\nline\nline\n");
  std::ofstream{path_} << "another";
  log.reopen(path_);
  flush(log);
  add(log, 2);
  flush(log);
  EXPECT_EQ(content(path_), "another\nline\nline\n");
}

}  // namespace
}  // namespace tartan::apps
