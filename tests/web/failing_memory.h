#pragma once
/// Memory that runs out.

#include <cstddef>
#include <limits>

namespace web::test {

/// Some of the allocations by `new`, or by aligned_alloc, in all threads.
struct allocations {
  std::size_t least = 1;  ///< bytes of each
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t alignment = 0;  ///< given to aligned_alloc; 0: those by `new`

  [[nodiscard]] static constexpr allocations of(std::size_t bytes) noexcept { return {bytes, bytes}; }
  /// The areas that coroutines' frames come from.
  [[nodiscard]] static constexpr allocations of_areas() noexcept { return {1 << 20, 1 << 20, 64 << 10}; }
};

/// While it lives, one of these allocations fails: the one that comes behind so many others. One at a time.
class failing_memory {
 public:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();  ///< they are only counted

  explicit failing_memory(const allocations& which, std::size_t others = 0) noexcept;
  failing_memory(const failing_memory&) = delete;
  failing_memory& operator=(const failing_memory&) = delete;
  ~failing_memory();

  /// How many there have been.
  [[nodiscard]] std::size_t count() const noexcept;
};

/// Lets the running worker, which is the only one, ask the system for memory when a coroutine's frame is of a size that it has not free.
void use_up_frames();

}  // namespace web::test
