#pragma once
/// An open file.

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tartan::apps {

/// Owns a descriptor.
class file {
 public:
  file() noexcept = default;
  explicit file(int descriptor) noexcept : descriptor_{descriptor} {}
  file(file&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
  file& operator=(file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~file() { close(); }

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The caller owns it from now on.
  int release() noexcept { return std::exchange(descriptor_, -1); }
  void close() noexcept {
    if (is_open()) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

/// Fills `into` with the bytes from `first` on. False if the file cannot be read (errno says why), or is shorter (errno
/// is 0).
[[nodiscard]] inline bool read_all(const file& from, std::span<char> into, std::uint64_t first) noexcept {
  for (std::size_t done = 0; done < into.size();) {
    const ssize_t got =
        ::pread(from.descriptor(), into.data() + done, into.size() - done, static_cast<off_t>(first + done));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = 0;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace tartan::apps
