// A frame is made where a coroutine is called and freed where it ends, often on another worker: malloc would pay for that with a
// lock or a slow path each time. Blocks move in groups instead, as events do (line_pool.h), in several sizes.

#include "core/frame_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <tartan/core/event.h>
#include <tartan/core/frame.h>
#include <utility>

#include "core/fatal.h"
#include "core/runtime_state.h"
#include "core/worker.h"

#if defined(__SANITIZE_ADDRESS__)
#define TARTAN_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TARTAN_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(TARTAN_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace tartan::detail {

namespace {

/// A free block is out of bounds but for its links, so that AddressSanitizer sees who uses a frame that has ended.
void forbid([[maybe_unused]] void* block, [[maybe_unused]] std::size_t links, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(TARTAN_ADDRESS_SANITIZER)
  ASAN_POISON_MEMORY_REGION(static_cast<std::byte*>(block) + links, bytes - links);
#endif
}
void permit([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(TARTAN_ADDRESS_SANITIZER)
  ASAN_UNPOISON_MEMORY_REGION(block, bytes);
#endif
}

/// The last word of a frame's block says which pool it is from; null: the heap.
struct frame_tag {
  static constexpr std::size_t bytes = sizeof(frame_pool*);
  static std::size_t offset(std::size_t frame_bytes) noexcept { return (frame_bytes + 7) & ~std::size_t{7}; }
  static void set(void* frame, std::size_t frame_bytes, frame_pool* from) noexcept {
    std::memcpy(static_cast<std::byte*>(frame) + offset(frame_bytes), &from, bytes);
  }
  static frame_pool* get(const void* frame, std::size_t frame_bytes) noexcept {
    frame_pool* from = nullptr;
    std::memcpy(&from, static_cast<const std::byte*>(frame) + offset(frame_bytes), bytes);
    return from;
  }
};

void* from_heap(std::size_t bytes) {
  const std::size_t whole = (bytes + frame_alignment_bytes - 1) & ~(frame_alignment_bytes - 1);
  void* const memory = std::aligned_alloc(frame_alignment_bytes, whole);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

}  // namespace

// 64, 128 ... 512 in steps of 64, then four steps to each doubling: at most a fifth of a block is lost.
std::size_t frame_pool::class_of(std::size_t bytes) noexcept {
  if (bytes <= 512) [[likely]] return (bytes + 63) / 64 - 1;
  const auto octave = static_cast<std::size_t>(std::bit_width((bytes - 1) >> 9));  // 1 for up to 1024
  const std::size_t step = std::size_t{64} << octave;
  return 8 + (octave - 1) * 4 + (bytes - (std::size_t{256} << octave) + step - 1) / step - 1;
}

std::uint32_t frame_pool::group_of(std::size_t size_class) noexcept {
  // A table, for it is asked whenever a frame ends, and a division takes as long as all the rest of that.
  static constexpr auto all = [] {
    std::array<std::uint32_t, classes> sizes{};
    for (std::size_t n = 0; n < classes; ++n) sizes[n] = static_cast<std::uint32_t>(std::clamp<std::size_t>(32'768 / bytes_of(n), 8, 64));
    return sizes;
  }();
  return all[size_class];
}

inline frame_pool::cache* frame_pool::own_cache() noexcept {
  const worker* const w = rt_.worker_here();
  return w != nullptr ? &caches_[w->index] : nullptr;
}

inline void* frame_pool::take(cache& from, std::size_t size_class) {
  free_list& list = from.lists[size_class];
  if (list.first == nullptr) [[unlikely]] refill(from, size_class);
  free_block* const block = list.first;
  list.first = block->next;
  --list.count;
  ++from.live;
  permit(block, bytes_of(size_class));
  return block;
}

inline void frame_pool::put(cache& into, std::size_t size_class, void* block) noexcept {
  free_list& list = into.lists[size_class];
  if (list.count == group_of(size_class)) [[unlikely]] spill(list, size_class);
  auto* const freed = ::new (block) free_block{list.first, nullptr};
  list.first = freed;
  ++list.count;
  --into.live;
  forbid(block, sizeof(free_block), bytes_of(size_class));
}

void* frame_pool::allocate(std::size_t bytes) {
  const std::size_t size_class = class_of(bytes);
  if (cache* const own = own_cache()) [[likely]] return take(*own, size_class);
  return take_outside(size_class);
}

[[gnu::noinline]] void* frame_pool::take_outside(std::size_t size_class) {
  const std::lock_guard hold{outside_lock_};
  return take(outside_, size_class);
}

void frame_pool::release(void* block, std::size_t bytes) noexcept {
  const std::size_t size_class = class_of(bytes);
  if (cache* const own = own_cache()) [[likely]] return put(*own, size_class, block);
  put_outside(size_class, block);
}

[[gnu::noinline]] void frame_pool::put_outside(std::size_t size_class, void* block) noexcept {
  const std::lock_guard hold{outside_lock_};
  put(outside_, size_class, block);
}

[[gnu::flatten]] void* allocate_frame(std::size_t bytes) {
  const std::size_t tagged = frame_tag::offset(bytes) + frame_tag::bytes;
  runtime_state* const rt = here != nullptr ? here->owner : nullptr;
  frame_pool* const pool = rt != nullptr && tagged <= frame_pool::largest_bytes ? &rt->frames() : nullptr;
  void* const frame = pool != nullptr ? pool->allocate(tagged) : from_heap(tagged);
  frame_tag::set(frame, bytes, pool);
  return frame;
}

[[gnu::flatten]] void free_frame(void* frame, std::size_t bytes) noexcept {
  if (frame_pool* const pool = frame_tag::get(frame, bytes)) {
    pool->release(frame, frame_tag::offset(bytes) + frame_tag::bytes);
  } else {
    std::free(frame);
  }
}

/// The list is full: it becomes the spare group, and that goes to the depot.
[[gnu::noinline]] void frame_pool::spill(free_list& list, std::size_t size_class) noexcept {
  if (free_block* const group = std::exchange(list.spare, list.first)) {
    depot& d = depots_[size_class];
    const std::lock_guard hold{d.lock};
    group->next_group = d.groups;
    d.groups = group;
  }
  list.first = nullptr;
  list.count = 0;
}

frame_pool::frame_pool(runtime_state& rt) : rt_{rt}, caches_{std::make_unique<cache[]>(rt.workers())} {}

frame_pool::~frame_pool() {
  if (const std::int64_t left = live(); left != 0) {
    fatal({"a runtime was destroyed before ", std::to_string(left),
           " coroutines, or handles of coroutines, that belong to it; it was made at ", place(rt_.made_at())});
  }
  while (areas_ != nullptr) {
    void* const memory = std::exchange(areas_, areas_->next);
    permit(memory, area_bytes);
    std::free(memory);
  }
}

std::size_t frame_pool::system_bytes() noexcept {
  const std::lock_guard hold{areas_lock_};
  std::size_t bytes = 0;
  for (const area* each = areas_; each != nullptr; each = each->next) bytes += area_bytes;
  return bytes;
}

std::int64_t frame_pool::live() const noexcept {
  std::int64_t sum = outside_.live;
  for (unsigned n = 0; n < rt_.workers(); ++n) sum += caches_[n].live;
  return sum;
}

[[gnu::noinline]] void frame_pool::refill(cache& into, std::size_t size_class) {
  free_list& list = into.lists[size_class];
  free_block* group = std::exchange(list.spare, nullptr);
  if (group == nullptr) group = take_group(size_class);
  if (group == nullptr) group = carve(into.unused, size_class);
  list.first = group;
  list.count = group_of(size_class);
}

/// From the depot; null: it has none.
frame_pool::free_block* frame_pool::take_group(std::size_t size_class) noexcept {
  depot& d = depots_[size_class];
  const std::lock_guard hold{d.lock};
  free_block* const group = d.groups;
  if (group != nullptr) d.groups = group->next_group;
  return group;
}

frame_pool::free_block* frame_pool::carve(unused_memory& from, std::size_t size_class) {
  const std::size_t bytes = bytes_of(size_class);
  std::byte* const memory = take_unused(from, bytes * group_of(size_class));
  free_block* first = nullptr;
  for (std::uint32_t n = group_of(size_class); n-- > 0;) {
    first = ::new (static_cast<void*>(memory + n * bytes)) free_block{first, nullptr};
    forbid(first, sizeof(free_block), bytes);
  }
  return first;
}

/// At most step_bytes. What is left of an area that is too small for them stays unused.
std::byte* frame_pool::take_unused(unused_memory& from, std::size_t bytes) {
  if (static_cast<std::size_t>(from.end - from.begin) < bytes) add_area(from);
  std::byte* const taken = std::exchange(from.begin, from.begin + bytes);
#if defined(MADV_POPULATE_WRITE)
  // One call for 16 pages takes less time than 16 page faults. A kernel before 5.14 refuses it and has the faults.
  for (; from.populated < from.begin; from.populated += step_bytes) {
    static_cast<void>(::madvise(from.populated, step_bytes, MADV_POPULATE_WRITE));
  }
#endif
  return taken;
}

void frame_pool::add_area(unused_memory& to) {
  void* const memory = std::aligned_alloc(step_bytes, area_bytes);
  if (memory == nullptr) throw std::bad_alloc{};
  auto* const begin = static_cast<std::byte*>(memory);
  // Page faults bring a thread's first pages, for it may need few, and foreign threads', for they hold a lock meanwhile.
  const std::size_t by_faults = &to == &outside_.unused ? area_bytes : to.end == nullptr ? step_bytes : 0;
  to = {begin + frame_alignment_bytes, begin + by_faults, begin + area_bytes};
  const std::lock_guard hold{areas_lock_};
  areas_ = ::new (memory) area{areas_};
}

}  // namespace tartan::detail
