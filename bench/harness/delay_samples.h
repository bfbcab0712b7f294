#pragma once
// How long some of the events wait, by the cycle counter: a look at the clock for each would cost more than the event.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>
#include <x86intrin.h>

#include "bench/harness/clock.h"
#include "bench/harness/report.h"

namespace bench {

/// Of one post. The event that has it, or the last of those, writes the end.
struct delay_sample {
  std::uint64_t posted = 0;
  std::uint64_t ended = 0;

  void end() { ended = __rdtsc(); }
};

/// One thread takes samples, one of so many posts.
class delay_samples {
 public:
  delay_samples(std::size_t posts, std::size_t one_of) : one_of_{one_of}, all_(posts / one_of + 1) {}

  /// Null for most.
  [[nodiscard]] delay_sample* at_post() {
    if (--until_next_ != 0) return nullptr;
    until_next_ = one_of_;
    if (taken_ == all_.size()) return nullptr;
    delay_sample& next = all_[taken_++];
    next.posted = __rdtsc();
    return &next;
  }

  /// After all have ended.
  void tell(report& to) const {
    const double us_per_cycle = static_cast<double>(now_ns() - began_ns_) / 1e3 / static_cast<double>(__rdtsc() - began_);
    std::vector<double> us;
    for (std::size_t i = 0; i < taken_; ++i) us.push_back(static_cast<double>(all_[i].ended - all_[i].posted) * us_per_cycle);
    if (us.empty()) return;
    std::sort(us.begin(), us.end());
    to.add("delay_us_median", us[us.size() / 2]);
    to.add("delay_us_max", us.back());
  }

 private:
  std::size_t one_of_;
  std::size_t until_next_ = 1;
  std::size_t taken_ = 0;
  std::vector<delay_sample> all_;
  std::uint64_t began_ns_ = now_ns();
  std::uint64_t began_ = __rdtsc();
};

}  // namespace bench
