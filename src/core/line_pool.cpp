#include "core/line_pool.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

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
  // The first slab of a block may have a higher number than others of it, and must outlive them.
  slab* blocks = nullptr;
  for (std::uint32_t n = 0; n < slabs_.load(std::memory_order_acquire); ++n) {
    slab* const s = directory_[n].load(std::memory_order_acquire);
    if (s->begins_block) s->next_open = std::exchange(blocks, s);
  }
  while (blocks != nullptr) std::free(std::exchange(blocks, blocks->next_open));
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

/// Under the lock only a few instructions: linking a group's lines and memory from the system take their time outside.
free_line* line_pool::take_group() {
  for (;;) {
    std::byte* unused = nullptr;
    {
      const std::lock_guard hold{depot_lock_};
      if (free_line* const first = depot_) {
        depot_ = first->next_group;
        return first;
      }
      if (open_ != nullptr) unused = take_unused();
    }
    if (unused != nullptr) return link_group(unused);
    new_slab();
  }
}

/// Under the lock.
std::byte* line_pool::take_unused() noexcept {
  std::byte* const first = open_->unused;
  open_->unused = first + group * line_bytes;
  if (open_->unused == reinterpret_cast<std::byte*>(open_) + slab_bytes) open_ = open_->next_open;
  return first;
}

free_line* line_pool::link_group(std::byte* lines) noexcept {
  free_line* first = nullptr;
  for (std::uint32_t n = 0; n < group; ++n) {
    auto* const line = reinterpret_cast<free_line*>(lines + n * line_bytes);
    line->next = first;
    first = line;
  }
  return first;
}

/// Two threads at once open one each, perhaps of blocks of their own; all are used up in the end.
void line_pool::new_slab() {
  std::byte* memory = take_unopened();
  std::byte* const block = memory == nullptr ? static_cast<std::byte*>(std::aligned_alloc(slab_bytes, block_bytes)) : nullptr;
  if (block != nullptr) memory = block;
  if (memory == nullptr) throw std::bad_alloc{};
  std::memset(memory, 0, slab_bytes);
  auto* const made = ::new (memory) slab{owner_, 0, memory + line_bytes, nullptr, block != nullptr};
  if (!register_slab(*made)) {
    std::free(block);  // or, of a block that others use, this slab stays unused
    throw std::bad_alloc{};
  }
}

/// Memory for a slab of a block that there is already, or null.
std::byte* line_pool::take_unopened() noexcept {
  const std::lock_guard hold{depot_lock_};
  unopened* const first = unopened_;
  if (first == nullptr) return nullptr;
  auto* const memory = reinterpret_cast<std::byte*>(first);
  unopened_ = first->count == 1 ? first->next : ::new (memory + slab_bytes) unopened{first->next, first->count - 1};
  return memory;
}

/// False: there are as many as there can be.
bool line_pool::register_slab(slab& made) noexcept {
  const std::lock_guard hold{depot_lock_};
  const std::uint32_t index = slabs_.load(std::memory_order_relaxed);
  if (index == most_slabs) return false;
  made.index = index;
  directory_[index].store(&made, std::memory_order_release);  // pairs with line_of
  slabs_.store(index + 1, std::memory_order_release);         // pairs with line_of
  made.next_open = std::exchange(open_, &made);
  if (made.begins_block) {
    unopened_ = ::new (reinterpret_cast<std::byte*>(&made) + slab_bytes) unopened{unopened_, block_bytes / slab_bytes - 1};
  }
  return true;
}

void line_pool::give_group(free_line* first) noexcept {
  const std::lock_guard hold{depot_lock_};
  first->next_group = depot_;
  depot_ = first;
}

void* line_pool::allocate_shared() {
  const std::lock_guard hold{shared_lock_};
  return allocate(shared_);
}

void line_pool::release_shared(void* memory) noexcept {
  const std::lock_guard hold{shared_lock_};
  release(shared_, memory);
}

std::uint64_t line_pool::number_of(const void* line) noexcept {
  const slab* const s = slab_of(line);
  const auto offset = static_cast<const std::byte*>(line) - reinterpret_cast<const std::byte*>(s);
  return s->index * (lines_per_slab + 1) + static_cast<std::uint64_t>(offset) / line_bytes;
}

}  // namespace tartan::detail
