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

/// Under the lock. Whatever a slab has beyond whole groups stays unused: 63 of 1023 lines.
std::byte* line_pool::take_unused() noexcept {
  std::byte* const first = open_->unused;
  open_->unused = first + group * line_bytes;
  if (open_->unused + group * line_bytes > reinterpret_cast<std::byte*>(open_) + slab_bytes) open_ = open_->next_open;
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

/// Two threads at once make one each; both are used up in the end.
void line_pool::new_slab() {
  void* const memory = std::aligned_alloc(slab_bytes, slab_bytes);
  if (memory == nullptr) throw std::bad_alloc{};
  std::memset(memory, 0, slab_bytes);
  auto* const made = ::new (memory) slab{owner_, 0, static_cast<std::byte*>(memory) + line_bytes, nullptr};
  const std::lock_guard hold{depot_lock_};
  const std::uint32_t index = slabs_.load(std::memory_order_relaxed);
  if (index == most_slabs) {
    std::free(memory);
    throw std::bad_alloc{};
  }
  made->index = index;
  directory_[index].store(made, std::memory_order_release);  // pairs with line_of
  slabs_.store(index + 1, std::memory_order_release);        // pairs with line_of
  made->next_open = std::exchange(open_, made);
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
