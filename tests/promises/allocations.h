#pragma once
/// Counts what operator new gives out, in all threads of this test program; and can have there be none.

#include <cstdint>

#include "core/memory.h"

namespace tartan::test {

/// Memory that was given out by operator new and not taken back; always 0 under ThreadSanitizer.
[[nodiscard]] std::int64_t live_allocations() noexcept;
/// How often operator new was called.
[[nodiscard]] std::uint64_t allocations() noexcept;

/// While it lives, its thread gets no memory: neither from aligned_alloc nor, where that can be replaced, from operator new.
class no_memory {
 public:
  no_memory() noexcept;
  no_memory(const no_memory&) = delete;
  no_memory& operator=(const no_memory&) = delete;
  ~no_memory();
};

/// Not under ThreadSanitizer, whose operator new cannot be replaced.
inline constexpr bool refuses_operator_new = TARTAN_THREAD_SANITIZER == 0;

}  // namespace tartan::test
