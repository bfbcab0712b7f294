#include "core/line_pool.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "core/thread_mark.h"

namespace tartan::detail {

namespace {

std::size_t directory_bytes(std::size_t entries) { return entries * sizeof(real_memory::atomic<void*>); }

}  // namespace

line_pool::line_pool(void* owner) : owner_{owner} {
  // Zero pages cost nothing until a slab is entered.
  void* const mapped = ::mmap(nullptr, directory_bytes(most_slabs), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc{};
  directory_ = static_cast<real_memory::atomic<slab*>*>(mapped);
}

line_pool::~line_pool() {
  for (std::uint32_t n = 0; n < slabs_.load(std::memory_order_acquire); ++n) {
    std::free(directory_[n].load(std::memory_order_acquire));
  }
  ::munmap(static_cast<void*>(directory_), directory_bytes(most_slabs));
}

void line_pool::refill(line_cache& cache) {
  if (cache.spare != nullptr) {
    cache.free = cache.spare;
    cache.spare = nullptr;
  } else {
    cache.free = take_group();
  }
  cache.count = group;
}

void line_pool::spill(line_cache& cache) noexcept {
  if (cache.spare != nullptr) give_group(cache.spare);
  cache.spare = cache.free;
  cache.free = nullptr;
  cache.count = 0;
}

free_line* line_pool::take_group() {
  const std::lock_guard hold{depot_lock_};
  if (depot_ != nullptr) {
    free_line* const first = depot_;
    depot_ = first->next_group;
    return first;
  }
  return carve_group();
}

/// A group of lines that were never used. Whatever a slab has beyond whole groups stays unused: 63 of 1023 lines.
free_line* line_pool::carve_group() {
  if (static_cast<std::size_t>(carving_end_ - carving_) < group * line_bytes) new_slab();
  free_line* first = nullptr;
  for (std::uint32_t n = 0; n < group; ++n) {
    auto* const line = reinterpret_cast<free_line*>(carving_);
    carving_ += line_bytes;
    line->next = first;
    first = line;
  }
  return first;
}

void line_pool::new_slab() {
  const std::uint32_t index = slabs_.load(std::memory_order_relaxed);
  if (index == most_slabs) throw std::bad_alloc{};
  void* const memory = std::aligned_alloc(slab_bytes, slab_bytes);
  if (memory == nullptr) throw std::bad_alloc{};
  std::memset(memory, 0, slab_bytes);
  auto* const made = ::new (memory) slab{owner_, index};
  directory_[index].store(made, std::memory_order_release);  // pairs with line_of
  slabs_.store(index + 1, std::memory_order_release);        // pairs with line_of
  carving_ = static_cast<std::byte*>(memory) + line_bytes;
  carving_end_ = static_cast<std::byte*>(memory) + slab_bytes;
}

void line_pool::give_group(free_line* first) noexcept {
  const std::lock_guard hold{depot_lock_};
  first->next_group = depot_;
  depot_ = first;
}

void line_pool::flush(line_cache& cache) noexcept {
  if (cache.spare != nullptr) give_group(std::exchange(cache.spare, nullptr));
  while (cache.free != nullptr) {
    free_line* const line = cache.free;
    cache.free = line->next;
    release_shared(line);
  }
  cache.count = 0;
}

line_pool::shared_cache& line_pool::shared() noexcept {
  return shared_[thread_mark() % shared_caches];
}

void* line_pool::allocate_shared() {
  shared_cache& mine = shared();
  const std::lock_guard hold{mine.lock};
  return allocate(mine.cache);
}

void line_pool::release_shared(void* memory) noexcept {
  shared_cache& mine = shared();
  const std::lock_guard hold{mine.lock};
  release(mine.cache, memory);
}

std::uint64_t line_pool::number_of(const void* line) noexcept {
  const slab* const s = slab_of(line);
  const auto offset = static_cast<const std::byte*>(line) - reinterpret_cast<const std::byte*>(s);
  return s->index * (lines_per_slab + 1) + static_cast<std::uint64_t>(offset) / line_bytes;
}

void* line_pool::line_of(std::uint64_t number) const noexcept {
  const std::uint64_t index = number / (lines_per_slab + 1);
  const std::uint64_t line = number % (lines_per_slab + 1);
  if (line == 0 || index >= slabs_.load(std::memory_order_acquire)) return nullptr;  // pairs with new_slab
  return reinterpret_cast<std::byte*>(directory_[index].load(std::memory_order_acquire)) + line * line_bytes;
}

}  // namespace tartan::detail
