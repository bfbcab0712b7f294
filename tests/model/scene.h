#pragma once
// The workers and colors of one execution, for tests of posting and stealing.

#include <cstdint>
#include <optional>

#include "program.h"
#include "small_policy.h"

namespace tartan::model {

/// All colors start with worker 0.
template <class Memory, unsigned Workers, class Traits = small_traits>
struct scene {
  using policy = small_policy<Memory, Workers, Traits>;
  using color = typename policy::color;

  explicit scene(program& p) : s{p.make<policy>()}, program_{&p} {}
  color* add_color() { return program_->make<color>(*program_->make<small_ledger>()); }
  /// With a priority it is told to take 64 ns, too.
  small_event* event(int producer, int number, std::optional<unsigned> priority = {}) {
    auto* const made = program_->make<small_event>(producer, number);
    if (priority) made->told = detail::annotation{detail::handler_hints{.cost_ns = 64, .priority = static_cast<std::uint8_t>(*priority)}};
    return made;
  }
  /// A color that is runnable on worker 0, with one event of producer 3.
  color* add_waiting_color(std::optional<unsigned> priority = {}) {
    color* const c = add_color();
    s->post_as(0, *c, *event(3, 1, priority));
    return c;
  }
  /// At the end: all that was posted to the color has run, once, in order.
  static void all_ran(policy* s, color* c, int events) {
    s->settle();
    check(c->ledger->data == events, "no-orphan: every event that was posted runs");
  }

  policy* s;

 private:
  program* program_;
};

}  // namespace tartan::model
