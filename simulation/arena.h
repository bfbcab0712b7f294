#pragma once
// The memory of what is simulated. An allocator's addresses differ from run to run; here each run gives the same ones, from the start of the
// arena, so that lines have numbers, and two runs the same figures.

#include <cstddef>
#include <cstdint>

namespace simulation {

class arena {
 public:
  static constexpr std::size_t bytes = std::size_t{2} << 30;
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t lines = bytes / line_bytes;

  arena();
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Zero bytes that are never given back. Errors: ends the program if the arena is full.
  [[nodiscard]] void* take(std::size_t size, std::size_t alignment) noexcept;

  /// As an allocator: what was freed last is given first.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept;
  void free(void* memory) noexcept;

  [[nodiscard]] bool has(const volatile void* address) const noexcept { return offset_of(address) < bytes; }
  [[nodiscard]] std::size_t offset_of(const volatile void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(first_);
  }

 private:
  static constexpr unsigned classes = 128;

  /// In front of what allocate() gives.
  struct header {
    void* block;
    std::size_t size_class;
  };

  std::byte* first_;
  std::size_t used_ = 0;
  void* freed_[classes] = {};
};

}  // namespace simulation
