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
  while (made_ != nullptr) delete std::exchange(made_, made_->next_made);
  ::munmap(static_cast<void*>(directory_), directory_bytes(most_slabs));
}

/// Null: none is loaded.
line_group* line_pool::loaded_group(const line_cache& cache) noexcept {
  if (cache.bottom == nullptr) return nullptr;
  auto* const first = reinterpret_cast<std::byte*>(cache.bottom - line_group::ahead);
  return reinterpret_cast<line_group*>(first - offsetof(line_group, below_and_lines));
}

void line_pool::load(line_cache& cache, line_group& from) noexcept {
  cache.bottom = from.lines();
  cache.top = from.lines() + from.count;
  cache.limit = from.lines() + line_group::capacity;
  // allocate() asks only for lines farther down.
  for (std::uint32_t n = 1; n <= line_group::ahead && n <= from.count; ++n) {
    real_memory::prefetch(from.lines()[from.count - n]);
  }
}

/// The cache has no line: its loaded group, if there is one, is empty.
void line_pool::refill(line_cache& cache) {
  line_group* const used_up = loaded_group(cache);
  if (used_up != nullptr) used_up->count = 0;
  if (cache.spare != nullptr && cache.spare->count != 0) return load(cache, *std::exchange(cache.spare, used_up));
  if (line_group* const full = trade_empty(used_up)) return load(cache, *full);
  if (used_up == nullptr) {
    line_group* const room = trade_full(nullptr);
    if (room == nullptr) throw std::bad_alloc{};
    load(cache, *room);  // so that the cache has it if the next line throws
  }
  line_group& room = *loaded_group(cache);
  fill(room);
  load(cache, room);
}

/// The cache has no room: its loaded group, if there is one, is full. False: there is no memory for another group.
bool line_pool::spill(line_cache& cache) noexcept {
  line_group* const full = loaded_group(cache);
  line_group* room = cache.spare;
  if (room == nullptr || room->count != 0) {
    room = trade_full(cache.spare);
    if (room == nullptr) return false;
  }
  if (full != nullptr) full->count = line_group::capacity;
  cache.spare = full;
  load(cache, *room);
  return true;
}

void line_pool::set_aside(void* memory) noexcept {
  const std::lock_guard hold{depot_lock_};
  set_aside_ = ::new (memory) free_line{set_aside_};
}

/// Gives the depot an empty group, or nothing, for a full one. Null: it has none, and the empty one stays with the
/// caller.
line_group* line_pool::trade_empty(line_group* empty) noexcept {
  const std::lock_guard hold{depot_lock_};
  line_group* const full = full_;
  if (full == nullptr) return nullptr;
  full_ = full->next;
  if (empty != nullptr) empty->next = std::exchange(empty_, empty);
  return full;
}

/// Gives the depot a full group, or nothing, for an empty one, which may be new. Null: there is no memory, and the full
/// one stays with the caller.
line_group* line_pool::trade_full(line_group* full) noexcept {
  line_group* made = nullptr;
  for (;;) {
    {
      const std::lock_guard hold{depot_lock_};
      line_group* const empty = made != nullptr ? made : empty_;
      if (empty != nullptr) {
        if (made != nullptr) {
          made->next_made = std::exchange(made_, made);
        } else {
          empty_ = empty->next;
        }
        if (full != nullptr) full->next = std::exchange(full_, full);
        return empty;
      }
    }
    made = new (std::nothrow) line_group;
    if (made == nullptr) return nullptr;
  }
}

/// With lines that no other thread has. Takes memory from the system, and writes the pointers, outside of the lock.
void line_pool::fill(line_group& room) {
  for (;;) {
    std::byte* unused = nullptr;
    {
      const std::lock_guard hold{depot_lock_};
      if (set_aside_ != nullptr) {
        room.lines()[0] = std::exchange(set_aside_, set_aside_->next);
        room.count = 1;
        return;
      }
      if (open_ != nullptr) unused = take_unused();
    }
    if (unused != nullptr) {
      // A slab is cleared upwards, just before: its end is nearest to this core, and is handed out first.
      for (std::uint32_t n = 0; n < group; ++n) room.lines()[n] = unused + n * line_bytes;
      room.count = group;
      return;
    }
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
