#pragma once
/// What may complete at once in one event: so many operations (contract 12), and so many bytes, lest a fast peer or a warm file keep the
/// worker for itself.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tartan/core/event.h>

namespace tartan::detail {

/// So many bytes count as one more operation: 64 of them are a megabyte.
inline constexpr std::size_t bytes_of_one_completion = 16384;

/// Tells that an operation has moved so much. Threads: a worker's, in an event.
inline void charge_inline(std::size_t bytes) noexcept {
  if (bytes < bytes_of_one_completion) [[likely]] return;
  std::uint32_t& left = here->inline_left;
  left -= static_cast<std::uint32_t>(std::min<std::size_t>(left, bytes / bytes_of_one_completion));
}

}  // namespace tartan::detail
