/// How a worker searches, sleeps and is woken; docs/design/sleeping.md.

#include <algorithm>
#include <thread>
#include <utility>

#include "core/fork_guard.h"
#include "core/outside_descriptor.h"
#include "core/runtime_state.h"
#include "core/sleep/sleep_control.h"
#include "core/sleep/work_view.h"
#include "core/stall_watch.h"
#include "core/tuning.h"

namespace tartan::detail {

namespace {

worker* this_worker() noexcept { return static_cast<worker*>(here); }

}  // namespace

sleep_control::sleep_control(runtime_state& rt)
    : rt_{rt}, idle_{rt.first_workers(), rt.workers()}, guard_{guard_far_ns(rt.workers())}, control_{rt.first_workers()} {
  for (unsigned n = 0; n < rt.workers(); ++n) workers_.push_back(std::make_unique<worker>(rt, n));
  idle_.pause();
}

sleep_control::~sleep_control() = default;

void sleep_control::begin_search(worker& w) noexcept {
  if (w.searching) return;
  w.searching = true;
  w.spreads = w.calls_for_victim = false;
  idle_.search();
}

void sleep_control::end_search(worker& w) noexcept {
  w.searching = false;
  const idle_view seen = idle_.end_search();
  if (w.spreads) spread(w);
  if (idle::owes_cover(seen)) {
    rt_.work().cover(w);
    hand_on(w, idle_.view());
  }
  // This worker may enter a long event now; a timer must not wait for it.
  const std::uint64_t next = next_timer();
  if (next != never_ns) secure_timer(next, &w);
}

std::uint64_t sleep_control::next_timer() const noexcept {
  const clockwork* const timers = rt_.timers();
  return timers != nullptr ? timers->next_ns() : never_ns;
}

bool sleep_control::look(worker& w) noexcept {
  // Outside first: a test's clock may move until this worker is seen to be awake.
  const bool posted = harvest(w);
  if (w.left_behind) rt_.work().take_over(w);
  attend(w, false);
  ask_for_help(w, false);
  return look_at_timers() || posted;
}

bool sleep_control::watches_outside() const noexcept { return rt_.clock().descriptor() >= 0; }

/// A sleep that finds something at once costs more than a look, and says that nothing has waited.
bool sleep_control::look_before_rest(worker& w) noexcept {
  if (hurried(w) || !rt_.clock().finds_in_sleep() || rt_.clock().may_have_left(w.index)) return look(w);
  return look_at_timers();
}

/// One worker takes little at once: if it got all that, what it leaves outside waits no longer than it would have in
/// the line.
void sleep_control::look_sooner(worker& w) noexcept {
  if (workers_.size() == 1 && rt_.clock().may_have_left(w.index)) w.credits = readiness_source::most_alone;
}

bool sleep_control::harvest(worker& w) noexcept {
  w.posts_readiness = true;
  const bool posted = rt_.clock().harvest(w.index);
  w.posts_readiness = false;
  if (posted) look_sooner(w);
  // Nobody sleeps there: it was called, and got up before it heard that.
  if (rt_.clock().saw_call(w.index) && idle_.start_polling(w.index)) {
    rt_.clock().forget_call();
    idle_.end_polling();
    if (!w.searching) hand_on(w, idle_.view());  // the last searcher may have taken that bit for a sleeper's
  }
  return posted;
}

bool sleep_control::look_at_timers() noexcept {
  bool posted = false;
  if (clockwork* const timers = rt_.timers(); timers != nullptr && timers->next_ns() != never_ns) {
    const std::uint64_t now = rt_.now_ns();
    if (timers->next_ns() < now) posted = timers->expire(now) || posted;
  }
  return posted;
}

bool sleep_control::limit_passed() noexcept {
  if (control_.limit_ns != never_ns && rt_.now_ns() >= control_.limit_ns) return true;
  return control_.turns_left == 0 || control_.turns_left-- == 0;
}

void sleep_control::rest(worker& w, polling how) noexcept {
  if (w.index == 0 && control_.goal.load(std::memory_order_relaxed) == run_control::until::nothing_ready) {
    control_.run.end();
    return;
  }
  if (guard_.is_on()) w.turn_pace.note(rt_.now_ns(), w.whole_turns());
  w.wants_help.store(0, std::memory_order_relaxed);
  w.spreads = w.calls_for_victim = false;
  const std::uint64_t this_run = control_.run.now();
  idle_.set_wake_at(w.index, never_ns);
  w.deferred_deadline = never_ns;
  w.beside = w.beside && leaving(w);
  w.how_it_polls.store(how, std::memory_order_relaxed);  // known-bed: ordered by the token
  // A watcher says so before it rests: posters would wake it while it passes the barrier, which takes 10 us in a
  // virtual machine.
  if (rt_.work().sources(w) == work_seen::declined) w.watch_left = watch_rests;
  bool watch = take_bed(w, how);
  const idle_view last = idle_.rest(w.index, w.rests_in);
  if (idle_.view().paused()) {  // after the token was stored: pause() sees the token, or we see it paused
    const std::lock_guard hold{paused_lock_};
    paused_.notify_all();
  }
  std::uint64_t until_ns = never_ns;
  if (!leaving(w)) {
    const work_seen seen = rt_.work().sources(w);
    until_ns = sleep_until(w);
    const bool is_aside = how != polling::never && rt_.clock().has_aside();  // a poller that has left took it
    if (seen == work_seen::found || is_aside || is_in_wrong_bed(w, how, last) || (until_ns != never_ns && until_ns <= rt_.now_ns())) {
      if (watch) end_watch(w);
      w.polls_next = last.awake() == 0 && !last.polling();
      get_up(w);  // it need not sleep
      return attend(w, true);  // the guard may have seen this one asleep
    }
    if (seen == work_seen::none) finish_if_quiescent(this_run);
    w.watch_left = seen == work_seen::declined ? watch_rests : w.watch_left - (w.watch_left != 0);
    // Another one's watch may have ended before this one rested: then it has looked after that, or it is taken over
    // here.
    watch = watch || (may_watch(w) && idle_.start_watch());
  } else if (w.index == 0 || !control_.leave.load(std::memory_order_acquire)) {
    if (watch) end_watch(w);
    get_up(w);  // its run is over; or it is too many, and may be wanted again before it sleeps, with nothing looked at
    return attend(w, true);
  }
  sleep(w, until_ns, watch);
}

/// The end of a rest, whatever has ended it.
void sleep_control::get_up(worker& w) noexcept {
  (void)idle_.cancel(w.index);
  leave_bed(w);
  if (stalls_ != nullptr) stalls_->notice_awake();  // the watch may have seen this one asleep
}

/// Asleep, with everything looked at.
void sleep_control::sleep(worker& w, std::uint64_t until_ns, bool watch) noexcept {
  sleep_limit limit{until_ns, watch ? watch_again_ns(w, never_ns) : never_ns};
  w.sleeps.add();
  auto& token = idle_.token_of(w.index);
  for (;;) {
    if (control_.terminate.load(std::memory_order_acquire) || (w.index == 0 && leaving(w))) break;
    if (control_.is_too_many(w) && !idle_.view().paused()) break;
    if (w.index != 0 && control_.signals_asked.load(std::memory_order_acquire) != w.signals_blocked.load(std::memory_order_relaxed)) break;
    const slept ended = rt_.clock().sleep(w.index, token, limit);
    if (ended == slept::ready) break;
    // acquire: pairs with the waker's claim
    if (token.load(std::memory_order_acquire) != token_asleep) break;
    if (watch && !idle_.view().paused() && (ended != slept::alarm || is_attended(w)) && watches_on(w, until_ns)) {
      limit.at_most_ns = watch_again_ns(w, limit.at_most_ns);
      continue;
    }
    if (!idle_.view().paused()) break;
    // Nobody's time runs out while the runtime is paused; but then nobody may count on this worker either. The guard
    // keeps its place, from which the next run calls it.
    limit = {};
    idle_.set_wake_at(w.index, never_ns);
    if (w.rests_in != bed::guard && std::exchange(watch, false)) idle_.end_watch();
    real_memory::full_barrier();
    if (!idle_.view().paused()) break;
  }
  if (watch) end_watch(w);
  const bed slept_in = w.rests_in;
  get_up(w);
  idle_.set_wake_at(w.index, never_ns);
  if (leaving(w)) {
    if (!idle_.view().paused()) attend(w, true);  // it may have polled, and its hook may take long
    return set_aside(w);
  }
  attend(w, true);
  if (slept_in == bed::source) {  // its-policy-polls
    w.was_missed = false;  // it has something to run now, or another one has looked
    w.posts_readiness = true;
    rt_.clock().deliver(w.index);
    w.posts_readiness = false;
    ask_for_help(w, true);
  }
  w.searches.has_slept(rt_.now_ns());
  w.credits = events_between_looks;
  look_sooner(w);
}

/// A watcher whose patience has ended: whether it sleeps on. All others go on to see it asleep, so it owes nobody a
/// barrier; getting up to look would cost it a search and two, each of which stops the other workers for a moment.
bool sleep_control::watches_on(worker& w, std::uint64_t until_ns) noexcept {
  if (until_ns != never_ns && until_ns <= rt_.now_ns()) return false;
  switch (rt_.work().watch_others(w)) {
    case work_seen::none: w.watch_left -= w.watch_left != 0; return w.rests_in == bed::guard || w.watch_left != 0;
    case work_seen::declined: w.watch_left = watch_rests; return true;
    case work_seen::found: return false;
  }
  return false;
}

/// A watcher's next sleep: at first short, then twice as long each time. A guard that has declined nothing has its alarm.
std::uint64_t sleep_control::watch_again_ns(const worker& w, std::uint64_t last_ns) noexcept {
  if (w.rests_in == bed::guard && w.watch_left == 0) return never_ns;
  return last_ns == never_ns ? rt_.work().first_watch_ns() : std::min(2 * last_ns, longest_watch_ns(size()));
}

/// Nobody may post now: what this worker has taken is for the next run. It takes no more, so that the embedding program
/// sees the rest.
void sleep_control::set_aside(worker& w) noexcept {
  if (!rt_.clock().set_aside(w.index)) return;
  w.beside = w.index != 0;
  // acquire: pairs with descriptor()
  if (outside_descriptor* const outside = outside_open_.load(std::memory_order_acquire)) outside->signal();
}

/// Those that chose their beds when there was nothing outside, or for a pause, lie down again, unless their policy wants them there.
void sleep_control::seat_sleepers() noexcept {
  real_memory::full_barrier();  // known-bed: pairs with the barrier of rest
  for (unsigned n = 0; n < workers_.size(); ++n) {
    // relaxed: known-bed: ordered by the token
    const polling how = workers_[n]->how_it_polls.load(std::memory_order_relaxed);
    if (how == polling::never || !idle_.is_asleep(n)) continue;
    const bool has_paused = how == polling::always && idle_.bed_of(n) != bed::source;  // it slept elsewhere for that time
    if (has_paused || !rt_.clock().is_seated(n)) wake(n, nullptr);
  }
}

/// When this sleeper has to be awake by itself: for the next timer, unless another sleeper will be; for run_for's end.
std::uint64_t sleep_control::sleep_until(const worker& w) noexcept {
  std::uint64_t until_ns = w.index == 0 && control_.limited ? control_.limit_ns : never_ns;
  const std::uint64_t next = next_timer();
  if (next != never_ns && next + 1 < until_ns && idle_.earliest_wake(w.index) > next + 1) until_ns = next + 1;
  idle_.set_wake_at(w.index, until_ns);
  return until_ns;
}

/// Whether nothing is left: asked by a worker that has just registered as asleep and found nothing.
bool sleep_control::quiescent() noexcept {
  if (control_.goal.load(std::memory_order_acquire) != run_control::until::idle) return false;
  const idle_view before = idle_.view_and_fence();
  if (before.awake() != 0) return false;
  if (!nothing_left()) return false;
  // Nobody woke meanwhile; that somebody has begun to watch, or ended it, asleep, is no matter.
  return ((idle_.fence_and_view().word ^ before.word) & ~(idle_view::watching_bit | idle_view::polling_bit)) == 0;
}

/// A worker that came late, with the number of the last run, asks again for the one that has begun since: nobody else
/// may.
void sleep_control::finish_if_quiescent(std::uint64_t this_run) noexcept {
  while (quiescent()) {
    if (control_.run.end(this_run)) {  // own-run
      real_memory::full_barrier();  // covered: as in stop()
      return static_cast<void>(wake(0, nullptr));
    }
    if ((this_run & run_word<real_memory>::finished) != 0) return;
  }
}

void sleep_control::reconsider() noexcept {
  if (control_.goal.load(std::memory_order_acquire) == run_control::until::idle) static_cast<void>(wake(0, nullptr));
}

bool sleep_control::wake_any(worker* from) noexcept {
  const unsigned claimed = idle_.claim_any();
  if (claimed == idle::nobody) return false;
  rt_.clock().wake(claimed, idle_.token_of(claimed));
  if (from != nullptr) from->wakes.add();
  return true;
}

bool sleep_control::wake_another(worker& from, unsigned searchers) noexcept {
  const unsigned claimed = idle_.claim_any(searchers);
  if (claimed == idle::nobody) return false;
  rt_.clock().wake(claimed, idle_.token_of(claimed));
  from.wakes.add();
  return true;
}

bool sleep_control::wake(unsigned index, worker* from) noexcept {
  if (!idle_.claim(index)) return false;
  rt_.clock().wake(index, idle_.token_of(index));
  if (from != nullptr) from->wakes.add();
  return true;
}

void sleep_control::posted_outside(idle_view seen) noexcept {
  if (seen.forked()) used_after_fork();
  // acquire: pairs with descriptor()
  if (outside_descriptor* const outside = outside_open_.load(std::memory_order_acquire)) outside->signal();
}

void sleep_control::timer_set(std::uint64_t deadline_ns, bool own_color) noexcept {
  worker* const w = this_worker();
  const bool on_worker = w != nullptr && w->owner == &rt_;
  if (on_worker && own_color && w->in_event) {
    w->deferred_deadline = std::min(w->deferred_deadline, deadline_ns);
    return;
  }
  secure_timer(deadline_ns, on_worker ? w : nullptr);
}

void sleep_control::publish_deferred(worker& w) noexcept {
  const std::uint64_t deadline = std::exchange(w.deferred_deadline, never_ns);
  if (deadline != never_ns) secure_timer(deadline, &w);
}

/// Makes sure that a worker will be awake for a timer in time, if one sleeps now.
void sleep_control::secure_timer(std::uint64_t deadline_ns, worker* from) noexcept {
  const idle_view seen = from != nullptr ? idle_.view_by_worker() : idle_.view_after_publish();
  if (seen.quiet()) return;
  if (seen.paused() || seen.forked()) {
    posted_outside(seen);
    return;
  }
  if (seen.searching() != 0) return;  // looks at the timers before it sleeps
  const std::uint64_t in_time = deadline_ns > never_ns - timer_slack_ns ? never_ns : deadline_ns + timer_slack_ns;
  if (in_time < idle_.earliest_wake(from != nullptr ? from->index : idle::nobody)) wake_any(from);
}

}  // namespace tartan::detail
