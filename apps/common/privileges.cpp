#include "common/privileges.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace tartan::apps {

namespace {

/// A user, with the memory that the entry points into.
struct account {
  std::array<char, 16 * 1024> room;
  passwd entry{};

  explicit account(const std::string& user) {
    passwd* found = nullptr;
    const int error = ::getpwnam_r(user.c_str(), &entry, room.data(), room.size(), &found);
    if (error != 0) throw std::system_error{error, std::system_category(), "cannot look up the user '" + user + "'"};
    if (found == nullptr) throw std::invalid_argument{"there is no user '" + user + "'"};
  }
  account(const account&) = delete;
  account& operator=(const account&) = delete;
};

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error{errno, std::system_category(), what};
}

}  // namespace

void check_user(const std::string& user) {
  static_cast<void>(account{user});
}

void become(const std::string& user) {
  const account found{user};
  const passwd& entry = found.entry;
  const std::string what = "cannot become the user '" + user + "'";
  if (::initgroups(entry.pw_name, entry.pw_gid) != 0) fail(what);
  if (::setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid) != 0) fail(what);
  if (::setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid) != 0) fail(what);
}

}  // namespace tartan::apps
