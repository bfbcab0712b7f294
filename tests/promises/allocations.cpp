#include "tests/promises/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "core/memory.h"

namespace {

std::atomic<std::int64_t> live{0};
std::atomic<std::uint64_t> calls{0};
thread_local bool refusing = false;

void* aligned_memory(std::size_t alignment, std::size_t size) noexcept {
  void* memory = nullptr;
  return ::posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

}  // namespace

// What the library takes slabs of lines from.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return refusing ? nullptr : aligned_memory(alignment, size);
}

namespace tartan::test {

no_memory::no_memory() noexcept {
  refusing = true;
}
no_memory::~no_memory() {
  refusing = false;
}

std::int64_t live_allocations() noexcept {
  return live.load(std::memory_order_relaxed);
}
std::uint64_t allocations() noexcept {
  return calls.load(std::memory_order_relaxed);
}

}  // namespace tartan::test

#if TARTAN_THREAD_SANITIZER

// clang's ThreadSanitizer has an operator new that cannot be replaced. It tells of each call of malloc, but of aligned_alloc only
// when the memory is freed: what is live cannot be counted here, only in the other presets.
extern "C" void __sanitizer_malloc_hook(const volatile void* memory, std::size_t) {
  if (memory != nullptr) calls.fetch_add(1, std::memory_order_relaxed);
}

#else

namespace {

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc{};
  live.fetch_add(1, std::memory_order_relaxed);
  calls.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

void* plain(std::size_t size) noexcept {
  return refusing ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* aligned(std::size_t size, std::align_val_t alignment) noexcept {
  const auto align = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(align, (size + align - 1) / align * align);
}
void* counted_or_null(void* memory) noexcept {
  return memory == nullptr ? nullptr : counted(memory);
}

}  // namespace

// All forms: AddressSanitizer's own do not call these, and take it amiss if the two are mixed.
void* operator new(std::size_t size) {
  return counted(plain(size));
}
void* operator new[](std::size_t size) {
  return counted(plain(size));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(plain(size));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(plain(size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(aligned(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted(aligned(size, alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_or_null(aligned(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_or_null(aligned(size, alignment));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  release(memory);
}

#endif
