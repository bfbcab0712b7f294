#pragma once
/// Open files that objects made non-blocking, and that block again afterwards.

#include <sys/types.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace tartan::detail {

class io_system;

/// The taken-over descriptors of each open file that was blocking before.
///
/// O_NONBLOCK belongs to the open file, not to the descriptor. At a terminal, standard input and output are one open
/// file, which the shell shares too. So the first object of such a file sets the flag and the last one clears it: while
/// one object is left, a blocking call would hold its worker.
/// Threads: any.
class shared_files {
 public:
  explicit shared_files(io_system& system) noexcept : system_{system} {}

  /// Makes a descriptor non-blocking. Gives -errno, 0, or 1: then leave() must be called before it is closed or
  /// released.
  [[nodiscard]] int take(int descriptor) noexcept;
  void leave(int descriptor) noexcept;

 private:
  using identity = std::pair<dev_t, ino_t>;
  /// Descriptors of one open file.
  using descriptors = std::vector<int>;

  [[nodiscard]] int note(int descriptor, bool was_blocking);
  [[nodiscard]] std::multimap<identity, descriptors>::iterator find(int descriptor) noexcept;

  io_system& system_;
  std::mutex lock_;
  std::multimap<identity, descriptors> all_;  ///< guarded by lock_
};

}  // namespace tartan::detail
