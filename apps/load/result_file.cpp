// A regular file is not held open meanwhile, but opened again: if another has been put in its place, that one gets the result. It is
// written in place, not renamed to, so that links, owner and mode stay, and the folder need not be writable.
#include "load/result_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

namespace load {

result_file::result_file(std::string path) : path_{std::move(path)} {
  const bool is_new = open();
  if (!is_regular()) return;
  ::close(std::exchange(descriptor_, -1));
  if (is_new) remove();
}

result_file::~result_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void result_file::write(std::string_view text) {
  const bool is_new = descriptor_ < 0 && open();
  try {
    if (is_regular()) {
      replace(text);
    } else {
      put(text);
    }
    if (::close(std::exchange(descriptor_, -1)) != 0) fail();
  } catch (...) {
    if (is_new) remove();
    throw;
  }
}

void result_file::fail() const { throw std::system_error{errno, std::system_category(), "cannot write " + path_}; }

/// Whether there was none.
bool result_file::open() {
  constexpr mode_t mode = 0666;
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ >= 0) return false;
  if (errno == ENOENT) descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT, mode);
  if (descriptor_ < 0) fail();
  return true;
}

bool result_file::is_regular() const {
  struct stat found {};
  return ::fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode);
}

/// Of a symbolic link, what it leads to.
void result_file::remove() const noexcept {
  std::error_code unused;
  std::filesystem::remove(std::filesystem::canonical(path_, unused), unused);
}

void result_file::put(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0) fail();
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// First what needs room that the file does not have yet: if there is none, what it holds is still whole.
void result_file::replace(std::string_view text) const {
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  if (before < 0) fail();
  const std::size_t within = std::min(text.size(), static_cast<std::size_t>(before));
  try {
    if (::lseek(descriptor_, static_cast<off_t>(within), SEEK_SET) < 0) fail();
    put(text.substr(within));
  } catch (...) {
    if (::ftruncate(descriptor_, before) != 0) fail();
    throw;
  }
  if (::lseek(descriptor_, 0, SEEK_SET) < 0) fail();
  put(text.substr(0, within));
  if (::ftruncate(descriptor_, static_cast<off_t>(text.size())) != 0) fail();
}

}  // namespace load
