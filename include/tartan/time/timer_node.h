#pragma once
/// What a pending timer consists of, to be embedded where it belongs. Library code; programs use timer.h and post_after.h.

#include <cstdint>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

namespace tartan::detail {

class frame_pool;
class runtime_state;
struct timer_node;

/// Where a node is; the time module's own. See docs/design/timers.md.
struct timer_links {
  timer_node* next = nullptr;
  timer_node* previous = nullptr;
  std::uint64_t sequence = 0;  ///< grows with every timer of one color; breaks ties between deadlines
  std::uint16_t home = 0;      ///< the wheel
  std::uint8_t level = 0;
  std::uint8_t slot = 0;
  bool armed = false;         ///< in the wheel; under the lock of that wheel
  std::uint8_t embedder = 0;  ///< of who embeds the node
};

/// An event that is posted when its time has come. Two cache lines.
///
/// Color: one at a time; arm and disarm of one node are ordered by happens-before, as all that one color does is.
/// Lifetime: from arm until disarm gave true, or until its event is run or dropped.
struct timer_node {
  event fired;                    ///< not pooled; `ops` and `site` are set before arm
  color where{};                  ///< not unordered
  std::uint64_t deadline_ns = 0;  ///< set by arm
  bool canceled_by_stop = false;  ///< set before the event is posted: the time has not come, the runtime stops
  timer_links links;
  frame_pool* memory = nullptr;  ///< of who embeds the node: the pool that its memory is from
};
static_assert(sizeof(timer_node) == 128);

/// Posts the node's event, as a completion, when the runtime's clock has passed the deadline. A deadline that is past already
/// counts as the time of this call. After stop the event is posted at once.
///
/// Threads: any.
/// Lifetime: the event may have run before this returns.
/// Errors: false, and the event is dropped here, once the runtime is drained. If there is no memory for the runtime's first timer, the
/// program ends with a message.
/// Order: in one color by deadline, ties in the order of arming.
/// Cost: a look at the clock, a coarse one if the deadline is more than a second ahead; two read-modify-writes; no system
/// call unless a worker has to sleep less long.
bool arm(runtime_state& rt, timer_node& node, std::uint64_t deadline_ns) noexcept;

/// The same, this long after now: looks at the clock once, for both.
bool arm_after(runtime_state& rt, timer_node& node, std::uint64_t after_ns) noexcept;

/// Gives true if the event will not be posted, false if it was, or is being, posted, or was never armed.
///
/// Cost: one read-modify-write.
bool disarm(runtime_state& rt, timer_node& node) noexcept;

}  // namespace tartan::detail
