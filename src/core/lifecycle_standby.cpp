/// How one of two workers leaves what becomes ready to the other one; docs/design/idle-set.md.

#include <cstddef>
#include <cstdint>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/sched/tuning.h"

namespace tartan::detail {

namespace {

/// What who stands by is called for: a line that takes the other one so long. Less than contract 7's 1 ms, and several times what it costs.
constexpr std::uint64_t long_line_ns = 300'000;
/// What it takes to wake a worker and to put it to sleep again. Where a turn takes as long, an edge is worth that, and once one worker is not
/// enough both wait for edges for a while (measured: with turns of 50 us a fifth of the requests was lost, with turns of 10 us none).
constexpr std::uint64_t dear_turn_ns = 25'000;
constexpr std::uint64_t both_wait_ns = 30'000'000;

// If the alarm finds work that may be stuck behind a long event, the search, and a watcher's first sleep and look, come on top.
static_assert(guard_word<real_memory>::far_ns + way_to_cpu_ns + search_ns + first_watch_ns + kernel_slack_ns + way_to_cpu_ns + rise_ns <=
              longest_color_wait_ns);

}  // namespace

/// Whether the other one sees to what becomes ready, so that this one need not: it is awake. A worker that slept where readiness wakes it
/// would be woken by each edge that comes while the other one runs an event, for work that that one would have found in a moment.
bool lifecycle::may_stand_by(const worker& w) noexcept {
  if (workers_.size() != 2 || !rt_.clock().has_standby() || !rt_.policy().may_stand_by()) return false;
  // It was needed, and has had nothing to do since: the other one is in a long event.
  if (w.was_missed && w.events_at_miss == w.events.get()) return false;
  const idle_view seen = idle_.view();
  // relaxed: a hint
  return seen.sleeping() == 0 && !seen.paused() && both_wait_until_.load(std::memory_order_relaxed) <= rt_.now_ns();
}

/// attended: from now on the alarm is set, or who was to set it has looked later.
void lifecycle::stand_by(worker& w) noexcept {
  w.stands_by = true;
  rt_.clock().stand_by(w.index);
  guard_.begin(rt_.now_ns(), [this](std::uint64_t at_ns) { rt_.clock().set_alarm(at_ns); });
}

void lifecycle::end_watch(worker& w) noexcept {
  if (w.stands_by) guard_.end();
  w.stands_by = false;
  idle_.end_watch();
}

/// By who stands by, when its alarm has gone off: whether it may go on.
bool lifecycle::is_attended(worker& w) noexcept {
  if (const std::uint64_t at_ns = guard_.still_ahead(rt_.now_ns()); at_ns != 0) {
    rt_.clock().set_alarm(at_ns);
    return true;
  }
  if (idle_.latest_view().sleeping() == 2) return true;  // readiness wakes the other one, which sets the alarm before it takes what is ready
  w.was_missed = true;
  w.events_at_miss = w.events.get();
  return false;
}

/// By a worker that has just woken up, or looked: who stands by need not come for a while. Unless something has waited here for long, or may have
/// because others go first, or waits that is its own, and that this one has not taken over: then the alarm goes off.
void lifecycle::attend(worker& w, bool has_slept) noexcept {
  if (!guard_.is_on()) return w.turn_pace.forget();
  const std::uint64_t now = rt_.now_ns();
  const std::uint64_t turns = w.whole_turns();
  if (has_slept) {
    w.turn_pace.begin(now, turns);
    w.turn_pace.begin_tour(now, turns);
  } else {
    w.turn_pace.note(now, turns);
    w.turn_pace.look(now, turns, rt_.policy().waiting(w.index));
    if (w.passes_over || rt_.policy().waiting(1 - w.index) != 0) return;
  }
  guard_.push(now, w.turn_pace.oldest_ns(), [this](std::uint64_t at_ns) { rt_.clock().set_alarm(at_ns); });
}

/// Calls who stands by, if the line here is long. After a sleep only if its turns are dear: a line of others, that a sleep has brought at once, may be
/// served by the time help has come (measured: 64 clients of a page of 1 KB, two workers: 1.14 of the time of a request); but ten clients with turns of
/// 50 us are served from sleep to sleep, and no look ever comes.
void lifecycle::ask_for_help(worker& w, bool has_slept) noexcept {
  if (!guard_.is_on()) return;
  const std::uint64_t turn_ns = w.turn_pace.turn_ns();
  const bool dear = turn_ns >= dear_turn_ns;
  if (has_slept && !dear) return;
  if (rt_.policy().waiting(w.index) * turn_ns < long_line_ns) return;
  if (!rt_.policy().has_loot(w.index)) return;  // all that waits is a pinned color, which nobody else may run
  if (dear) both_wait_until_.store(rt_.now_ns() + both_wait_ns, std::memory_order_relaxed);
  wants_help_.store(w.index, std::memory_order_relaxed);
  // After a sleep it searches itself, so that nobody would be claimed for it.
  const bool comes = has_slept ? !idle_.view().paused() && wake(1 - w.index, &w) : wake_any(&w);
  if (!comes) help_has_come();  // it is awake
}

}  // namespace tartan::detail
