#pragma once
/// Readiness by select(), as the papers' systems had it, and where the worker with the select task sleeps.

#include <fcntl.h>
#include <sys/select.h>
#include <sys/stat.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <tartan/io/wait.h>
#include <vector>

#include "core/fork_guard.h"
#include "core/memory.h"
#include "core/sleep/readiness_source.h"
#include "io/event_bell.h"
#include "io/system.h"

namespace tartan::detail {

/// The system calls of a select_source; a test puts failing ones here.
struct select_calls : bell_calls {
  int (*select)(int, fd_set*, fd_set*, fd_set*, timeval*) = &::select;
  int (*stat)(int, struct stat*) = [](int descriptor, struct stat* into) { return ::fstat(descriptor, into); };
  int (*flags)(int) = [](int descriptor) { return ::fcntl(descriptor, F_GETFD); };
};

/// Descriptors below FD_SETSIZE, and for each direction whether an operation waits there: want(). A report ends that, so that what is ready and
/// that nobody takes is told once. See docs/design/paper-schedulers.md, 9.
///
/// Several workers may be in the system call at once. One that blocks there has an eventfd, its bell, in its set.
///
/// Threads: any for watch, want, forget and call; else the worker that is named.
/// Cost: one lock for all but call. With it held, watch, want, forget and set_aside may write to an eventfd for each worker that blocks, a system
/// call each; a wait copies both sets at its beginning, and at its end reads the eventfds that rang and walks through the numbers up to the last
/// one that is ready, 1024 at most.
class select_source final : public readiness_source {
 public:
  /// Errors: std::system_error.
  explicit select_source(unsigned workers, select_calls calls = {});
  ~select_source() override;

  /// Told once, before anything is watched.
  void report_to(readiness_ledger& ledger) noexcept { ledger_ = &ledger; }
  /// Gives -errno: EMFILE for a descriptor that does not fit into a set, EPERM for a file, which is always ready, EEXIST for what is watched.
  [[nodiscard]] int watch(int descriptor, std::uint64_t mark) noexcept;
  /// One report is to come when this direction is ready; at once if it is.
  void want(int descriptor, flow way) noexcept;
  /// When it returns, no system call has the descriptor any more: the kernel would keep open what is closed while it waits for it. Sleeps on a
  /// condition variable until those workers have left select() that are in it with the descriptor.
  void forget(int descriptor) noexcept;

  [[nodiscard]] ended_by wait(unsigned worker, std::uint64_t at_most_ns) noexcept override;
  void call() noexcept override;
  void deliver(unsigned worker) noexcept override;
  bool set_aside(unsigned worker) noexcept override;
  /// What is set aside is wanted again instead.
  [[nodiscard]] bool has_aside() const noexcept override { return false; }
  bool harvest(unsigned worker) noexcept override;
  /// None: nobody else can wait for what it waits for.
  [[nodiscard]] int descriptor() const noexcept override { return -1; }

 private:
  /// A set for each direction.
  using both_ways = std::array<fd_set, 2>;
  struct visit;
  /// What a number stands for.
  struct owner {
    std::uint64_t mark;
    dev_t device;
    ino_t inode;
  };

  [[nodiscard]] bool look(visit& mine, std::uint64_t at_most_ns) noexcept;
  [[nodiscard]] int enter(visit& mine, both_ways& sets, bool blocks) noexcept;
  [[nodiscard]] bool leave(visit& mine, both_ways& found, int got, int error) noexcept;
  [[nodiscard]] int report(visit& mine, int descriptor, const both_ways& found) noexcept;
  void report_closed(visit& mine) noexcept;
  void add(int descriptor, std::size_t way) noexcept;
  void rouse(visit& who) noexcept;
  [[nodiscard]] bool end_calls_with(int descriptor) noexcept;
  bool post(visit& from) noexcept;
  void lose_threads() noexcept;

  const select_calls calls_;
  readiness_ledger* ledger_ = nullptr;
  const event_bell call_bell_;                ///< in the set of everybody who blocks
  real_memory::atomic<bool> called_{false};   ///< release by call; pairs with leave
  std::vector<std::unique_ptr<visit>> visits_;
  std::mutex lock_;                           ///< guards the rest, and of a visit what it says so of
  std::condition_variable one_left_;
  unsigned blocked_ = 0;                      ///< visits that are in a call with their bell
  unsigned leavers_ = 0;                      ///< threads that wait for one_left_
  int highest_ = -1;                          ///< of those that are watched
  fd_set watched_;
  both_ways wanted_;
  std::array<owner, FD_SETSIZE> owners_{};   ///< of what is watched
  fork_guard guard_;
};

}  // namespace tartan::detail
