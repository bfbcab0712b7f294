#pragma once
/// A file that several send.

#include <tartan/core/result.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "file.h"
#include "file_version.h"

namespace web {

/// A large file, as it was when it was opened, for all who send it.
///
/// Somebody may write to it, or cut it, at any time. So what is read counts only if the file was still as promised *afterwards*: the kernel first makes it
/// shorter and then fills with zeros what is cut off in a piece that stays. And nobody has the kernel send it by reference (sendfile), however much cheaper
/// that is: between the call and the moment when the client takes the bytes, they would become zeros, or others.
class shared_file : public file {
 public:
  shared_file(file&& opened, const file_version& state) noexcept
      : file{std::move(opened)}, size_{static_cast<std::uint64_t>(state.size)}, modified_{state.modified} {}

  /// Whether a new response can be made of it: nobody has written to it. Of a file on a network, as the system last heard of it: a worker must not wait for
  /// more. If that cannot be had, it is taken to be.
  [[nodiscard]] bool is_as_it_was() const noexcept;

  /// What the system has in memory of the file from there on.
  ///
  /// Threads: any; does not wait for the disk.
  /// Errors: std::errc::operation_would_block if the first byte is not there, or the file system cannot tell; or it cannot be read, which read finds out, too.
  /// errc::end_of_stream if the file is no more as it was promised: it has become shorter, or was written to, unless it has become longer (a log).
  /// Cost: two system calls.
  [[nodiscard]] tartan::result<std::size_t> read_at_hand(std::span<char> into, std::uint64_t first) const noexcept;

  /// Fills the room. False: it cannot be read, or is not as it was promised. Threads: one that may block.
  [[nodiscard]] bool read(std::span<char> into, std::uint64_t first) const noexcept;

  /// Threads: any. Cost: who says so often writes seldom.
  void note_use() const noexcept {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_used() const noexcept { return used_.load(std::memory_order_relaxed); }
  /// Whether it was used since this was asked the last time: not any more.
  [[nodiscard]] bool take_use() const noexcept { return used_.exchange(false, std::memory_order_relaxed); }

 private:
  /// What has become of it.
  enum class change : std::uint8_t { none, longer, other, unknown };
  [[nodiscard]] change changed() const noexcept;
  [[nodiscard]] bool is_as_promised() const noexcept;

  std::uint64_t size_;
  file_time modified_;
  mutable std::atomic<bool> used_{true};  ///< relaxed: a hint
};

/// Null: none.
using large_file = std::shared_ptr<const shared_file>;

}  // namespace web
