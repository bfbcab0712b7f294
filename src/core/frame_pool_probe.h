#pragma once
/// What tests ask of a frame_pool that nobody else may.

#include "core/frame_pool.h"

namespace tartan::detail {

struct frame_pool_probe {
  /// The first worker's next block of a size that has none comes from a new area. Threads: that worker.
  static void use_up(frame_pool& pool) { pool.caches_[0].unused = {}; }
};

}  // namespace tartan::detail
