#include "simulation/handler.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tartan/core/event.h>
#include <utility>

#include "simulation/exclusion.h"
#include "simulation/program.h"
#include "simulation/sequencer.h"

namespace simulation {

namespace {

exclusion& colors() noexcept {
  static exclusion all;
  return all;
}

struct lines_of_kind {
  std::uint64_t kind = 0;
  double events = 0;
  double lines = 0;
};
std::array<lines_of_kind, 8> kinds;  // W8 and W9 have two

/// Its entry, or the first that is free.
lines_of_kind& of_kind(std::uint64_t kind) noexcept {
  for (lines_of_kind& each : kinds) {
    if (each.events == 0 || each.kind == kind) return each;
  }
  std::exit((std::fputs("simulate: more kinds of handlers than it can tell apart\n", stderr), 2));
}

}  // namespace

handler_scope::handler_scope(picoseconds computes) noexcept : color_{tartan::detail::here->running.value() + 1} {
  core& own = running->current();
  colors().begin(color_, own.clock);
  own.hit = 0;
  if (penalties_by_lines()) own.touched.begin();
  running->spend(computes);
}

unsigned handler_scope::lines_read() const noexcept { return running->current().touched.read(); }

handler_scope::~handler_scope() {
  core& own = running->current();
  own.hit = running->on().hit;
  colors().end(color_, own.clock);
}

runtime_scope::runtime_scope() noexcept : before_{std::exchange(running->current().hit, running->on().hit)} {}
runtime_scope::~runtime_scope() { running->current().hit = before_; }

void note_lines(std::uint64_t kind, unsigned lines) noexcept {
  lines_of_kind& all = of_kind(kind);
  all.kind = kind;
  ++all.events;
  all.lines += lines;
}

unsigned penalty_by_lines(std::uint64_t kind) noexcept {
  const lines_of_kind& all = of_kind(kind);
  if (all.events == 0) return 1;
  const machine& on = running->on();
  const picoseconds line = on.groups() > 1 ? on.far_load : on.near_core_load;
  return static_cast<unsigned>(1.5 + all.lines / all.events * static_cast<double>(line) / (1000.0 * static_cast<double>(kind)));
}

void add_lines(figures& to) {
  for (const lines_of_kind& each : kinds) {
    if (each.events != 0) to.emplace_back("lines_read_" + std::to_string(each.kind) + "_ns", each.lines / each.events);
  }
}

std::uint64_t events_checked() noexcept { return colors().checked(); }

}  // namespace simulation
