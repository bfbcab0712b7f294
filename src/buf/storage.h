#pragma once
/// Fresh memory for bytes, with its count in front.

#include <cstddef>
#include <new>
#include <tartan/buf/slice.h>

namespace tartan::buf::detail {

/// A block whose bytes follow it in the same allocation.
struct storage : block {
  /// Errors: std::bad_alloc. One use, the caller's.
  [[nodiscard]] static storage* make(std::size_t capacity_bytes) {
    return ::new (::operator new(sizeof(storage) + capacity_bytes)) storage{capacity_bytes};
  }
  [[nodiscard]] std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] std::byte* end_of_it() noexcept { return begin() + capacity; }

  const std::size_t capacity;

 private:
  explicit storage(std::size_t capacity_bytes) noexcept : block{&destroy}, capacity{capacity_bytes} {}
  static void destroy(block& b) noexcept { ::operator delete(static_cast<void*>(&b)); }
};

}  // namespace tartan::buf::detail
