#pragma once
/// The kernel's sockets, and select().

#include <cstdint>

#include "io/kernel_system.h"
#include "io/select/select_source.h"

namespace tartan::detail {

/// One source for all, which tells levels.
class select_system final : public kernel_system {
 public:
  /// Errors: std::system_error.
  explicit select_system(unsigned workers, bool pipe_signal_ignored = false) : kernel_system{pipe_signal_ignored}, source_{workers} {}

  [[nodiscard]] select_source& source() noexcept { return source_; }

  void report_to(readiness_ledger& ledger) noexcept override { source_.report_to(ledger); }
  int watch(int descriptor, std::uint64_t mark) noexcept override { return source_.watch(descriptor, mark); }
  bool tells_levels() const noexcept override { return true; }
  void want(int descriptor, flow way) noexcept override { source_.want(descriptor, way); }
  void forget(int descriptor) noexcept override { source_.forget(descriptor); }
  void close(int descriptor) noexcept override {
    source_.forget(descriptor);
    kernel_system::close(descriptor);
  }

 private:
  select_source source_;
};

}  // namespace tartan::detail
