#pragma once
/// Memory from the system that is zero without anybody having written it.

#include <cstddef>

namespace tartan::detail {

/// Whole pages, which the kernel clears one by one when they are first touched: making them takes a few microseconds, however many they
/// are. Null: there is no memory.
[[nodiscard]] void* map_zero_pages(std::size_t bytes) noexcept;

/// Gives back what map_zero_pages gave, with the same size. Null is nothing.
void unmap_zero_pages(void* pages, std::size_t bytes) noexcept;

}  // namespace tartan::detail
