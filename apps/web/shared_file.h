#pragma once
/// A file that several send.

#include <tartan/core/result.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "web/file.h"
#include "web/file_version.h"

namespace web {

/// A large file, as it was when it was opened, for all who send it.
///
/// Somebody may write to it, or cut it, at any time. So what is read counts only if the file was still as promised *afterwards*: the kernel first makes it
/// shorter and then fills with zeros what is cut off in a piece that stays. And nobody has the kernel send it by reference (sendfile), however much cheaper
/// that is: between the call and the moment when the client takes the bytes, they would become zeros, or others.
///
/// As promised: it has the size and the time of modification that it had; or it has become longer, and its first and its last bytes of before are the same,
/// as of a log.
class shared_file : public file {
 public:
  /// `name`: for who is told of it. Threads: one that may block.
  shared_file(file&& opened, const file_version& state, std::string name) noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Whether a new response can be made of it: nobody has written to it. Of a file on a network, as the system last heard of it: a worker must not wait for
  /// more. If that cannot be had, it is taken to be.
  [[nodiscard]] bool is_as_it_was() const noexcept;

  /// Whether it is in that state, and nobody has written to it and set its time back. Threads: one that may block. Errors: false if that cannot be had.
  [[nodiscard]] bool is_of(const file_version& state) const noexcept;

  /// What the system has in memory of the file from there on. `brought`: bytes from there on that read has brought; 0: none.
  ///
  /// Threads: any; does not wait for the disk, but where the file system cannot tell whether it would have to (overlayfs, NFS, FUSE), and they are brought.
  /// Errors: std::errc::operation_would_block if the first byte is not there, or the file system cannot tell; or it cannot be read, which read finds out, too.
  /// errc::end_of_stream if the file is no more as it was promised.
  /// Cost: two system calls; four of one that has grown.
  [[nodiscard]] tartan::result<std::size_t> read_at_hand(std::span<char> into, std::uint64_t first, std::uint64_t brought = 0) const noexcept;

  /// Fills the room, and has the system bring `most` bytes from there on. Gives how many it has there, or is about to; 0: it cannot be read, or is not as it
  /// was promised.
  ///
  /// Threads: one that may block.
  [[nodiscard]] std::uint64_t read(std::span<char> into, std::uint64_t first, std::uint64_t most) const noexcept;

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
  std::uint64_t bring(std::uint64_t first, std::uint64_t end) const noexcept;  ///< gives how far it came
  /// Nothing: that cannot be known without waiting. `flags`: preadv2's.
  [[nodiscard]] std::optional<bool> is_as_promised(int flags) const noexcept;
  /// Its first bytes, and the last ones that it had when it was opened.
  static constexpr std::size_t end_bytes = 512;
  using ends = std::array<char, 2 * end_bytes>;
  [[nodiscard]] std::optional<ends> read_ends(int flags) const noexcept;

  std::string name_;
  std::uint64_t size_;
  file_time modified_;
  bool in_memory_ = false;            ///< on a file system that has no disk
  std::optional<ends> ends_;          ///< nothing: they could not be read
  mutable std::atomic<bool> tells_{true};  ///< the file system, what is in memory; relaxed: it is found out again
  mutable std::atomic<bool> used_{true};   ///< relaxed: a hint
};

/// Null: none.
using large_file = std::shared_ptr<const shared_file>;

}  // namespace web
