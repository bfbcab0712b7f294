#include "simulation/handler.h"

#include <tartan/core/event.h>
#include <utility>

#include "simulation/exclusion.h"
#include "simulation/sequencer.h"

namespace simulation {

namespace {

exclusion& colors() noexcept {
  static exclusion all;
  return all;
}

}  // namespace

handler_scope::handler_scope(picoseconds computes) noexcept : color_{tartan::detail::here->running.value() + 1} {
  core& own = running->current();
  colors().begin(color_, own.clock);
  own.hit = 0;
  running->spend(computes);
}

handler_scope::~handler_scope() {
  core& own = running->current();
  own.hit = running->on().hit;
  colors().end(color_, own.clock);
}

runtime_scope::runtime_scope() noexcept : before_{std::exchange(running->current().hit, running->on().hit)} {}
runtime_scope::~runtime_scope() { running->current().hit = before_; }

std::uint64_t events_checked() noexcept { return colors().checked(); }

}  // namespace simulation
