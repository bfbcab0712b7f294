#include <tartan/buf/slice.h>

#include <cstring>
#include <new>
#include <string>

#include "buf/storage.h"
#include "core/fatal.h"
#include "core/memory.h"

namespace tartan::buf {

namespace detail {

namespace {

using count = tartan::detail::real_memory::atomic<std::uint64_t>;

count& count_in(std::byte* bytes) noexcept { return *std::launder(reinterpret_cast<count*>(bytes)); }
const count& count_in(const std::byte* bytes) noexcept { return *std::launder(reinterpret_cast<const count*>(bytes)); }

}  // namespace

block::block(void (*destroys)(block&) noexcept) noexcept : end{destroys} {
  static_assert(sizeof(count) == sizeof(uses) && alignof(count) <= 8);
  ::new (static_cast<void*>(uses)) count{1};
}

void retain(block& b) noexcept { count_in(b.uses).fetch_add(1, std::memory_order_relaxed); }

void release(block& b) noexcept {
  // Who has the only use saves the read-modify-write: nobody is left who could make another.
  // is_only_use's acquire pairs with this release, and this acquire with it too: all have read before one destroys.
  if (is_only_use(b) || count_in(b.uses).fetch_sub(1, std::memory_order_acq_rel) == 1) b.end(b);
}

std::uint64_t uses_of(const block& b) noexcept { return count_in(b.uses).load(std::memory_order_relaxed); }

bool is_only_use(const block& b) noexcept {
  return count_in(b.uses).load(std::memory_order_acquire) == 1;  // pairs with the release of fetch_sub in release()
}

void beyond_slice(std::size_t from, std::size_t size) noexcept {
  tartan::detail::fatal({"a slice of ", std::to_string(size), " bytes was asked for what lies behind its byte ", std::to_string(from)});
}

}  // namespace detail

slice slice::copy_of(const_bytes bytes) {
  if (bytes.empty()) return {};
  detail::storage* const made = detail::storage::make(bytes.size());
  std::memcpy(made->begin(), bytes.data(), bytes.size());
  return slice{made, made->begin(), bytes.size()};
}

}  // namespace tartan::buf
