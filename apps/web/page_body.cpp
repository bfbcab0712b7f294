#include "web/page_body.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

namespace web {

namespace {

/// Of a process there is one table of descriptors, whatever has its pages. Relaxed: nothing is read by what it says.
std::atomic<int> files{0};
std::atomic<std::size_t> all_bytes{0};  ///< relaxed: likewise

rlim_t limit_of(__rlimit_resource_t what) noexcept {
  rlimit most{};
  return ::getrlimit(what, &most) == 0 ? most.rlim_cur : 0;
}

bool take_place() noexcept {
  const auto most = static_cast<int>(std::min<rlim_t>(page_body::most_files, limit_of(RLIMIT_NOFILE) / 16));
  if (files.fetch_add(1, std::memory_order_relaxed) < most) return true;
  files.fetch_sub(1, std::memory_order_relaxed);
  return false;
}
void leave_place() noexcept { files.fetch_sub(1, std::memory_order_relaxed); }

/// Linux 6.3 wants to be told that nobody will run it as a program, and may be set to refuse it else; before, it does not know the flag.
int open_memory() noexcept {
  constexpr const char* name = "tartan-web page";
  constexpr unsigned no_program = 8;  // MFD_NOEXEC_SEAL, which the C library need not know
  const int opened = ::memfd_create(name, MFD_CLOEXEC | no_program);
  return opened >= 0 || errno != EINVAL ? opened : ::memfd_create(name, MFD_CLOEXEC);
}

bool write_all(const file& into, std::string_view text) noexcept {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t got = ::pwrite(into.descriptor(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

/// Who writes more than this process may write to a file would be ended by a signal. Not open: there is none, or no memory.
file file_of(std::string_view text) noexcept {
  if (limit_of(RLIMIT_FSIZE) < text.size()) return file{};
  file made{open_memory()};
  if (!made.is_open() || !write_all(made, text)) return file{};
  return made;
}

}  // namespace

std::size_t page_body::living() noexcept { return all_bytes.load(std::memory_order_relaxed); }

page_body::page_body(std::string text) noexcept : text_{std::move(text)} {
  all_bytes.fetch_add(text_.size(), std::memory_order_relaxed);
  if (text_.size() < least_sent || !take_place()) return;
  file made = file_of(text_);
  void* const mapped = made.is_open() ? ::mmap(nullptr, text_.size(), PROT_READ, MAP_SHARED, made.descriptor(), 0) : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    leave_place();
    return;
  }
  mapped_ = {static_cast<const char*>(mapped), text_.size()};
  file_ = std::move(made);
  std::string{}.swap(text_);
}

page_body::page_body(page_body&& other) noexcept
    : text_{std::exchange(other.text_, {})}, file_{std::move(other.file_)}, mapped_{std::exchange(other.mapped_, {})} {}

page_body& page_body::operator=(page_body&& other) noexcept {
  std::swap(text_, other.text_);
  std::swap(file_, other.file_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

page_body::~page_body() {
  all_bytes.fetch_sub(size(), std::memory_order_relaxed);
  if (!is_sendable()) return;
  ::munmap(const_cast<char*>(mapped_.data()), mapped_.size());
  file_.close();
  leave_place();
}

}  // namespace web
