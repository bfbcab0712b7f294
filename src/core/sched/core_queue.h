#pragma once
/// The runnable color queues of one worker, in the order in which it will serve them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "core/fatal.h"
#include "core/memory.h"

namespace tartan::detail {

/// A first-in-first-out list of pointers in segments, so that a thief can prefetch what it takes: a linked list would cost a
/// cache miss for each element, one after the other, with the owner locked out; a ring would have to be copied to grow.
///
/// Threads: who holds the worker's biased lock; `size()` also others, as a hint.
template <class Memory, class Queue, std::size_t SegmentSlots = 61>
class core_queue {
 public:
  static constexpr std::size_t segment_slots = SegmentSlots;

  core_queue() = default;
  core_queue(const core_queue&) = delete;
  core_queue& operator=(const core_queue&) = delete;
  ~core_queue() {
    free_all(first_);
    free_all(spare_);
  }

  [[gnu::always_inline]] void push(Queue& queue) {
    if (last_ == nullptr || last_->end == segment_slots) [[unlikely]] append_segment();
    const std::uint32_t at = last_->end;
    last_->slots[at] = &queue;
    last_->end = at + 1;
    size_.store(size() + 1, std::memory_order_relaxed);
  }

  /// What pop() will give, or null.
  [[nodiscard]] Queue* front() const noexcept { return size() == 0 ? nullptr : static_cast<Queue*>(first_->slots[first_->begin]); }

  /// What it will give after so many others; null also if that is in another segment than the first.
  [[nodiscard]] Queue* behind(std::uint32_t others) const noexcept {
    if (size() == 0) return nullptr;
    const std::uint32_t at = first_->begin + others;
    return at < first_->end ? static_cast<Queue*>(first_->slots[at]) : nullptr;  // not behind the end: as in pop
  }

  /// The color queue that has waited longest, or null. Asks for the line of one that comes later.
  [[nodiscard]] Queue* pop() noexcept {
    if (size() == 0) return nullptr;
    // Not behind the end: what lay there in an earlier tour may be another worker's by now.
    const std::uint32_t ahead = first_->begin + prefetch_distance;
    if (ahead < first_->end) Memory::prefetch(first_->slots[ahead]);
    return pop_first();
  }

  /// Moves up to half, rounded up, of the color queues, and at most `room`'s size, to `room`. Gives how many.
  [[nodiscard]] std::size_t take_half(std::span<Queue*> room) noexcept {
    const std::size_t wanted = std::min<std::size_t>((size() + 1) / 2, room.size());
    std::size_t taken = 0;
    while (taken < wanted) room[taken++] = pop_first();  // those that come later stay here
    return taken;
  }

  /// Moves those that have waited for the shortest time to `room`, the last one first, until one does not fit: as many as are in the
  /// last segment, at most. Gives how many.
  template <class Fits>
  [[nodiscard]] std::size_t take_last(std::span<Queue*> room, Fits fits) noexcept {
    std::size_t taken = 0;
    if (size() == 0) return 0;
    while (taken < room.size() && last_->end != last_->begin && fits(*last_->slots[last_->end - 1])) {
      last_->end = last_->end - 1;
      room[taken++] = last_->slots[last_->end];
    }
    size_.store(size() - static_cast<std::uint32_t>(taken), std::memory_order_relaxed);
    return taken;
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  struct segment {
    segment* next = nullptr;
    typename Memory::template plain<std::uint32_t> begin;
    typename Memory::template plain<std::uint32_t> end;
    typename Memory::template plain<Queue*> slots[segment_slots];
  };

  /// If there is one.
  [[nodiscard]] Queue* pop_first() noexcept {
    const std::uint32_t at = first_->begin;
    Queue* const queue = first_->slots[at];
    first_->begin = at + 1;
    size_.store(size() - 1, std::memory_order_relaxed);
    if (at + 1 == first_->end) [[unlikely]] retire_first();
    return queue;
  }

  [[gnu::cold, gnu::noinline]] void append_segment() {
    segment* fresh = spare_;
    if (fresh != nullptr) {
      spare_ = fresh->next;
      --spares_;
      fresh->next = nullptr;
      fresh->begin = 0;
      fresh->end = 0;
    } else {
      fresh = new (std::nothrow) segment;
      if (fresh == nullptr) fatal({"out of memory for the list of runnable colors"});
    }
    (last_ != nullptr ? last_->next : first_) = fresh;
    last_ = fresh;
  }

  [[gnu::noinline]] void retire_first() noexcept {
    segment* const done = first_;
    if (done == last_) {  // keep the only one
      done->begin = 0;
      done->end = 0;
      return;
    }
    first_ = done->next;
    if (spares_ >= most_spares) {
      delete done;
      return;
    }
    done->next = spare_;
    spare_ = done;
    ++spares_;
  }

  static void free_all(segment* s) noexcept {
    while (s != nullptr) delete std::exchange(s, s->next);
  }

  static constexpr unsigned most_spares = 64;
  static constexpr std::uint32_t prefetch_distance = 3;

  segment* first_ = nullptr;
  segment* last_ = nullptr;
  segment* spare_ = nullptr;
  unsigned spares_ = 0;
  typename Memory::template atomic<std::uint32_t> size_{0, "core queue size"};
};

}  // namespace tartan::detail
