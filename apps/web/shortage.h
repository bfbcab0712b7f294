#pragma once
/// Tells the operator that descriptors, or memory in the system, have run out.

#include <tartan/core/runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace web {

/// Says on stderr what could not be done, with the name of the error and what helps: the first time, and then once in
/// ten seconds at most, with the number of times since the last line.
///
/// Threads: any, without a lock. Lifetime: the runtime's.
class shortage {
 public:
  explicit shortage(tartan::runtime& rt) noexcept : rt_{rt} {}

  /// `what`: for "cannot ...". `error`: an errno; nothing is said of one that is no shortage.
  void tell(const char* what, int error) noexcept;

 private:
  tartan::runtime& rt_;
  /// When a line may be said again, in ns of the clock. Relaxed: only the number itself counts.
  std::atomic<std::int64_t> next_{std::numeric_limits<std::int64_t>::min()};
  std::atomic<std::size_t> untold_{0};  ///< relaxed: likewise
};

}  // namespace web
