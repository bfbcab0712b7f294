#include "tests/xdr/memory_count.h"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "core/memory.h"

namespace {

thread_local bool is_counting = false;
thread_local std::int64_t taken = 0;
thread_local std::int64_t most_taken = 0;

void count(std::size_t bytes) noexcept {
  taken += static_cast<std::int64_t>(bytes);
  most_taken = std::max(most_taken, taken);
}

}  // namespace

#if TARTAN_THREAD_SANITIZER

// clang's ThreadSanitizer has an operator new that cannot be replaced. It tells of each call.
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void* memory);
extern "C" void __sanitizer_malloc_hook(const volatile void* memory, std::size_t bytes) {
  if (is_counting && memory != nullptr) count(bytes);
}
extern "C" void __sanitizer_free_hook(const volatile void* memory) {
  if (is_counting && memory != nullptr) taken -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(memory));
}

#else

namespace {

void* take_if_there_is(std::size_t bytes) noexcept {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory != nullptr && is_counting) count(malloc_usable_size(memory));
  return memory;
}

void* take(std::size_t bytes) {
  void* const memory = take_if_there_is(bytes);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

void give_back(void* memory) noexcept {
  if (is_counting && memory != nullptr) taken -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return take(bytes);
}
void* operator new[](std::size_t bytes) {
  return take(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return take_if_there_is(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return take_if_there_is(bytes);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  give_back(memory);
}

#endif

namespace tartan::xdr::test {

memory_count::memory_count() noexcept {
  taken = 0;
  most_taken = 0;
  is_counting = true;
}

memory_count::~memory_count() {
  is_counting = false;
}

std::size_t memory_count::most() const noexcept {
  return static_cast<std::size_t>(most_taken);
}

}  // namespace tartan::xdr::test
