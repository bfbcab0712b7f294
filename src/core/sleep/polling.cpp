/// Who sees to what becomes ready: the workers that run, one that sleeps there when none does, and the guard; docs/design/sleeping.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

#include "core/runtime_state.h"
#include "core/sleep/sleep_control.h"
#include "core/sleep/work_view.h"
#include "core/tuning.h"

namespace tartan::detail {

/// Whether what becomes ready is worth a wake-up of its own.
bool sleep_control::all_poll() noexcept {
  const std::uint64_t until_ns = dear_until_.load(std::memory_order_relaxed);  // a hint
  return until_ns != 0 && until_ns > rt_.now_ns();
}

/// one-polls: while anybody is awake, readiness is looked at by those, so that no edge wakes a worker for what another one would have found in a moment.
bed sleep_control::choose_bed(worker& w, polling how) noexcept {
  // Two that have seen so at the same time would see each other awake now, and again in the next rest, as long as they keep in step.
  const bool polls = std::exchange(w.polls_next, false);
  // In a pause, what becomes ready shows at the embedding descriptor.
  if (how == polling::never || !rt_.clock().has_source() || w.beside || leaving(w)) return bed::token;
  if (how == polling::always) {
    while (!idle_.start_polling(w.index)) std::this_thread::yield();  // another one forgets a call, and has no other reason to hold it
    return bed::source;
  }
  const idle_view seen = idle_.view();
  // It was needed as guard, and has had nothing to do since: the others are in long events.
  const bool is_missed = w.was_missed && w.events_at_miss == w.events.get();
  const bool may_poll = polls || seen.awake() <= 1 || is_missed || all_poll();
  if (may_poll && !seen.polling() && idle_.start_polling(w.index)) return bed::source;
  return idle_.workers() > 1 && idle_.start_watch() ? bed::guard : bed::token;
}

/// Before a rest. Gives whether this worker is the one that watches.
bool sleep_control::take_bed(worker& w, polling how) noexcept {
  w.rests_in = choose_bed(w, how);
  rt_.clock().approach(w.index, w.rests_in);
  if (w.rests_in == bed::guard) {
    // attended: from now on the alarm is set, or a worker that was to set it has looked later.
    guard_.begin(rt_.now_ns(), [this](std::uint64_t at_ns) { rt_.clock().set_alarm(at_ns); });
    return true;
  }
  return may_watch(w) && idle_.start_watch();
}

/// Whether a worker that is not the guard watches what it has declined. Where there is readiness to be attended to, the guard does, and the worker
/// that polls, which may lie there without a guard.
bool sleep_control::may_watch(const worker& w) const noexcept {
  if (w.watch_left == 0 || w.rests_in == bed::guard) return false;
  return w.rests_in == bed::source || !watches_outside();
}

/// Asked by a worker that has said that it sleeps: something to wait for was plugged in since it chose its bed; or it is the last one, and nobody
/// polls; or others run, and the guard on which it counted has got up since. That one hands on to nobody: this worker was counted as searching.
bool sleep_control::is_in_wrong_bed(const worker& w, polling how, idle_view last) const noexcept {
  if (how == polling::never) return false;
  if (!rt_.clock().is_seated(w.index)) return true;
  if (how != polling::shared || w.rests_in == bed::source || !rt_.clock().has_source()) return false;
  if (last.awake() == 0) return !last.polling();
  return w.rests_in == bed::token && !last.watching();  // whether one polls says nothing: a look takes that bit for a moment
}

void sleep_control::leave_bed(worker& w) noexcept {
  if (w.rests_in == bed::source) idle_.end_polling();
  w.rests_in = bed::token;
}

void sleep_control::end_watch(const worker& w) noexcept {
  if (w.rests_in == bed::guard) guard_.end();
  idle_.end_watch();
}

/// When somebody has looked at what is ready for the last time, as far as that is noted.
std::uint64_t sleep_control::last_look_ns(const worker& guard) const noexcept {
  std::uint64_t last = guard_.begun_ns();
  for (const auto& each : workers_) {
    if (each->index != guard.index && !idle_.is_asleep(each->index)) last = std::max(last, each->looked_ns.load(std::memory_order_relaxed));
  }
  return last;
}

/// By when the guard is needed: nobody has looked, or what waits behind an event has waited for long.
std::uint64_t sleep_control::guard_due(const worker& by, std::uint64_t looked_ns) const noexcept {
  std::uint64_t oldest = looked_ns;
  for (const auto& each : workers_) {
    const unsigned n = each->index;
    if (n != by.index && (idle_.is_asleep(n) || !rt_.work().has_loot(n))) continue;
    if (n == by.index && rt_.work().waiting(n) == 0) continue;
    oldest = std::min(oldest, std::max(each->oldest_ns.load(std::memory_order_relaxed), guard_.begun_ns()));
  }
  return oldest + guard_.far_ns();
}

/// Whether colors wait at a worker that sleeps, which nobody has called for them (left-to-poster).
bool sleep_control::any_left_asleep() const noexcept {
  return std::any_of(workers_.begin(), workers_.end(), [this](const auto& each) { return idle_.is_asleep(each->index) && rt_.work().has_loot(each->index); });
}

/// By the guard, when its alarm has gone off: whether it may go on.
bool sleep_control::is_attended(worker& w) noexcept {
  const auto set = [this](std::uint64_t at_ns) { rt_.clock().set_alarm(at_ns); };
  const std::uint64_t now = rt_.now_ns();
  if (const std::uint64_t at_ns = guard_.still_ahead(now); at_ns != 0) {
    set(at_ns);
    return true;
  }
  const idle_view seen = idle_.latest_view();
  if (seen.awake() == 0) return true;  // readiness wakes the one that polls, which sets the alarm before it takes what is ready
  const std::uint64_t due = guard_due(w, seen.polling() ? now : last_look_ns(w));
  if (due > now + guard_least_nap_ns && !any_left_asleep()) {
    guard_.put_off(due, set);
    return true;
  }
  w.was_missed = w.spreads = true;
  w.events_at_miss = w.events.get();
  return false;
}

/// By a worker that has just woken up, or looked: the guard need not come for a while. Unless something has waited for long, here or elsewhere, or may
/// have because others go first: then the alarm goes off.
void sleep_control::attend(worker& w, bool has_slept) noexcept {
  if (!guard_.is_on()) return w.turn_pace.forget();
  const std::uint64_t now = rt_.now_ns();
  const std::uint64_t turns = w.whole_turns();
  if (has_slept) {
    w.turn_pace.begin(now, turns);
    w.turn_pace.begin_tour(now, turns);
  } else {
    w.turn_pace.note(now, turns);
    w.turn_pace.look(now, turns, rt_.work().waiting(w.index));
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
void sleep_control::ask_for_help(worker& w, bool has_slept) noexcept {
  if (!guard_.is_on()) return;
  const std::uint64_t turn_ns = w.turn_pace.turn_ns();
  const bool dear = turn_ns >= dear_turn_ns;
  if (has_slept && !dear) return;
  if (rt_.work().waiting(w.index) * turn_ns < help_long_line_ns) return;
  if (!rt_.work().has_loot(w.index)) return;  // all that waits is a pinned color, which nobody else may run
  if (dear) dear_until_.store(rt_.now_ns() + dear_time_ns, std::memory_order_relaxed);
  w.wants_help.store(1, std::memory_order_relaxed);
  if (!wake_another(w, has_slept ? 1 : 0)) w.wants_help.store(0, std::memory_order_relaxed);  // all are awake, or one searches already
}

/// By a worker that has taken part of a line.
bool sleep_control::help_has_come(worker& helper, unsigned index) noexcept {
  auto& calls = workers_[index]->wants_help;
  const std::uint32_t before = calls.load(std::memory_order_relaxed);
  helper.spreads = helper.spreads || (before & spreading) != 0;
  const bool more = (before & ~spreading) > 1;
  calls.store(more ? before - 1 : 0, std::memory_order_relaxed);
  return (before & spreading) != 0 && !more;
}

/// How many the workers have, as far as is known.
unsigned sleep_control::usable_cpus_now() const noexcept {
  const unsigned known = rt_.settings().follow_cpus ? wanted() : rt_.cpus().count();
  return known != 0 ? known : size();
}

/// A tree of wake-ups: a worker that has found what waits behind long events, and may be in one itself from here on, wakes two others for what it has not
/// taken to run, and each of these does the same. A chain, each of whose links takes 17 to 33 us, would be longer than 1 ms from some 30 workers on.
///
/// Not beyond the number of CPUs: there a worker that makes no turn has mostly lost its CPU, and one more that is awake takes another one's (measured:
/// W14 with 8 workers on 2 CPUs took four times the CPU time). Then workers are woken one at a time.
void sleep_control::spread(worker& w) noexcept {
  const idle_view seen = idle_.view();
  if (seen.sleeping() == 0 || seen.awake() >= usable_cpus_now()) return;
  if (std::exchange(w.calls_for_victim, false)) static_cast<void>(wake_another(w, idle_.workers()));
  const std::size_t waiting = rt_.work().has_loot(w.index) ? rt_.work().waiting(w.index) : 0;
  const auto wanted = static_cast<std::uint32_t>(std::min<std::size_t>(waiting, woken_at_once));
  if (wanted == 0) return;
  w.wants_help.store(spreading | wanted, std::memory_order_relaxed);
  for (std::uint32_t n = 0; n < wanted; ++n) {
    if (wake_another(w, idle_.workers())) continue;
    return w.wants_help.store(n == 0 ? 0 : spreading | n, std::memory_order_relaxed);
  }
}

/// By the last searcher, which has found work, and may be busy from here on: while others sleep, one is to be the guard; or, where an edge is worth a
/// wake-up, to wait for it.
void sleep_control::hand_on(worker& w, idle_view seen) noexcept {
  if (seen.polling() || seen.sleeping() == 0 || !watches_outside() || !rt_.work().shares_polling()) return;
  if (!seen.watching() || all_poll()) static_cast<void>(wake_another(w, 0));
}

/// left-to-poster.
bool sleep_control::leaves_to_poster(worker& from, idle_view seen) noexcept {
  if (!seen.is_watched() || !guard_.is_on()) return false;
  const std::uint64_t turn_ns = from.turn_pace.turn_ns();
  if (!from.posts_readiness && (!from.in_event || turn_ns == 0 || turn_ns >= dear_turn_ns)) return false;
  from.left_behind = true;
  return true;
}

}  // namespace tartan::detail
