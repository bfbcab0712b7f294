#pragma once
/// What is counted, and when.

#include <tartan/core/per_worker.h>
#include <tartan/core/runtime.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "load/histogram.h"
#include "load/result.h"

namespace load {

/// Nanoseconds of the runtime's clock.
[[nodiscard]] inline std::int64_t now_ns(const tartan::runtime& rt) noexcept { return rt.now().time_since_epoch().count(); }

/// Counts answers that end within an interval, and errors at any time. Each worker has its own numbers: in the closed loop nothing is
/// shared but the interval's ends, which change twice.
class measure {
 public:
  /// `requests`: how many answers there are to be; 0: however many.
  measure(tartan::runtime& rt, std::uint64_t requests);

  /// Color: of whoever conducts; the rest in any.
  void begin(std::int64_t at) noexcept { begin_.store(at, std::memory_order_relaxed); }
  void end(std::int64_t at) noexcept { end_.store(at, std::memory_order_relaxed); }

  [[nodiscard]] std::int64_t began_at() const noexcept { return begin_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t ended_at() const noexcept { return end_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool has_begun() const noexcept { return began_at() != never; }
  [[nodiscard]] bool is_over() const noexcept { return ended_at() != never; }
  /// In nanoseconds; 0 before the end, or without a beginning.
  [[nodiscard]] std::uint64_t length() const noexcept {
    return is_over() && has_begun() ? static_cast<std::uint64_t>(ended_at() - began_at()) : 0;
  }

  enum class counted : std::uint8_t { no, yes, last };

  /// An answer that came at `now`. Last: as many as were wanted; it has ended the interval.
  counted count_answer(std::int64_t now, std::int64_t since, std::uint64_t bytes) noexcept;
  void count_unanswered(std::uint64_t ns) noexcept;
  /// Open loop: a request that was due then has ended as an error. It has waited like any other.
  void count_failed(std::int64_t now, std::int64_t since) noexcept;
  void count_renewed() noexcept { ++tallies_.local().renewed; }
  void count_error(error_kind what) noexcept;
  void count_connection() noexcept { ++tallies_.local().connections; }

  /// What there is by now, about. Threads: any.
  struct glance {
    std::uint64_t answers = 0;  ///< also those that are not measured
    std::uint64_t bytes = 0;
    std::uint64_t errors = 0;
  };
  [[nodiscard]] glance so_far() const noexcept;

  /// Adds all of it. While the runtime does not run.
  void tell(load_result& to);

 private:
  static constexpr std::int64_t never = INT64_MAX;

  struct tally {
    histogram latency;
    std::uint64_t bytes = 0;
    std::uint64_t unanswered = 0;
    std::uint64_t failed = 0;  ///< that are in the histogram
    std::uint64_t renewed = 0;
    std::uint64_t connections = 0;
    std::array<std::uint64_t, error_kinds> errors{};
    // For a glance from elsewhere; written by one worker at a time, so without a read-modify-write.
    std::atomic<std::uint64_t> seen_answers{0};
    std::atomic<std::uint64_t> seen_bytes{0};
    std::atomic<std::uint64_t> seen_errors{0};
  };
  static void raise(std::atomic<std::uint64_t>& number, std::uint64_t by) noexcept {
    number.store(number.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  [[nodiscard]] counted take_ticket(std::int64_t now) noexcept;

  std::atomic<std::int64_t> begin_{never};
  std::atomic<std::int64_t> end_{never};
  const bool is_limited_;
  std::atomic<std::int64_t> tickets_;
  tartan::per_worker<tally> tallies_;
  std::vector<const tally*> all_;
};

}  // namespace load
