#include "common/service_manager.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "common/file.h"
#include "tests/temporary_folder.h"

namespace tartan::apps {
namespace {

/// The environment as a manager sets it.
class passed : public testing::Test {
 protected:
  passed() { set(std::to_string(::getpid()), "0", ""); }
  ~passed() override { set(nullptr, nullptr, nullptr); }

  static void set(const std::string& pid, const std::string& count, const std::string& names) {
    set(pid.c_str(), count.c_str(), names.c_str());
  }
  static void set(const char* pid, const char* count, const char* names) {
    set_one("LISTEN_PID", pid);
    set_one("LISTEN_FDS", count);
    set_one("LISTEN_FDNAMES", names);
  }
  static void set_one(const char* name, const char* value) {
    if (value != nullptr) {
      ::setenv(name, value, 1);
    } else {
      ::unsetenv(name);
    }
  }
};

TEST_F(passed, sockets_are_none_without_a_manager) {
  set(nullptr, nullptr, nullptr);
  EXPECT_TRUE(passed_sockets().empty());
  set(std::to_string(::getpid() + 1), "1", "a");
  EXPECT_TRUE(passed_sockets().empty()) << "they are another process's";
}

TEST_F(passed, sockets_are_taken_once_and_no_child_gets_them) {
  const file third{::fcntl(STDERR_FILENO, F_DUPFD, 3)};
  if (third.descriptor() != 3) ::dup2(STDERR_FILENO, 3);
  set(std::to_string(::getpid()), "1", "https:more");
  const std::vector<passed_socket> found = passed_sockets();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front(), (passed_socket{3, "https"}));
  EXPECT_NE(::fcntl(3, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
  EXPECT_TRUE(passed_sockets().empty());
}

TEST_F(passed, sockets_have_to_be_open) {
  for (const char* const count : {"100000", "-1", "x", "1x", ""}) {
    set(std::to_string(::getpid()), count, "");
    EXPECT_THROW(static_cast<void>(passed_sockets()), std::invalid_argument) << count;
  }
}

/// A manager's socket.
class manager : public testing::Test {
 protected:
  manager() {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    const std::string path = (folder_ / "notify").string();
    std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
    EXPECT_EQ(::bind(socket_.descriptor(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~manager() override { ::unsetenv("NOTIFY_SOCKET"); }

  [[nodiscard]] std::string heard() const {
    std::array<char, 100> text;
    const ssize_t got = ::recv(socket_.descriptor(), text.data(), text.size(), MSG_DONTWAIT);
    return got < 0 ? "" : std::string{text.data(), static_cast<std::size_t>(got)};
  }

  tartan::test::temporary_folder folder_;
  file socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST_F(manager, is_told_a_state) {
  notify_manager("READY=1");
  EXPECT_EQ(heard(), "READY=1");
}

TEST_F(manager, that_does_not_listen_holds_nobody_up) {
  for (int n = 0; n < 10'000; ++n) notify_manager("READY=1");  // more than a socket holds
  EXPECT_EQ(heard(), "READY=1");
  ::setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
  notify_manager("READY=1");
  ::setenv("NOTIFY_SOCKET", "no path", 1);
  notify_manager("READY=1");
}

}  // namespace
}  // namespace tartan::apps
