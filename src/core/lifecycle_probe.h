#pragma once
/// What tests ask of a lifecycle that nobody else may.

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

  static void stand_by(lifecycle& life, unsigned index) { life.stand_by(life.at(index)); }
  static void end_watch(lifecycle& life, unsigned index) { life.end_watch(life.at(index)); }
  static bool may_stand_by(lifecycle& life, unsigned index) { return life.may_stand_by(life.at(index)); }
  static bool is_attended(lifecycle& life, unsigned index) { return life.is_attended(life.at(index)); }
  static void attend(lifecycle& life, unsigned index, bool has_slept) { life.attend(life.at(index), has_slept); }
  static void look_sooner(lifecycle& life, worker& w) { life.look_sooner(w); }
  static void ask_for_help(lifecycle& life, unsigned index, bool has_slept = false) {
    life.ask_for_help(life.at(index), has_slept);
  }
};

}  // namespace tartan::detail
