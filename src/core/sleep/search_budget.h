#pragma once
/// For how long a worker without work looks around before it sleeps.

#include <algorithm>
#include <cstdint>

#include "core/tuning.h"

namespace tartan::detail {

/// Up to search_ns, as long as that has lately been worth it. A search that finds nothing halves the time of the next one, down to one look; a sleep that is
/// over before the search would have been says that it should have gone on, and gives all of the time back.
///
/// Threads: one.
class search_budget {
 public:
  [[nodiscard]] std::uint64_t now_ns() const noexcept { return budget_ns_; }

  void found() noexcept { begun_ns_ = 0; }
  /// There is something, but another thief was there: it is worth another look.
  void was_refused() noexcept { budget_ns_ = search_ns; }
  /// One that has begun then ends in vain, and the worker goes to sleep.
  void in_vain(std::uint64_t begun_ns) noexcept {
    begun_ns_ = begun_ns;
    budget_ns_ = std::max(budget_ns_ / 2, search_least_ns);
  }
  /// The sleep is over, and there is something to do.
  void has_slept(std::uint64_t now_ns) noexcept {
    if (begun_ns_ != 0 && now_ns - begun_ns_ < search_ns) budget_ns_ = search_ns;
    begun_ns_ = 0;
  }

 private:
  std::uint64_t budget_ns_ = search_ns;
  std::uint64_t begun_ns_ = 0;  ///< of the last one, if it was in vain
};

}  // namespace tartan::detail
