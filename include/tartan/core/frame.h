#pragma once
/// Where coroutine frames live. Library code.

#include <cstddef>

namespace tartan::detail {

/// Memory for a frame, 64-byte aligned: from the pool of the runtime that the calling thread works for, else from the heap.
///
/// Lifetime: a frame made by a worker must be freed before its runtime is destroyed; else the program ends with a message.
/// Errors: std::bad_alloc.
/// Cost: from the pool a few nanoseconds, no atomic; frames of more than 8 KB come from the heap.
[[nodiscard]] void* allocate_frame(std::size_t bytes);

/// Threads: any.
void free_frame(void* frame, std::size_t bytes) noexcept;

/// Base of what lives in frames' memory.
struct pooled {
  [[nodiscard]] static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { free_frame(frame, bytes); }
};

}  // namespace tartan::detail
