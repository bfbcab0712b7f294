#pragma once
/// Memory for events and color queues: 64-byte lines, kept until the runtime ends.
///
/// An event is made on one worker and freed on another: a plain free list per worker would drain on one side and pile up on the
/// other, and malloc costs 13 ns. Lines flow back in groups of 93 through a depot instead. Foreign threads have caches too (guest.h).

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/memory.h"
#include "core/spin_lock.h"

namespace tartan::detail {

/// A free line.
struct free_line {
  free_line* next;
  free_line* next_group;  ///< of the first line of a group in the depot
};

/// Free lines of one thread.
struct line_cache {
  free_line* free = nullptr;
  std::uint32_t count = 0;
  free_line* spare = nullptr;  ///< a whole group, or null
};

/// Lines of 64 bytes. Limits: some 10^9 lines; memory is given back when the pool is destroyed.
class line_pool {
 public:
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t slab_bytes = 64 * 1024;
  static constexpr std::size_t lines_per_slab = slab_bytes / line_bytes - 1;
  static constexpr std::uint32_t group = 93;
  static_assert(lines_per_slab % group == 0, "else lines of each slab are never used");
  /// What is asked of the system at once: the allocator adds up to two pages to what is so aligned. Pages that no slab has been opened in are not
  /// touched, but one.
  static constexpr std::size_t block_bytes = 16 * slab_bytes;

  /// `owner` is what owner_of gives for each of the lines.
  explicit line_pool(void* owner);
  line_pool(const line_pool&) = delete;
  line_pool& operator=(const line_pool&) = delete;
  ~line_pool();

  /// Threads: the cache's. Errors: std::bad_alloc. A line that was never used is all zero; a line keeps its contents but for the
  /// first 16 bytes while it is free.
  [[nodiscard]] void* allocate(line_cache& cache) {
    if (cache.free == nullptr) refill(cache);
    free_line* const line = cache.free;
    cache.free = line->next;
    real_memory::prefetch(cache.free);  // if it was freed on another worker, its link and its bytes are in that one's cache
    --cache.count;
    return line;
  }

  /// Whether the next allocate() takes no lock and no memory from the system, also without a reserve(). Threads: the cache's.
  [[nodiscard]] static bool is_reserved(const line_cache& cache) noexcept { return cache.free != nullptr; }

  /// Sees to it that the next allocate() takes no lock and no memory from the system: for who will hold a lock then.
  void reserve(line_cache& cache) {
    if (cache.free == nullptr) refill(cache);
  }

  void release(line_cache& cache, void* memory) noexcept {
    if (cache.count == group) spill(cache);
    auto* const line = static_cast<free_line*>(memory);
    line->next = cache.free;
    cache.free = line;
    ++cache.count;
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

  void refill(line_cache& cache);
  void spill(line_cache& cache) noexcept;
  [[nodiscard]] free_line* take_group();
  [[nodiscard]] std::byte* take_unused() noexcept;
  [[nodiscard]] static free_line* link_group(std::byte* lines) noexcept;
  void give_group(free_line* first) noexcept;
  void new_slab();
  [[nodiscard]] std::byte* take_unopened() noexcept;
  [[nodiscard]] bool register_slab(slab& made) noexcept;

  void* owner_;
  alignas(64) spin_lock depot_lock_;
  free_line* depot_ = nullptr;  ///< under depot_lock_
  slab* open_ = nullptr;        ///< under depot_lock_: slabs with groups that were never used
  unopened* unopened_ = nullptr;  ///< under depot_lock_
  /// Release by new_slab; pairs with every acquire load of whoever follows a number or walks the lines.
  real_memory::atomic<std::uint32_t> slabs_{0};
  /// As slabs_: release by new_slab pairs with line_of.
  real_memory::atomic<slab*>* directory_;  ///< most_slabs entries, mapped and mostly untouched
  alignas(64) spin_lock shared_lock_;
  line_cache shared_;  ///< under shared_lock_
};

}  // namespace tartan::detail
