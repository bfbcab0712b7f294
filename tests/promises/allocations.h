#pragma once
/// Counts what operator new gives out, in all threads of this test program.

#include <cstdint>

namespace tartan::test {

/// Memory that was given out by operator new and not taken back; always 0 under ThreadSanitizer.
[[nodiscard]] std::int64_t live_allocations() noexcept;
/// How often operator new was called.
[[nodiscard]] std::uint64_t allocations() noexcept;

}  // namespace tartan::test
