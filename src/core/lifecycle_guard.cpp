/// Who sees to what becomes ready: the workers that run, one that sleeps there when none does, and the guard; docs/design/sleeping.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/sleep/wake_times.h"

namespace tartan::detail {

namespace {

/// A worker whose line takes that long calls another one. Less than contract 7's 1 ms, and several times what the call costs.
constexpr std::uint64_t long_line_ns = 300'000;
/// What it takes to wake a worker and to put it to sleep again. Where a turn takes as long, an edge is worth that, and once one worker is not
/// enough, one sleeps where edges wake it for a while although others run (measured: with turns of 50 us a fifth of the requests was lost, with turns
/// of 10 us none).
constexpr std::uint64_t dear_turn_ns = 25'000;
constexpr std::uint64_t dear_time_ns = 30'000'000;
/// A guard that could sleep on for less gets up.
constexpr std::uint64_t least_nap_ns = 50'000;

static_assert(guard_far_ns(2) + way_to_cpu_ns + search_ns + first_watch_ns + kernel_slack_ns + way_to_cpu_ns + rise_ns <= longest_color_wait_ns);
static_assert(guard_far_ns(64) + way_to_cpu_ns + search_ns + first_watch_ns + kernel_slack_ns + way_to_cpu_ns + rise_ns + spread_ns(64) <=
              longest_color_wait_ns);

}  // namespace

/// Whether what becomes ready is worth a wake-up of its own.
bool lifecycle::all_poll() noexcept {
  const std::uint64_t until_ns = dear_until_.load(std::memory_order_relaxed);  // a hint
  return until_ns != 0 && until_ns > rt_.now_ns();
}

/// one-polls: while anybody is awake, readiness is looked at by those, so that no edge wakes a worker for what another one would have found in a moment.
bed lifecycle::choose_bed(const worker& w, polling how) noexcept {
  // In a pause, what becomes ready shows at the embedding descriptor.
  if (how == polling::never || !rt_.clock().has_source() || w.beside || leaving(w)) return bed::token;
  if (how == polling::always) {
    while (!idle_.start_polling(w.index)) std::this_thread::yield();  // another one forgets a call, and has no other reason to hold it
    return bed::source;
  }
  const idle_view seen = idle_.view();
  // It was needed as guard, and has had nothing to do since: the others are in long events.
  const bool is_missed = w.was_missed && w.events_at_miss == w.events.get();
  const bool may_poll = seen.awake() <= 1 || is_missed || all_poll();
  if (may_poll && !seen.polling() && idle_.start_polling(w.index)) return bed::source;
  return idle_.workers() > 1 && idle_.start_watch() ? bed::guard : bed::token;
}

/// Whether a worker that has declined something may be the one that watches it. With descriptors that is the guard; or the one that waits for readiness,
/// which may have posted to a worker in a long event what it then has declined to steal.
bool lifecycle::may_watch(const worker& w) const noexcept { return w.rests_in == bed::source || !watches_outside(); }

/// Before a rest. Gives whether this worker is the one that watches.
bool lifecycle::take_bed(worker& w, polling how) noexcept {
  w.rests_in = choose_bed(w, how);
  rt_.clock().approach(w.index, w.rests_in);
  if (w.rests_in == bed::guard) {
    // attended: from now on the alarm is set, or a worker that was to set it has looked later.
    guard_.begin(rt_.now_ns(), [this](std::uint64_t at_ns) { rt_.clock().set_alarm(at_ns); });
    return true;
  }
  return w.watch_left != 0 && may_watch(w) && idle_.start_watch();
}

/// Of one that has said that it sleeps: something to wait for was plugged in since it chose, or it is the last one, and nobody waits for that.
bool lifecycle::is_in_wrong_bed(const worker& w, polling how, idle_view last) const noexcept {
  if (how == polling::never) return false;
  if (!rt_.clock().is_seated(w.index)) return true;
  return how == polling::shared && w.rests_in != bed::source && rt_.clock().has_source() && last.awake() == 0 && !last.polling();
}

void lifecycle::leave_bed(worker& w) noexcept {
  if (w.rests_in == bed::source) idle_.end_polling();
  w.rests_in = bed::token;
}

void lifecycle::end_watch(const worker& w) noexcept {
  if (w.rests_in == bed::guard) guard_.end();
  idle_.end_watch();
}

/// When somebody has looked at what is ready for the last time, as far as that is noted.
std::uint64_t lifecycle::last_look_ns(const worker& guard) const noexcept {
  std::uint64_t last = guard_.begun_ns();
  for (const auto& each : workers_) {
    if (each->index != guard.index && !idle_.is_asleep(each->index)) last = std::max(last, each->looked_ns.load(std::memory_order_relaxed));
  }
  return last;
}

/// By when the guard is needed: nobody has looked, or what waits behind an event has waited for long.
std::uint64_t lifecycle::guard_due(const worker& by, std::uint64_t looked_ns) const noexcept {
  std::uint64_t oldest = looked_ns;
  for (const auto& each : workers_) {
    const unsigned n = each->index;
    if (n != by.index && (idle_.is_asleep(n) || !rt_.policy().has_loot(n))) continue;
    if (n == by.index && rt_.policy().waiting(n) == 0) continue;
    oldest = std::min(oldest, std::max(each->oldest_ns.load(std::memory_order_relaxed), guard_.begun_ns()));
  }
  return oldest + guard_.far_ns();
}

/// Whether colors wait at a worker that sleeps, which nobody has called for them (left-to-poster).
bool lifecycle::any_left_asleep() const noexcept {
  return std::any_of(workers_.begin(), workers_.end(), [this](const auto& each) { return idle_.is_asleep(each->index) && rt_.policy().has_loot(each->index); });
}

/// By the guard, when its alarm has gone off: whether it may go on.
bool lifecycle::is_attended(worker& w) noexcept {
  const auto set = [this](std::uint64_t at_ns) { rt_.clock().set_alarm(at_ns); };
  const std::uint64_t now = rt_.now_ns();
  if (const std::uint64_t at_ns = guard_.still_ahead(now); at_ns != 0) {
    set(at_ns);
    return true;
  }
  const idle_view seen = idle_.latest_view();
  if (seen.awake() == 0) return true;  // readiness wakes the one that polls, which sets the alarm before it takes what is ready
  const std::uint64_t due = guard_due(w, seen.polling() ? now : last_look_ns(w));
  if (due > now + least_nap_ns && !any_left_asleep()) {
    guard_.put_off(due, set);
    return true;
  }
  w.was_missed = true;
  w.events_at_miss = w.events.get();
  return false;
}

/// By a worker that has just woken up, or looked: the guard need not come for a while. Unless something has waited for long, here or elsewhere, or may
/// have because others go first: then the alarm goes off.
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
  }
  w.looked_ns.store(now, std::memory_order_relaxed);
  w.oldest_ns.store(w.turn_pace.oldest_ns(), std::memory_order_relaxed);
  if (!has_slept && w.passes_over) return;
  const auto due = [&]() -> std::uint64_t { return !has_slept && any_left_asleep() ? 0 : guard_due(w, now); };
  guard_.push(now, due, [this](std::uint64_t at_ns) { rt_.clock().set_alarm(at_ns); });
}

/// Calls another worker, if the line here is long. After a sleep only if its turns are dear: a line of others, that a sleep has brought at once, may be
/// served by the time help has come (measured: 64 clients of a page of 1 KB, two workers: 1.14 of the time of a request); but ten clients with turns of
/// 50 us are served from sleep to sleep, and no look ever comes.
void lifecycle::ask_for_help(worker& w, bool has_slept) noexcept {
  if (!guard_.is_on()) return;
  const std::uint64_t turn_ns = w.turn_pace.turn_ns();
  const bool dear = turn_ns >= dear_turn_ns;
  if (has_slept && !dear) return;
  if (rt_.policy().waiting(w.index) * turn_ns < long_line_ns) return;
  if (!rt_.policy().has_loot(w.index)) return;  // all that waits is a pinned color, which nobody else may run
  if (dear) dear_until_.store(rt_.now_ns() + dear_time_ns, std::memory_order_relaxed);
  w.wants_help.store(true, std::memory_order_relaxed);
  if (!wake_another(w, has_slept ? 1 : 0)) help_has_come(w.index);  // all are awake, or one searches already
}

/// By the last searcher, which has found work, and may be busy from here on: while others sleep, one is to be the guard; or, where an edge is worth a
/// wake-up, to wait for it.
void lifecycle::hand_on(worker& w, idle_view seen) noexcept {
  if (seen.polling() || seen.sleeping() == 0 || !watches_outside() || !rt_.policy().shares_polling()) return;
  if (!seen.watching() || all_poll()) static_cast<void>(wake_another(w, 0));
}

/// left-to-poster.
bool lifecycle::leaves_to_poster(worker& from, idle_view seen) noexcept {
  if (!seen.is_watched() || !guard_.is_on()) return false;
  const std::uint64_t turn_ns = from.turn_pace.turn_ns();
  if (!from.posts_readiness && (!from.in_event || turn_ns == 0 || turn_ns >= dear_turn_ns)) return false;
  from.left_behind = true;
  return true;
}

}  // namespace tartan::detail
