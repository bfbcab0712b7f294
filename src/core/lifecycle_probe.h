#pragma once
/// Steps of a lifecycle that a test takes one by one.

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

  /// As in a run that goes on: workers other than 0 need not leave. Threads: while there are none.
  static void begin_run(lifecycle& life) {
    life.control_.run.begin([] { return false; });
    life.control_.leave.store(false, std::memory_order_relaxed);
    life.idle_.resume();
  }
  /// As set_workers, without the workers.
  static void want(lifecycle& life, unsigned workers) { life.control_.wanted.store(workers, std::memory_order_relaxed); }
  static void end_run(lifecycle& life) {
    life.idle_.pause();
    life.control_.leave.store(true, std::memory_order_relaxed);
    life.control_.run.end();
  }

  /// Chooses the worker's bed, as before a rest. The worker must not rest yet.
  static bed take_bed(lifecycle& life, unsigned index, polling how = polling::shared) {
    worker& w = life.at(index);
    static_cast<void>(life.take_bed(w, how));
    return w.rests_in;
  }
  static bool is_in_wrong_bed(lifecycle& life, unsigned index, idle_view last, polling how = polling::shared) {
    return life.is_in_wrong_bed(life.at(index), how, last);
  }
  /// Ends the rest of a worker in the order in which lifecycle::sleep does.
  static void get_up(lifecycle& life, unsigned index) {
    worker& w = life.at(index);
    if (w.rests_in == bed::guard) life.end_watch(w);
    life.get_up(w);
  }
  /// Of one that has chosen a bed, and not rested.
  static void leave_bed(lifecycle& life, unsigned index) {
    worker& w = life.at(index);
    if (w.rests_in == bed::guard) life.end_watch(w);
    life.leave_bed(w);
  }
  static bool is_attended(lifecycle& life, unsigned index) { return life.is_attended(life.at(index)); }
  static void attend(lifecycle& life, unsigned index, bool has_slept) { life.attend(life.at(index), has_slept); }
  static void look_sooner(lifecycle& life, worker& w) { life.look_sooner(w); }
  static void ask_for_help(lifecycle& life, unsigned index, bool has_slept = false) {
    life.ask_for_help(life.at(index), has_slept);
  }
  static bool leaves_to_poster(lifecycle& life, unsigned index) { return life.leaves_to_poster(life.at(index), life.sleepers().view()); }
};

}  // namespace tartan::detail
