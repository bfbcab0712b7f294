#pragma once
/// Memory for coroutine frames and waits of timers, per worker and size.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/spin_lock.h"

namespace tartan::detail {

class runtime_state;

/// Blocks of some 24 sizes. A block that is freed elsewhere than it was made stays there until a whole group of them is
/// free; then the group goes to a depot, from where any worker takes it.
///
/// Memory from the system comes in areas of 1 MiB, which each worker carves by itself. Small programs touch little of
/// one.
///
/// Limits: frames of up to 8 KB; memory is given back when the pool is destroyed.
class frame_pool {
 public:
  static constexpr std::size_t largest_bytes = 8192;

  explicit frame_pool(runtime_state& rt);
  frame_pool(const frame_pool&) = delete;
  frame_pool& operator=(const frame_pool&) = delete;
  /// Ends the program if a frame is left.
  ~frame_pool();

  /// `bytes` is at most largest_bytes. Threads: any. Errors: std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t bytes);
  void release(void* block, std::size_t bytes) noexcept;

  /// Blocks in use. Threads: while no worker runs.
  [[nodiscard]] std::int64_t live() const noexcept;

  /// What was asked of the system. Threads: any.
  [[nodiscard]] std::size_t system_bytes() noexcept;

  static constexpr std::size_t classes = 24;
  [[nodiscard]] static std::size_t class_of(std::size_t bytes) noexcept;
  [[nodiscard]] static constexpr std::size_t bytes_of(std::size_t size_class) noexcept {
    if (size_class < 8) return (size_class + 1) * 64;
    const std::size_t octave = (size_class - 8) / 4 + 1;
    return (std::size_t{256} << octave) + ((size_class - 8) % 4 + 1) * (std::size_t{64} << octave);
  }
  /// Blocks that flow together: about 64, fewer of the large ones.
  [[nodiscard]] static std::uint32_t group_of(std::size_t size_class) noexcept;

 private:
  friend struct frame_pool_probe;  // a test's

  struct free_block {
    free_block* next;
    free_block* next_group;  ///< of the first block of a group in the depot
  };
  struct free_list {
    free_block* first = nullptr;
    free_block* spare = nullptr;  ///< a whole group, or null
    std::uint32_t count = 0;      ///< of first
  };
  /// The first line of what was asked of the system at once.
  struct area {
    area* next;
  };
  static constexpr std::size_t area_bytes = std::size_t{1} << 20;
  static constexpr std::size_t step_bytes = std::size_t{64} << 10;
  /// The area that one thread carves.
  struct unused_memory {
    std::byte* begin = nullptr;
    std::byte* populated = nullptr;  ///< the end of the pages that are there, or will be by page faults
    std::byte* end = nullptr;
  };
  struct alignas(64) cache {
    std::array<free_list, classes> lists;
    unused_memory unused;
    std::int64_t live = 0;  ///< made here less freed here
  };
  struct alignas(64) depot {
    spin_lock lock;
    free_block* groups = nullptr;  ///< under lock
  };

  [[nodiscard]] cache* own_cache() noexcept;
  void* take(cache& from, std::size_t size_class);
  void put(cache& into, std::size_t size_class, void* block) noexcept;
  void refill(cache& into, std::size_t size_class);
  [[nodiscard]] free_block* take_group(std::size_t size_class) noexcept;
  void spill(free_list& list, std::size_t size_class) noexcept;
  [[nodiscard]] void* take_outside(std::size_t size_class);
  void put_outside(std::size_t size_class, void* block) noexcept;
  [[nodiscard]] free_block* carve(unused_memory& from, std::size_t size_class);
  [[nodiscard]] std::byte* take_unused(unused_memory& from, std::size_t bytes);
  void add_area(unused_memory& to);

  runtime_state& rt_;
  std::unique_ptr<cache[]> caches_;  ///< each worker's own
  spin_lock outside_lock_;
  cache outside_;                    ///< other threads', under outside_lock_
  std::array<depot, classes> depots_;
  spin_lock areas_lock_;
  area* areas_ = nullptr;  ///< under areas_lock_: all
};

}  // namespace tartan::detail
