#pragma once
/// The runnable color queues of one worker that were raised above the others.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/memory.h"
#include "core/sched/annotation.h"
#include "core/sched/core_queue.h"
#include "core/tuning.h"

namespace tartan::detail {

/// A list for each level above 0. A higher level goes first, but for one pick in 16, when the lower ones take turns: whoever waits is first
/// in line of a level that has one pick in 48 at least (contract 8).
///
/// Threads: as core_queue.
template <class Memory, class Queue, std::size_t SegmentSlots, unsigned PicksPerBypass = home_picks_per_bypass>
class urgent_queue {
 public:
  using level_queue = core_queue<Memory, Queue, SegmentSlots>;
  static constexpr unsigned picks_per_bypass = PicksPerBypass;

  void push(Queue& queue, unsigned level) {
    raised_[level - 1].push(queue);
    size_.store(size() + 1, std::memory_order_relaxed);
  }

  /// The next one to run, of these and of those that were not raised; null if there is none.
  [[nodiscard]] Queue* pick(level_queue& others) noexcept {
    pick_ = pick_ + 1;
    if (pick_ % picks_per_bypass == 0) {
      const unsigned first = pick_ / picks_per_bypass % lower;
      for (unsigned n = 0; n < lower; ++n) {
        if (Queue* const queue = pop_level((first + n) % lower, others)) return queue;
      }
    }
    for (unsigned level = annotation::levels; level-- != 0;) {
      if (Queue* const queue = pop_level(level, others)) return queue;
    }
    return nullptr;
  }

  /// As core_queue::take_half, of each level, the highest first.
  [[nodiscard]] std::size_t take_half(std::span<Queue*> room) noexcept {
    std::size_t taken = 0;
    for (std::size_t level = raised_.size(); level-- != 0;) taken += raised_[level].take_half(room.subspan(taken));
    size_.store(size() - static_cast<std::uint32_t>(taken), std::memory_order_relaxed);
    return taken;
  }

  /// Whether one waits whose level is higher.
  [[nodiscard]] bool has_above(unsigned level) const noexcept {
    for (std::size_t n = level; n < raised_.size(); ++n) {
      if (raised_[n].size() != 0) return true;
    }
    return false;
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned lower = annotation::levels - 1;  ///< levels that another one is above

  Queue* pop_level(unsigned level, level_queue& others) noexcept {
    if (level == 0) return others.pop();
    Queue* const queue = raised_[level - 1].pop();
    if (queue != nullptr) size_.store(size() - 1, std::memory_order_relaxed);
    return queue;
  }

  std::array<level_queue, annotation::levels - 1> raised_;
  typename Memory::template plain<unsigned> pick_;
  typename Memory::template atomic<std::uint32_t> size_{0, "urgent queue size"};
};

}  // namespace tartan::detail
