#include "load/result_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "tests/temporary_folder.h"

namespace load {
namespace {

constexpr std::string_view result = "what has been measured";

std::string content_of_file(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// What is wrong, or an empty text.
template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
    return {};
  } catch (const std::system_error& wrong) {
    return wrong.what();
  }
}

/// No file of this process can be longer.
class size_limit {
 public:
  explicit size_limit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit less{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &less);
  }
  size_limit(const size_limit&) = delete;
  size_limit& operator=(const size_limit&) = delete;
  ~size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_before_);
  }

 private:
  rlimit before_{};
  void (*signal_before_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

TEST(a_result_file, that_cannot_be_written_says_so_before_there_is_a_result) {
  const tartan::test::temporary_folder folder;
  const std::string nowhere = folder / "no folder/x";
  EXPECT_EQ(error_of([&] { result_file{nowhere}; }), "cannot write " + nowhere + ": No such file or directory");
  EXPECT_EQ(error_of([&] { result_file{folder.path()}; }), "cannot write " + folder.path().string() + ": Is a directory");
}

TEST(a_result_file, is_new_when_there_is_a_result_and_not_before) {
  const tartan::test::temporary_folder folder;
  result_file file{folder / "new"};
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  file.write(result);
  EXPECT_EQ(content_of_file(folder / "new"), result);
}

TEST(a_result_file, holds_what_it_did_until_there_is_a_result) {
  const tartan::test::temporary_folder folder;
  const std::filesystem::path path = folder / "old";
  for (const std::string& before : {std::string{}, std::string{"short"}, std::string{result}, std::string(5000, 'x')}) {
    std::ofstream{path} << before;
    result_file file{path};
    EXPECT_EQ(content_of_file(path), before);
    file.write(result);
    EXPECT_EQ(content_of_file(path), result);
  }
}

TEST(a_result_file, for_which_there_is_no_room_holds_what_it_did) {
  const tartan::test::temporary_folder folder;
  const std::filesystem::path path = folder / "old";
  std::ofstream{path} << "dear";
  const std::string wrong = error_of([&] {
    const size_limit limit{10};  // some of it fits
    result_file{path}.write(result);
  });
  EXPECT_EQ(wrong, "cannot write " + path.string() + ": File too large");
  EXPECT_EQ(content_of_file(path), "dear");
}

TEST(a_result_file, that_is_new_goes_if_there_is_no_room) {
  const tartan::test::temporary_folder folder;
  const std::string wrong = error_of([&] {
    const size_limit limit{10};
    result_file{folder / "new"}.write(result);
  });
  EXPECT_NE(wrong, "");
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
}

TEST(a_result_file, is_the_one_that_has_the_name_when_there_is_a_result) {
  const tartan::test::temporary_folder folder;
  std::ofstream{folder / "file"} << "first";
  result_file file{folder / "file"};
  std::ofstream{folder / "other"} << "second";
  std::filesystem::rename(folder / "other", folder / "file");
  file.write(result);
  EXPECT_EQ(content_of_file(folder / "file"), result);
}

TEST(a_result_file, is_found_through_a_link_that_stays) {
  const tartan::test::temporary_folder folder;
  std::filesystem::create_symlink("target", folder / "link");
  for (const char* const text : {"new", "old"}) {  // at first the link leads nowhere
    result_file file{folder / "link"};
    EXPECT_EQ(std::filesystem::exists(folder / "target"), text == std::string{"old"});
    file.write(text);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
    EXPECT_EQ(content_of_file(folder / "target"), text);
  }
}

TEST(a_result_file, that_is_a_fifo_does_not_end_before_the_result) {
  const tartan::test::temporary_folder folder;
  const std::filesystem::path path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  char got[100];
  result_file file{path};
  EXPECT_EQ(::read(reader, got, sizeof got), -1) << "0 were an end";
  EXPECT_EQ(errno, EAGAIN);
  file.write(result);
  EXPECT_EQ(::read(reader, got, sizeof got), static_cast<ssize_t>(result.size()));
  EXPECT_EQ(::read(reader, got, sizeof got), 0);
  ::close(reader);
}

TEST(a_result_file, that_is_a_device_is_written_to) {
  EXPECT_EQ(error_of([] { result_file{"/dev/null"}.write(result); }), "");
  EXPECT_EQ(error_of([] { result_file{"/dev/full"}.write(result); }), "cannot write /dev/full: No space left on device");
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

}  // namespace
}  // namespace load
