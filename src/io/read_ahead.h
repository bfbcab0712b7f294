#pragma once
/// Bringing a piece of a file into the system's cache, off the workers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tartan/core/blocking.h>
#include <tartan/io/file_descriptor.h>
#include <tartan/io/wait.h>

#include "core/memory.h"

namespace tartan::detail {

/// Whether a byte of a file can be read without waiting for the disk; also if the file system cannot tell.
///
/// Cost: one system call, less than a microsecond.
[[nodiscard]] bool is_cached(int file, std::int64_t offset) noexcept;

/// A job that reads a piece and throws it away, and then has the descriptor's color look again.
///
/// It has a descriptor of its own for the file: whoever waits for it may be canceled meanwhile, and close everything.
/// Color: that of whoever waits.
class read_ahead final : private blocking_job {
 public:
  /// Null if it cannot be started: then whoever asked has to wait for the disk himself.
  [[nodiscard]] static std::shared_ptr<read_ahead> start(io_slot& for_whom, int file, std::int64_t offset, std::size_t bytes) noexcept;

  read_ahead(slot_key for_whom, file_descriptor file, std::int64_t offset, std::size_t bytes) noexcept;
  read_ahead(const read_ahead&) = delete;
  read_ahead& operator=(const read_ahead&) = delete;
  ~read_ahead() = default;

  [[nodiscard]] bool is_done() const noexcept { return done_.load(std::memory_order_acquire); }  // pairs with finish

 private:
  void finish() noexcept;

  std::shared_ptr<read_ahead> self_;  ///< the pool's, until it has run or was dropped
  slot_key for_whom_;
  file_descriptor file_;
  std::int64_t offset_;
  std::size_t bytes_;
  real_memory::atomic<bool> done_{false};
};

}  // namespace tartan::detail
