#include "page_body.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace web {

namespace {

constexpr std::size_t unit = 4096;  // of the system's memory, that is mapped and given back
std::size_t whole_units(std::size_t bytes) noexcept { return (bytes + unit - 1) / unit * unit; }

/// Linux 6.3 wants to be told that nobody will run it as a program, and may be set to refuse it else; before, it does not know the flag.
int open_memory() noexcept {
  constexpr const char* name = "tartan-web pages";
  constexpr unsigned no_program = 8;  // MFD_NOEXEC_SEAL, which the C library need not know
  const int opened = ::memfd_create(name, MFD_CLOEXEC | no_program);
  return opened >= 0 || errno != EINVAL ? opened : ::memfd_create(name, MFD_CLOEXEC);
}

}  // namespace

/// Who may not write a file of any size is not killed for writing far behind the beginning of this one.
page_memory::page_memory() noexcept {
  rlimit most{};
  if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur == RLIM_INFINITY) file_ = file{open_memory()};
}

std::int64_t page_memory::add(std::string_view text) const noexcept {
  if (!file_.is_open()) return -1;
  const std::int64_t at = next_.fetch_add(static_cast<std::int64_t>(whole_units(text.size())), std::memory_order_relaxed);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t got = ::pwrite(file_.descriptor(), text.data() + done, text.size() - done, at + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      remove(at, text.size());
      return -1;
    }
    done += static_cast<std::size_t>(got);
  }
  return at;
}

void page_memory::remove(std::int64_t at, std::size_t bytes) const noexcept {
  while (::fallocate(file_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, static_cast<off_t>(whole_units(bytes))) != 0 && errno == EINTR) {
  }
}

page_body::page_body(std::string text, std::shared_ptr<const page_memory> memory) noexcept : text_{std::move(text)} {
  if (memory == nullptr || text_.size() < least_sent) return;
  const std::int64_t at = memory->add(text_);
  if (at < 0) return;
  void* const mapped = ::mmap(nullptr, text_.size(), PROT_READ, MAP_SHARED, memory->descriptor(), at);
  if (mapped == MAP_FAILED) {
    memory->remove(at, text_.size());
    return;
  }
  mapped_ = {static_cast<const char*>(mapped), text_.size()};
  first_ = at;
  memory_ = std::move(memory);
  std::string{}.swap(text_);
}

page_body::page_body(page_body&& other) noexcept
    : text_{std::move(other.text_)}, mapped_{std::exchange(other.mapped_, {})}, memory_{std::move(other.memory_)}, first_{other.first_} {}

page_body& page_body::operator=(page_body&& other) noexcept {
  std::swap(text_, other.text_);
  std::swap(mapped_, other.mapped_);
  std::swap(memory_, other.memory_);
  std::swap(first_, other.first_);
  return *this;
}

page_body::~page_body() {
  if (mapped_.data() == nullptr) return;
  ::munmap(const_cast<char*>(mapped_.data()), mapped_.size());
  memory_->remove(first_, mapped_.size());
}

std::size_t page_body::bytes() const noexcept { return is_sendable() ? whole_units(mapped_.size()) : text_.capacity(); }

}  // namespace web
