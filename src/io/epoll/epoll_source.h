#pragma once
/// Readiness by epoll, and the place where one idle worker sleeps.

#include <sys/epoll.h>
#include <tartan/io/file_descriptor.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <vector>

#include "core/memory.h"
#include "core/sleep/readiness_source.h"
#include "io/event_bell.h"
#include "io/system.h"

namespace tartan::detail {

/// The system calls of an epoll_source; a test puts failing ones here.
struct epoll_calls : bell_calls {
  int (*create)(int) = &::epoll_create1;
  int (*control)(int, int, int, epoll_event*) = &::epoll_ctl;
  int (*wait)(int, epoll_event*, int, int) = &::epoll_wait;
  int (*wait_ns)(int, epoll_event*, int, const timespec*) = [](int epoll, epoll_event* into, int room, const timespec* limit) {
    return ::epoll_pwait2(epoll, into, room, limit, nullptr);
  };
};

/// One edge-triggered epoll descriptor for all workers, and an eventfd in it by which the one that sleeps there is called.
///
/// One worker sleeps in it at a time (docs/design/sleeping.md); others look, without waiting. The eventfd is not edge-triggered: a look sees that it
/// rings, and leaves the ring to the sleeper.
class epoll_source final : public readiness_source {
 public:
  /// Errors: std::system_error.
  explicit epoll_source(unsigned workers, epoll_calls calls = {});
  ~epoll_source() override;

  /// Told once, before anything is watched.
  void report_to(readiness_ledger& ledger) noexcept { ledger_ = &ledger; }
  /// Gives -errno.
  [[nodiscard]] int watch(int descriptor, std::uint64_t mark) noexcept;
  [[nodiscard]] int watch_output(int descriptor, std::uint64_t mark) noexcept;
  /// From here on no worker's wait holds the open file. One that looks at it while it is closed would hold the last reference, put it
  /// only when it returns from the kernel, and may sleep there first: the peer would not be told meanwhile (Linux 6.9 and later).
  void forget(int descriptor) noexcept;

  [[nodiscard]] ended_by wait(unsigned worker, std::uint64_t at_most_ns) noexcept override;
  void call() noexcept override;
  void deliver(unsigned worker) noexcept override;
  bool set_aside(unsigned worker) noexcept override;
  [[nodiscard]] bool has_aside() const noexcept override { return any_aside_.load(std::memory_order_acquire); }
  bool harvest(unsigned worker) noexcept override;
  [[nodiscard]] bool may_have_left(unsigned worker) const noexcept override;
  [[nodiscard]] bool saw_call(unsigned worker) const noexcept override;
  void forget_call() noexcept override { bell_.silence(); }
  [[nodiscard]] int descriptor() const noexcept override { return epoll_.get(); }

 private:
  struct haul;

  [[nodiscard]] int look(haul& into, std::uint64_t at_most_ns) noexcept;
  [[nodiscard]] bool collect(haul& into, std::uint64_t at_most_ns) noexcept;
  bool post(haul& from) noexcept;
  bool post_aside() noexcept;

  const epoll_calls calls_;
  readiness_ledger* ledger_ = nullptr;
  const file_descriptor epoll_;
  const event_bell bell_;
  std::vector<std::unique_ptr<haul>> hauls_;
  real_memory::atomic<bool> coarse_{false};     ///< the kernel is older than 5.11 and has no epoll_pwait2: relaxed
  std::mutex aside_lock_;                       ///< guards aside_
  std::vector<epoll_event> aside_;
  real_memory::atomic<bool> any_aside_{false};  ///< release under the lock; pairs with has_aside
};

}  // namespace tartan::detail
