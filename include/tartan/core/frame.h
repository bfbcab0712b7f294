#pragma once
/// Where coroutine frames live. Library code.

#include <cstddef>
#include <cstdint>

namespace tartan::detail {

inline constexpr std::size_t frame_alignment_bytes = 64;

/// Memory for a frame, 64-byte aligned: from the pool of the runtime that the calling thread works for, else from the heap.
///
/// Lifetime: a frame made by a worker must be freed before its runtime is destroyed; else the program ends with a message.
/// Errors: std::bad_alloc.
/// Cost: from the pool a few nanoseconds, no atomic; frames of more than 8 KB come from the heap.
[[nodiscard]] void* allocate_frame(std::size_t bytes);

/// Threads: any.
void free_frame(void* frame, std::size_t bytes) noexcept;

[[noreturn]] void misplaced_frame() noexcept;

/// Ends the program with a message, instead of a crash later, where gcc before 13 has laid out a frame so that its coroutine will be started elsewhere
/// than it begins (GCC bug 106188): that of a coroutine whose outermost block has no variable, and which awaits in the condition of an if, a loop or a
/// switch. See docs/guide/coroutines.md, "Mistakes".
///
/// Cost: two instructions; none with other compilers.
template <class Promise>
void check_frame([[maybe_unused]] const Promise& in) noexcept {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
  constexpr std::size_t begins_at = alignof(Promise) > 2 * sizeof(void*) ? alignof(Promise) : 2 * sizeof(void*);  // behind two pointers
  if (reinterpret_cast<std::uintptr_t>(&in) % frame_alignment_bytes != begins_at % frame_alignment_bytes) [[unlikely]] misplaced_frame();
#endif
}

/// Base of what lives in frames' memory.
struct pooled {
  [[nodiscard]] static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { free_frame(frame, bytes); }
};

}  // namespace tartan::detail
