#pragma once
/// Finds the color queue of a color by its value, while it has events. See docs/design/color-table.md.
///
/// A table that doubles would stop everybody while it moves; this one grows by one bucket at a time (linear hashing), so that no
/// lock is ever held for long.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <tartan/core/color.h>
#include <thread>

#include "core/memory.h"
#include "core/tuning.h"
#include "core/zero_pages.h"

namespace tartan::detail {

template <class Memory, class Queue, std::size_t FirstBuckets = table_first_buckets>
class color_table {
  static_assert(std::has_single_bit(FirstBuckets));
  using bucket = typename Memory::template atomic<std::uintptr_t>;

 public:
  color_table() : segments_{} {
    segments_[0] = make_segment(FirstBuckets);
    if (segments_[0] == nullptr) throw std::bad_alloc{};
  }
  color_table(const color_table&) = delete;
  color_table& operator=(const color_table&) = delete;
  ~color_table() {
    for (std::size_t n = 0; n < segment_count; ++n) {
      if (is_mapped(buckets_in(n))) {
        unmap_zero_pages(segments_[n], buckets_in(n) * sizeof(bucket));
      } else {
        delete[] segments_[n];
      }
    }
  }

  /// A bucket that is locked. What is done in one hold is one step for everybody else.
  class hold {
   public:
    [[gnu::always_inline]] hold(color_table& table, std::uint64_t color) noexcept : bucket_{&table.lock(color, chain_)} {}
    hold(const hold&) = delete;
    hold& operator=(const hold&) = delete;
    ~hold() {
      // pairs with lock
      bucket_->store(reinterpret_cast<std::uintptr_t>(chain_), std::memory_order_release);
    }

    /// The color's queue, or null. Sets `crowded` if the bucket has several.
    [[nodiscard]] Queue* find(std::uint64_t color, bool& crowded) const noexcept {
      unsigned length = 0;
      for (Queue* q = chain_; q != nullptr; q = q->chain, ++length) {
        if (q->color_value == color) return q;
      }
      crowded = length > 1;
      return nullptr;
    }
    void insert(Queue& queue) noexcept {
      queue.chain = chain_;
      chain_ = &queue;
    }
    void remove(Queue& queue) noexcept {
      Queue* const next = queue.chain;
      if (chain_ == &queue) {
        chain_ = next;
        return;
      }
      Queue* before = chain_;
      while (before->chain != &queue) before = before->chain;
      before->chain = next;
    }

   private:
    Queue* chain_ = nullptr;
    bucket* bucket_;
  };

  /// Removes the color queue unless something was posted to it meanwhile; one-step: no post can come between look and removal.
  /// After true, it is nobody's but the caller's. Threads: the runner, which has taken all events.
  [[nodiscard]] bool remove_if_untouched(Queue& queue) noexcept {
    hold held{*this, queue.color_value};
    if (!queue.in.look().untouched()) return false;
    held.remove(queue);
    return true;
  }

  /// Adds one bucket, if nobody else is adding and memory allows. Threads: any, holding no bucket.
  void grow() noexcept {
    grow([] {});
  }
  /// The same; calls `before` if this takes memory from the system, which may last.
  template <class F>
  void grow(F before) noexcept {
    if (growing_.exchange(true, std::memory_order_acquire)) return;  // pairs with the store below
    const std::size_t extent = extent_.load(std::memory_order_relaxed);
    if (extent < most_buckets && ensure_segment(extent, before)) split(extent);
    growing_.store(false, std::memory_order_release);
  }

  /// Forgets everything. Threads: nobody else uses the table.
  void clear() noexcept {
    const std::size_t extent = extent_.load(std::memory_order_relaxed);
    for (std::size_t n = 0; n < extent; ++n) at(n).store(0, std::memory_order_relaxed);
  }

  [[nodiscard]] std::size_t buckets() const noexcept { return extent_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uintptr_t locked = 1;
  static constexpr std::size_t segment_count = 40;
  static constexpr std::size_t most_buckets = FirstBuckets << (segment_count - 1);

  static constexpr std::size_t buckets_in(std::size_t segment) noexcept {
    return segment == 0 ? FirstBuckets : FirstBuckets << (segment - 1);
  }

  static constexpr bool is_mapped(std::size_t buckets) noexcept {
    return buckets * sizeof(bucket) >= table_smallest_mapped_bytes;
  }

  /// Null: there is no memory.
  static bucket* make_segment(std::size_t buckets) noexcept {
    if (is_mapped(buckets)) return static_cast<bucket*>(map_zero_pages(buckets * sizeof(bucket)));
    return new (std::nothrow) bucket[buckets]{};
  }

  static std::size_t index_in(std::uint64_t hash, std::size_t extent) noexcept {
    const std::size_t half = std::bit_floor(extent);
    const std::size_t wide = hash & (2 * half - 1);
    return wide < extent ? wide : hash & (half - 1);
  }

  [[nodiscard]] bucket& at(std::size_t index) const noexcept {
    if (index < FirstBuckets) return segments_[0][index];
    const auto segment = static_cast<std::size_t>(std::bit_width(index / FirstBuckets));
    return segments_[segment][index - (FirstBuckets << (segment - 1))];
  }

  static Queue* chain_of(std::uintptr_t word) noexcept { return reinterpret_cast<Queue*>(word & ~locked); }

  static Queue* lock_bucket(bucket& b) noexcept {
    std::uintptr_t word = b.load(std::memory_order_relaxed);
    for (int looks = 0;;) {
      if ((word & locked) == 0) {
        // acquire: the chain; pairs with the unlocking store
        if (b.compare_exchange_weak(word, word | locked, std::memory_order_acquire, std::memory_order_relaxed)) {
          return chain_of(word);
        }
        continue;
      }
      if (++looks < 100) {
        Memory::pause();
      } else {
        std::this_thread::yield();  // the holder was preempted
      }
      word = b.load(std::memory_order_relaxed);
    }
  }

  [[gnu::always_inline]] bucket& lock(std::uint64_t color, Queue*& chain) noexcept {
    const std::uint64_t hash = mix(color);
    for (;;) {
      const std::size_t index = index_in(hash, extent_.load(std::memory_order_acquire));  // pairs with split
      bucket& b = at(index);
      chain = lock_bucket(b);
      // right-bucket: the extent cannot change so as to move this color while its bucket is locked
      if (index_in(hash, extent_.load(std::memory_order_acquire)) == index) return b;
      b.store(reinterpret_cast<std::uintptr_t>(chain), std::memory_order_release);
    }
  }

  template <class F>
  bool ensure_segment(std::size_t index, F before) noexcept {
    if (index < FirstBuckets) return true;
    const auto segment = static_cast<std::size_t>(std::bit_width(index / FirstBuckets));
    if (segments_[segment] != nullptr) return true;
    before();
    segments_[segment] = make_segment(buckets_in(segment));
    return segments_[segment] != nullptr;
  }

  /// Moves about half of one bucket's colors to the new bucket `extent`.
  void split(std::size_t extent) noexcept {
    bucket& source = at(extent - std::bit_floor(extent));
    Queue* chain = lock_bucket(source);
    Queue* stay = nullptr;
    Queue* go = nullptr;
    while (chain != nullptr) {
      Queue* const next = chain->chain;
      Queue*& into = index_in(mix(chain->color_value), extent + 1) == extent ? go : stay;
      chain->chain = into;
      into = chain;
      chain = next;
    }
    at(extent).store(reinterpret_cast<std::uintptr_t>(go), std::memory_order_relaxed);
    extent_.store(extent + 1, std::memory_order_release);  // pairs with lock
    source.store(reinterpret_cast<std::uintptr_t>(stay), std::memory_order_release);
  }

  bucket* segments_[segment_count];  ///< entry n is published by the extent that first needs it
  typename Memory::template atomic<std::size_t> extent_{FirstBuckets, "extent"};
  typename Memory::template atomic<bool> growing_{false, "growing"};
};

}  // namespace tartan::detail
