#pragma once
/// All pending timers of one runtime: a wheel for each worker and one for foreign threads. See docs/design/timers.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tartan/core/color.h>
#include <tartan/time/timer_node.h>
#include <vector>

#include "core/clockwork.h"
#include "core/memory.h"
#include "time/due_list.h"
#include "time/horizon.h"
#include "time/wheel.h"

namespace tartan::detail {

/// Sets and cancels in the wheel of the calling worker, expires in all of them.
class timing final : public clockwork {
 public:
  explicit timing(runtime_state& rt);

  /// The runtime's; made on first use. Errors: std::bad_alloc, then.
  [[nodiscard]] static timing& of(runtime_state& rt);
  /// The same for who cannot report it any more: ends the program.
  [[nodiscard]] static timing& armed_in(runtime_state& rt) noexcept;

  /// As detail::arm, by a caller who has looked at the clock: it said `now_ns`, which is not after the deadline.
  bool set(timer_node& node, std::uint64_t now_ns, std::uint64_t deadline_ns) noexcept;
  [[nodiscard]] bool cancel(timer_node& node) noexcept;

  [[nodiscard]] std::uint64_t next_ns() const noexcept override { return horizon_.earliest(); }
  bool expire(std::uint64_t now_ns) noexcept override;
  [[nodiscard]] std::size_t pending() const noexcept override;
  void stop() noexcept override;
  std::size_t drop_all() noexcept override;

  /// Nodes posted by one call of expire(), at most: then the worker looks at everything else.
  static constexpr unsigned posts_per_pass = 1024;
  /// Nodes moved under one hold of a wheel's lock, at most: some 10 us.
  static constexpr unsigned nodes_per_hold = 128;
  /// Holds that one pass spends on each wheel with what will be due later: 4 million nodes per second, at a pass per tick.
  static constexpr unsigned holds_ahead = 4;

 private:
  /// One wheel; everything in it but the gate's words is the holder's.
  struct alignas(128) home {
    wheel_gate<real_memory> gate;
    real_memory::atomic<std::size_t> count{0};  ///< written by the holder, read by pending()
    wheel nodes;
  };
  /// Numbers the timers of the colors that share it.
  struct alignas(64) stripe {
    real_memory::atomic<std::uint64_t> last{0};
  };
  class baton;

  [[nodiscard]] std::uint64_t number(color c) noexcept;
  [[nodiscard]] bool insert(timer_node& node, std::uint64_t now_ns, std::uint64_t deadline_ns) noexcept;
  void collect(std::uint64_t cut_ns) noexcept;
  void take_before(home& from, std::uint64_t cut_tick) noexcept;
  std::size_t post_ready(std::size_t limit, bool canceled) noexcept;
  bool post(timer_node& node, bool canceled) noexcept;
  void put_back_ready() noexcept;
  [[nodiscard]] timer_node* take_any(home& from) noexcept;

  runtime_state& rt_;
  std::vector<home> homes_;
  std::vector<stripe> stripes_;
  horizon<real_memory> horizon_;

  alignas(64) real_memory::atomic<bool> passing_{false};  ///< the baton
  real_memory::atomic<std::size_t> ready_count_{0};       ///< written by who has the baton, read by pending()
  due_list ready_;                                        ///< sorted, to be posted; of who has the baton
  real_memory::atomic<bool> stopped_{false};
};

}  // namespace tartan::detail
