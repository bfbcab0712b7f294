#include "simulation/exclusion.h"

#include <cstdio>
#include <cstdlib>

namespace simulation {

/// Open addressing; a workload has far fewer colors than there is room.
exclusion::entry& exclusion::of(std::uint64_t color) noexcept {
  for (std::uint64_t at = color * 0x9e3779b97f4a7c15u >> 44;; at = (at + 1) % room) {
    entry& e = colors_[at];
    if (e.color == color) return e;
    if (e.color != 0) continue;
    e.color = color;
    return e;
  }
}

void exclusion::begin(std::uint64_t color, picoseconds now) noexcept {
  entry& e = of(color);
  if (e.runs || now < e.ended) {
    std::fprintf(stderr, "simulate: two events of color %#llx at %llu ns\n", static_cast<unsigned long long>(color),
                 static_cast<unsigned long long>(now / 1000));
    std::exit(1);
  }
  e.runs = true;
  ++checked_;
}

void exclusion::end(std::uint64_t color, picoseconds now) noexcept {
  entry& e = of(color);
  e.runs = false;
  e.ended = now;
}

}  // namespace simulation
