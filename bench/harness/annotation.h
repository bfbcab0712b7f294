#pragma once
// What a programmer would say of a handler, for contenders that know what to do with it.

#include <cstdint>

namespace bench {

/// An event tells it by `annotation told() const`.
struct annotation {
  std::uint64_t cost_ns = 0;
  unsigned penalty = 1;
};

}  // namespace bench
