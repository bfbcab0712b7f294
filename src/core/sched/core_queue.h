#pragma once
/// The runnable color queues of one worker, in the order in which it will serve them.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "core/fatal.h"
#include "core/memory.h"
#include "core/tuning.h"

namespace tartan::detail {

/// A first-in-first-out list of pointers in segments, so that a thief can prefetch what it takes: a linked list would cost a
/// cache miss for each element, one after the other, with the owner locked out; a ring would have to be copied to grow.
///
/// Two counters say where it begins and ends: a push writes one of them, and a pop the other. The slot of the next push always
/// exists, so that neither looks for the end of a segment before it writes.
///
/// Threads: the holder of the worker's biased lock; `size()` also others, as a hint.
template <class Memory, class Queue, std::size_t SegmentSlots = home_segment_slots>
class core_queue {
 public:
  static constexpr std::size_t segment_slots = SegmentSlots;
  static_assert(std::has_single_bit(SegmentSlots), "the counters' lower bits are the slot");

  /// With a second segment to go on in: as long as no more wait than fit into one, nothing is allocated later.
  core_queue() {
    auto first = std::make_unique<segment>();
    keep(new segment);
    first_ = last_ = first.release();
  }
  core_queue(const core_queue&) = delete;
  core_queue& operator=(const core_queue&) = delete;
  ~core_queue() {
    free_all(first_);
    free_all(spare_);
  }

  [[gnu::always_inline]] void push(Queue& queue) {
    const std::uint64_t at = pushed();
    last_->slots[slot_of(at)] = &queue;
    pushed_.store(at + 1, std::memory_order_relaxed);
    if (slot_of(at + 1) == 0) [[unlikely]] append_segment();
  }

  /// What pop() will give after so many others; null also if that is in another segment than the first.
  [[nodiscard]] Queue* behind(std::uint32_t others) const noexcept {
    const std::uint64_t first = popped();
    // Not behind the end: what lay there in an earlier tour may be another worker's by now.
    if (first + others >= pushed() || slot_of(first) + others >= segment_slots) return nullptr;
    return first_->slots[slot_of(first) + others];
  }

  /// The color queue that has waited longest, or null. Asks for the line of one that comes later.
  [[nodiscard, gnu::always_inline]] Queue* pop() noexcept {
    const std::uint64_t at = popped();
    if (at == pushed()) return nullptr;
    if (const Queue* const later = behind(home_queues_ahead_places)) Memory::prefetch(later);
    return take(at);
  }

  /// Moves up to half, rounded up, of the color queues, and at most `room`'s size, to `room`. Gives how many.
  [[nodiscard]] std::size_t take_half(std::span<Queue*> room) noexcept {
    const std::size_t wanted = std::min<std::size_t>((size() + 1) / 2, room.size());
    for (std::size_t taken = 0; taken < wanted; ++taken) room[taken] = take(popped());  // those that come later stay here
    return wanted;
  }

  /// Moves those that have waited for the shortest time to `room`, the last one first, until one does not fit or there is no more
  /// room. Gives how many.
  template <class Fits>
  [[nodiscard]] std::size_t take_last(std::span<Queue*> room, Fits fits) noexcept {
    std::uint64_t end = pushed();
    std::size_t taken = 0;
    for (; taken < room.size() && end != popped(); ++taken, --end) {
      segment* const from = slot_of(end) == 0 ? last_->previous : last_;
      Queue* const last = from->slots[slot_of(end - 1)];
      if (!fits(*last)) break;
      if (from != last_) drop_last();  // the next push is to the slot that is taken now
      room[taken] = last;
    }
    pushed_.store(end, std::memory_order_relaxed);
    return taken;
  }

  /// Without the lock it may be too large, never 0 while one waits whose push the caller sees: then `pushed` counts it, and
  /// `popped`, however old or new the loaded value is, does not.
  [[nodiscard]] std::uint32_t size() const noexcept {
    const std::uint64_t first = popped();
    const auto held = static_cast<std::int64_t>(pushed() - first);
    return held > 0 ? static_cast<std::uint32_t>(held) : 0;
  }

  /// How many were pushed so far, less those that take_last() gave.
  [[nodiscard]] std::uint64_t pushed() const noexcept { return pushed_.load(std::memory_order_relaxed); }

 private:
  struct segment {
    segment* next = nullptr;
    segment* previous = nullptr;  ///< while that one is in use
    typename Memory::template plain<Queue*> slots[segment_slots];
  };

  [[nodiscard]] static constexpr std::size_t slot_of(std::uint64_t count) noexcept { return count % segment_slots; }
  [[nodiscard]] std::uint64_t popped() const noexcept { return popped_.load(std::memory_order_relaxed); }

  /// The first one, number `at`. There is one.
  [[nodiscard, gnu::always_inline]] Queue* take(std::uint64_t at) noexcept {
    Queue* const queue = first_->slots[slot_of(at)];
    popped_.store(at + 1, std::memory_order_relaxed);
    if (slot_of(at + 1) == 0) [[unlikely]] retire_first();
    return queue;
  }

  [[gnu::cold, gnu::noinline]] void append_segment() {
    segment* fresh = spare_;
    if (fresh != nullptr) {
      spare_ = fresh->next;
      --spares_;
    } else {
      fresh = new (std::nothrow) segment;
      if (fresh == nullptr) fatal({"out of memory for the list of runnable colors"});
    }
    fresh->next = nullptr;
    fresh->previous = last_;
    last_->next = fresh;
    last_ = fresh;
  }

  /// All of its slots were popped; the one of the next push is in another segment.
  [[gnu::cold, gnu::noinline]] void retire_first() noexcept { recycle(std::exchange(first_, first_->next)); }

  /// It has none, and the last one of the segment before is being taken.
  [[gnu::cold, gnu::noinline]] void drop_last() noexcept {
    recycle(std::exchange(last_, last_->previous));
    last_->next = nullptr;
  }

  void recycle(segment* done) noexcept {
    if (spares_ < home_most_spare_segments) {
      keep(done);
    } else {
      delete done;
    }
  }
  void keep(segment* spare) noexcept {
    spare->next = spare_;
    spare_ = spare;
    ++spares_;
  }

  static void free_all(segment* s) noexcept {
    while (s != nullptr) delete std::exchange(s, s->next);
  }

  segment* first_ = nullptr;  ///< has the slot of the next pop
  segment* last_ = nullptr;   ///< has the slot of the next push
  typename Memory::template atomic<std::uint64_t> popped_{0, "core queue popped"};
  typename Memory::template atomic<std::uint64_t> pushed_{0, "core queue pushed"};
  segment* spare_ = nullptr;
  unsigned spares_ = 0;
};

}  // namespace tartan::detail
