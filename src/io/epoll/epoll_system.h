#pragma once
/// The kernel's sockets, and epoll.

#include <cstdint>

#include "io/epoll/epoll_source.h"
#include "io/kernel_system.h"

namespace tartan::detail {

/// One epoll descriptor for all.
class epoll_system final : public kernel_system {
 public:
  /// Errors: std::system_error.
  explicit epoll_system(unsigned workers, bool pipe_signal_ignored = false) : kernel_system{pipe_signal_ignored}, source_{workers} {}

  [[nodiscard]] epoll_source& source() noexcept { return source_; }

  void report_to(readiness_ledger& ledger) noexcept override { source_.report_to(ledger); }
  int watch(int descriptor, std::uint64_t mark) noexcept override { return source_.watch(descriptor, mark); }
  int watch_output(int descriptor, std::uint64_t mark) noexcept override { return source_.watch_output(descriptor, mark); }
  void forget(int descriptor) noexcept override { source_.forget(descriptor); }
  void close(int descriptor) noexcept override {
    forget(descriptor);  // closed-is-closed
    kernel_system::close(descriptor);
  }
  void close_unwatched(int descriptor) noexcept override { kernel_system::close(descriptor); }

 private:
  epoll_source source_;
};

}  // namespace tartan::detail
