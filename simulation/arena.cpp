#include "simulation/arena.h"

#include <bit>
#include <cstdio>
#include <cstdlib>

#include "simulation/pages.h"

namespace simulation {

namespace {

constexpr std::size_t most_alignment = std::size_t{64} * 1024;

/// Four classes for each power of two, from 16 bytes on.
unsigned class_of(std::size_t size) noexcept {
  const std::size_t units = (size + 15) / 16;
  if (units <= 4) return static_cast<unsigned>(units);
  const auto power = static_cast<unsigned>(std::bit_width(units - 1));
  const std::size_t quarter = std::size_t{1} << (power - 3);
  const std::size_t quarters = (units + quarter - 1) / quarter;  // 5 to 8
  return 4 + (power - 3) * 4 + static_cast<unsigned>(quarters - 4);
}
std::size_t size_of(unsigned size_class) noexcept {
  if (size_class <= 4) return std::size_t{16} * size_class;
  const unsigned power = (size_class - 5) / 4;
  return (std::size_t{5} + (size_class - 5) % 4) * (std::size_t{16} << power);
}

}  // namespace

arena::arena() {
  void* const mapped = map_pages(bytes + most_alignment);
  const auto at = reinterpret_cast<std::uintptr_t>(mapped);
  first_ = static_cast<std::byte*>(mapped) + (most_alignment - at % most_alignment) % most_alignment;
}

void* arena::take(std::size_t size, std::size_t alignment) noexcept {
  const std::size_t begin = (used_ + alignment - 1) / alignment * alignment;
  if (begin + size > bytes) std::exit((std::fputs("simulate: the arena is full\n", stderr), 1));
  used_ = begin + size;
  return first_ + begin;
}

void* arena::allocate(std::size_t size, std::size_t alignment) noexcept {
  const std::size_t room = alignment > sizeof(header) ? alignment : 0;
  const unsigned size_class = class_of(size + sizeof(header) + room);
  void* block = freed_[size_class];
  if (block != nullptr) {
    freed_[size_class] = *static_cast<void**>(block);
  } else {
    block = take(size_of(size_class), 16);
  }
  auto at = reinterpret_cast<std::uintptr_t>(block) + sizeof(header);
  if (room != 0) at = (at + alignment - 1) / alignment * alignment;
  auto* const own = reinterpret_cast<header*>(at) - 1;
  own->block = block;
  own->size_class = size_class;
  return own + 1;
}

void arena::free(void* memory) noexcept {
  const header own = static_cast<header*>(memory)[-1];
  *static_cast<void**>(own.block) = freed_[own.size_class];
  freed_[own.size_class] = own.block;
}

}  // namespace simulation
