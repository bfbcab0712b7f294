#pragma once
/// Memory for events and color queues: 64-byte lines, kept until the runtime ends.
///
/// An event is made on one worker and freed on another. With a plain free list per worker, one list would run dry while
/// the other grows; malloc costs 13 ns. Here lines flow back through a depot, in groups of 93. Foreign threads have
/// caches too (guest.h).
///
/// A group is an array of pointers, not a chain through the lines. A chain would have the thread that takes a line wait
/// for the link in it, which lies in the cache of the thread that freed it. An array tells many lines ahead which ones
/// come next.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/memory.h"
#include "core/spin_lock.h"

namespace tartan::detail {

/// The part of a free line that the pool may write to. It does so only if there is no memory for a group.
struct free_line {
  free_line* next;
};

/// Free lines that move together from one thread to another. Only `allocate` and `release` look at the lines of a
/// loaded group; the depot's lock guards it on its way.
struct line_group {
  static constexpr std::uint32_t capacity = 93;
  /// `allocate` prefetches the line that will be handed out so many calls later: about the time that a line takes from
  /// another core.
  static constexpr std::uint32_t ahead = 4;

  line_group() noexcept {
    for (void*& address : below_and_lines) address = this;
  }
  [[nodiscard]] void** lines() noexcept { return below_and_lines + ahead; }

  line_group* next = nullptr;       ///< in the depot
  line_group* next_made = nullptr;  ///< constant once it is in the list of all groups
  std::uint32_t count = 0;          ///< of lines; not kept up to date while the group is loaded
  /// Below the first line are addresses to prefetch when few lines are left. Null would cost a walk of the page table.
  void* below_and_lines[ahead + capacity];
};

/// Free lines of one thread at one pool. A cache that is filled with zeros has none.
struct line_cache {
  void** top = nullptr;         ///< behind the last line of the loaded group
  void** bottom = nullptr;      ///< the loaded group's lines; null: no group is loaded
  void** limit = nullptr;       ///< the end of the loaded group
  line_group* spare = nullptr;  ///< full or empty, or null

  [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(top - bottom); }
};

/// Lines of 64 bytes. Limits: some 10^9 lines, and 8.6 bytes of a group for each line that is free; memory is given
/// back when the pool is destroyed.
class line_pool {
 public:
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t slab_bytes = 64 * 1024;
  static constexpr std::size_t lines_per_slab = slab_bytes / line_bytes - 1;
  static constexpr std::uint32_t group = line_group::capacity;
  static_assert(lines_per_slab % group == 0, "else lines of each slab are never used");
  /// The amount that is asked of the system at once. The allocator adds up to two pages to memory that is so aligned.
  /// Of slabs that are not open yet, only one page is touched.
  static constexpr std::size_t block_bytes = 16 * slab_bytes;

  /// `owner` is what owner_of gives for each of the lines.
  explicit line_pool(void* owner);
  line_pool(const line_pool&) = delete;
  line_pool& operator=(const line_pool&) = delete;
  ~line_pool();

  /// Threads: the cache's. Errors: std::bad_alloc. A line that was never used is all zero. While it is free a line
  /// keeps its contents, but perhaps for a free_line at its begin.
  [[nodiscard]] void* allocate(line_cache& cache) {
    if (!is_reserved(cache)) [[unlikely]] refill(cache);
    return allocate_reserved(cache);
  }

  /// The same where is_reserved(cache).
  [[nodiscard]] static void* allocate_reserved(line_cache& cache) noexcept {
    void** const line = cache.top - 1;
    // If the line was freed on another worker, its bytes are in that core's cache.
    real_memory::prefetch(*(line - std::ptrdiff_t{line_group::ahead}));
    cache.top = line;
    return *line;
  }

  /// Whether the next allocate() takes no lock and no memory from the system, also without a reserve(). Threads: the
  /// cache's.
  [[nodiscard]] static bool is_reserved(const line_cache& cache) noexcept { return cache.top != cache.bottom; }

  /// Makes sure that the next allocate() takes no lock and no memory from the system, for callers that will hold a lock
  /// then.
  void reserve(line_cache& cache) {
    if (!is_reserved(cache)) refill(cache);
  }

  void release(line_cache& cache, void* memory) noexcept {
    if (cache.top == cache.limit && !spill(cache)) [[unlikely]] return set_aside(memory);
    *cache.top++ = memory;
  }

  /// For threads that cannot have a cache: a shared one, under a spin lock.
  [[nodiscard]] void* allocate_shared();
  void release_shared(void* memory) noexcept;

  /// What the pool that a line comes from was made with.
  [[nodiscard]] static void* owner_of(const void* line) noexcept { return slab_of(line)->owner; }

  /// A number for a line, and back; null for a number that was never given. Threads: any.
  [[nodiscard]] static std::uint64_t number_of(const void* line) noexcept;
  [[nodiscard]] void* line_of(std::uint64_t number) const noexcept {
    const std::uint64_t index = number / (lines_per_slab + 1);
    const std::uint64_t line = number % (lines_per_slab + 1);
    if (line == 0 || index >= slabs_.load(std::memory_order_acquire)) [[unlikely]] return nullptr;  // pairs with new_slab
    return reinterpret_cast<std::byte*>(directory_[index].load(std::memory_order_acquire)) + line * line_bytes;
  }

  /// Calls f with each line that was ever allocated. Threads: only while nobody else uses the pool.
  template <class F>
  void for_each_line(F f) const {
    for (std::uint32_t n = 0; n < slabs_.load(std::memory_order_acquire); ++n) {
      slab* const s = directory_[n].load(std::memory_order_acquire);
      for (std::size_t line = 1; line <= lines_per_slab; ++line) f(static_cast<void*>(reinterpret_cast<std::byte*>(s) + line * line_bytes));
    }
  }

 private:
  struct slab {
    void* owner;
    std::uint64_t index;
    std::byte* unused;  ///< under depot_lock_, while it is in open_: the first line that was never used
    slab* next_open;    ///< under depot_lock_
    bool begins_block;  ///< its memory is given back with that of those behind it
  };
  /// Slabs of a block that have not been opened, at their begin.
  struct unopened {
    unopened* next;
    std::size_t count;
  };
  static constexpr std::size_t most_slabs = std::size_t{1} << 20;

  static const slab* slab_of(const void* line) noexcept {
    return reinterpret_cast<const slab*>(reinterpret_cast<std::uintptr_t>(line) & ~(std::uintptr_t{slab_bytes} - 1));
  }

  [[gnu::noinline]] void refill(line_cache& cache);
  [[nodiscard, gnu::noinline]] bool spill(line_cache& cache) noexcept;
  [[gnu::cold, gnu::noinline]] void set_aside(void* memory) noexcept;
  [[nodiscard]] static line_group* loaded_group(const line_cache& cache) noexcept;
  static void load(line_cache& cache, line_group& from) noexcept;
  [[nodiscard]] line_group* trade_empty(line_group* empty) noexcept;
  [[nodiscard]] line_group* trade_full(line_group* full) noexcept;
  void fill(line_group& room);
  [[nodiscard]] std::byte* take_unused() noexcept;
  void new_slab();
  [[nodiscard]] std::byte* take_unopened() noexcept;
  [[nodiscard]] bool register_slab(slab& made) noexcept;

  void* owner_;
  alignas(64) spin_lock depot_lock_;
  // Under depot_lock_:
  line_group* full_ = nullptr;
  line_group* empty_ = nullptr;
  line_group* made_ = nullptr;     ///< all groups
  free_line* set_aside_ = nullptr; ///< lines that were released when there was no memory for a group
  slab* open_ = nullptr;           ///< slabs with lines that were never used
  unopened* unopened_ = nullptr;
  /// Release by new_slab; pairs with every acquire load of whoever follows a number or walks the lines.
  real_memory::atomic<std::uint32_t> slabs_{0};
  /// As slabs_: release by new_slab pairs with line_of.
  real_memory::atomic<slab*>* directory_;  ///< most_slabs entries, mapped and mostly untouched
  alignas(64) spin_lock shared_lock_;
  line_cache shared_;  ///< under shared_lock_
};

}  // namespace tartan::detail
