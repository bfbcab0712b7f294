#pragma once
/// What tests of the core ask of a lifecycle that nobody else may.

#include <cstdint>
#include <memory>
#include <utility>

#include "core/lifecycle.h"
#include "core/stall_watch.h"

namespace tartan::detail {

struct lifecycle_probe {
  static bool watches_on(lifecycle& life, worker& w) { return life.watches_on(w, never_ns); }
  static std::uint64_t watch_again_ns(lifecycle& life, const worker& w, std::uint64_t last_ns) { return life.watch_again_ns(w, last_ns); }
  /// This watch instead of the runtime's own. Threads: before the first run.
  static void use(lifecycle& life, std::unique_ptr<stall_watch> watch) { life.stalls_ = std::move(watch); }
};

}  // namespace tartan::detail
