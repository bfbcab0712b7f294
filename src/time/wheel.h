#pragma once
/// A hierarchical timing wheel: set and cancel in constant time, however many timers are pending.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tartan/time/deadline.h>
#include <tartan/time/timer_node.h>

#include "time/due_list.h"

namespace tartan::detail {

/// Nodes by deadline, in ticks of about 131 us. Owns nothing.
///
/// Threads: one at a time. Limits: deadlines up to latest_deadline_ns; 16 KiB per wheel.
/// Source: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987, scheme 7.
class wheel {
 public:
  static constexpr unsigned tick_bits = 17;
  static constexpr std::uint64_t tick_ns = std::uint64_t{1} << tick_bits;
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  /// The first tick at whose begin a deadline has passed.
  [[nodiscard]] static constexpr std::uint64_t fire_ns(std::uint64_t deadline_ns) noexcept {
    return ((deadline_ns >> tick_bits) + 1) << tick_bits;
  }

  /// A wheel with at most `few` nodes spreads its slots at once, in their time; with more, ahead of it and bit by bit.
  explicit wheel(std::size_t few = 256) noexcept : few_{few} {}

  /// Puts a node in by its deadline_ns, which becomes no earlier than the wheel's own time. That may move on to `now_tick`.
  /// Gives the time at which the wheel wants to be looked at for this node: when it is due, or when its slot is to be spread.
  std::uint64_t insert(timer_node& node, std::uint64_t now_tick) noexcept;

  /// The node must be in this wheel.
  void remove(timer_node& node) noexcept;

  /// Takes up to `limit` steps towards `cut_tick`: moves each node whose tick is before it to `due`. Gives whether there is more to do.
  [[nodiscard]] bool take_before(std::uint64_t cut_tick, unsigned limit, due_list& due) noexcept;

  /// Spreads up to `limit` nodes of the slots that come next, so that nothing is left to do when they come. Gives whether there is more.
  bool spread_ahead(unsigned limit) noexcept;

  /// Takes out some node; null if there is none.
  [[nodiscard]] timer_node* take_any() noexcept;

  /// When the wheel is to be looked at next: no later than a node is due; `never` if it is empty.
  /// Must not be called while take_before() has more to do.
  [[nodiscard]] std::uint64_t next_ns() const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr unsigned level_bits = 6;
  static constexpr unsigned per_round = 1u << level_bits;
  static constexpr unsigned slots = 2 * per_round;
  static constexpr unsigned levels = 8;
  static_assert(level_bits * levels >= 64 - tick_bits, "every tick has a place");

  struct slot_list {
    timer_node* head = nullptr;
    timer_node* tail = nullptr;
  };
  /// A level: the slots of the round that is under way and of the next one.
  struct level_slots {
    std::array<std::uint64_t, 2> occupied{};
    std::array<slot_list, slots> lists{};
  };

  /// Slots are numbered from the beginning of time; the number is the begin tick without its lower digits.
  [[nodiscard]] static constexpr std::uint64_t number(std::uint64_t tick, unsigned level) noexcept {
    return tick >> (level * level_bits);
  }
  [[nodiscard]] slot_list& list(unsigned level, std::uint64_t slot) noexcept {
    return levels_[level].lists[slot % slots];
  }
  [[nodiscard]] const slot_list& list(unsigned level, std::uint64_t slot) const noexcept {
    return levels_[level].lists[slot % slots];
  }

  [[nodiscard]] bool first_in(unsigned level, std::uint64_t& slot) const noexcept;
  [[nodiscard]] bool first(unsigned& level, std::uint64_t& slot) const noexcept;
  [[nodiscard]] std::uint64_t look_tick(unsigned level, std::uint64_t slot) const noexcept;
  void catch_up(std::uint64_t now_tick) noexcept;
  void place(timer_node& node) noexcept;
  void unlink(timer_node& node) noexcept;
  void spread(unsigned level, std::uint64_t slot, unsigned& limit) noexcept;
  void drain(std::uint64_t slot, unsigned& limit, due_list& due) noexcept;

  std::size_t few_;
  std::uint64_t current_ = 0;  ///< no node has an earlier tick
  unsigned spreading_ = 0;     ///< level whose slot at current_ is being spread because its time has come; 0: none
  std::size_t size_ = 0;
  std::array<level_slots, levels> levels_{};
};

}  // namespace tartan::detail
