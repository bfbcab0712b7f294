#include "core/zero_pages.h"

#include <sys/mman.h>

namespace tartan::detail {

// Not calloc: what was freed before it clears by hand.
void* map_zero_pages(std::size_t bytes) noexcept {
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  // A huge page would be cleared at one touch, which takes some 100 us. Fails only where there are none.
  static_cast<void>(::madvise(pages, bytes, MADV_NOHUGEPAGE));
  return pages;
}

void unmap_zero_pages(void* pages, std::size_t bytes) noexcept {
  if (pages != nullptr) ::munmap(pages, bytes);
}

}  // namespace tartan::detail
