#pragma once
/// An open file.

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace web {

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
  /// It is somebody else's from now on.
  int release() noexcept { return std::exchange(descriptor_, -1); }
  void close() noexcept {
    if (is_open()) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

/// A large file, for all who send it.
class shared_file : public file {
 public:
  explicit shared_file(file&& opened) noexcept : file{std::move(opened)} {}

  /// Threads: any. Cost: who says so often writes seldom.
  void note_use() const noexcept {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_used() const noexcept { return used_.load(std::memory_order_relaxed); }
  /// Whether it was used since this was asked the last time: not any more.
  [[nodiscard]] bool take_use() const noexcept { return used_.exchange(false, std::memory_order_relaxed); }

 private:
  mutable std::atomic<bool> used_{true};  ///< relaxed: a hint
};

/// Null: none.
using large_file = std::shared_ptr<const shared_file>;

/// Of a file on a network, as the system last heard of it: a worker must not wait for more. If that cannot be had, it is taken to be.
[[nodiscard]] bool is_as_long_as(const file& open, std::uint64_t size) noexcept;

/// Fills the text with what begins there. False: it cannot be read, or is shorter.
[[nodiscard]] inline bool read_all(const file& from, std::string& into, std::uint64_t first) noexcept {
  for (std::size_t done = 0; done < into.size();) {
    const ssize_t got = ::pread(from.descriptor(), into.data() + done, into.size() - done, static_cast<off_t>(first + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace web
