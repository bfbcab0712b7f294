#pragma once
// When the first and the last of some equal chains of events have ended.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bench/harness/all_ran.h"
#include "bench/harness/clock.h"
#include "bench/harness/report.h"

namespace bench {

/// `start` comes before the first post, `one_ended` with each chain's last event.
class chain_ends {
 public:
  explicit chain_ends(std::size_t count) : count_{count} {}

  void start() { started_ns_ = now_ns(); }
  void one_ended() {
    const std::size_t before = ended_.fetch_add(1, std::memory_order_relaxed);
    if (before == 0) first_ns_ = now_ns();
    if (before == count_ - 1) last_ns_ = now_ns();
  }

  /// Ends the program if a chain was lost.
  void check() const { check_count(ended_.load(std::memory_order_relaxed), count_, "chains ended"); }
  [[nodiscard]] double took_ns() const { return static_cast<double>(last_ns_ - started_ns_); }
  /// Fairness: the chains are equal, so in turn they would end together, at 1.
  void tell(report& to) const { to.add("first_chain_ends_at", static_cast<double>(first_ns_ - started_ns_) / took_ns()); }

 private:
  std::size_t count_;
  std::uint64_t started_ns_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::atomic<std::size_t> ended_{0};
};

}  // namespace bench
