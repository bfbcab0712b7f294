// A hang that comes once in a thousand runs of a machine that nobody can log on to leaves nothing but what it has printed. For each thread: its name,
// its state, where the kernel has put it to sleep, its CPU time.
#include "tests/hang_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "tests/workers.h"

namespace tartan::test {

namespace {

constexpr unsigned longest_case_s = 300;  // the longest takes 10 s; ctest's limit for a program is 600 s

std::array<char, 512> running{};
std::function<void()> more;

void say(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(3);  // nobody listens
}

void say_file(const char* thread, const char* name) {
  std::array<char, 128> path{};
  std::array<char, 512> text{};
  static_cast<void>(std::snprintf(path.data(), path.size(), "/proc/self/task/%s/%s", thread, name));
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t got = ::read(file, text.data(), text.size());
  static_cast<void>(::close(file));
  std::string_view found{text.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  while (found.ends_with('\n')) found.remove_suffix(1);
  say(" ");
  say(name);
  say("=");
  say(found);
}

void report(int /*signal*/) {
  say("\na test case has run for 300 s: ");
  say(running.data());
  if (DIR* const all = ::opendir("/proc/self/task")) {
    while (const dirent* const each = ::readdir(all)) {
      if (each->d_name[0] == '.') continue;
      say("\nthread ");
      say(each->d_name);
      for (const char* name : {"comm", "wchan", "syscall", "stat"}) say_file(each->d_name, name);
    }
    static_cast<void>(::closedir(all));
  }
  say("\n");
  if (more) more();
  ::abort();
}

class hang_watch final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& info) override {
    static_cast<void>(std::snprintf(running.data(), running.size(), "%s.%s", info.test_suite_name(), info.name()));
    struct sigaction how{};
    how.sa_handler = report;
    static_cast<void>(::sigaction(SIGALRM, &how, nullptr));
    if (!soak()) static_cast<void>(::alarm(longest_case_s));
  }
  void OnTestEnd(const testing::TestInfo& /*info*/) override {
    static_cast<void>(::alarm(0));
    more = nullptr;
  }
};

const bool is_watching = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new hang_watch);
  return true;
}();

}  // namespace

void tell_if_it_hangs(std::function<void()> what) {
  more = std::move(what);
}

}  // namespace tartan::test
