#include "core/sched/default_thief.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/clock.h"
#include "core/tuning.h"

namespace tartan::detail {

default_thief::default_thief(default_state& shared, default_poster& poster, peer_view& peers)
    : default_part{shared},
      poster_{poster},
      peers_{peers},
      most_searchers_{std::max(2u, (shared.rt.settings().follow_cpus ? shared.workers : std::min(shared.workers, shared.rt.cpus().count())) / 2)},
      notes_(shared.workers) {}

bool default_thief::search(worker& w) {
  if (workers_ == 1) return life_.look_before_rest(w);
  home& h = homes_[w.index];
  const std::uint64_t begin = real_now_ns();
  const bool hurried = life_.hurried(w);
  if (w.left_behind) take_over(w);
  notes& seen = notes_[w.index];
  seen.judge_loot(begin);
  std::uint64_t looks_at_ns = begin;
  for (std::uint64_t now = begin; now - begin < (hurried ? 1 : w.searches.now_ns()); now = real_now_ns()) {
    // Nobody is left who could make work, but for the outside, which ends a sleep as soon as a search: a server with little to do
    // would spend 50 us on each request.
    const bool last = life_.watches_outside() && life_.sleepers().view().awake() == 1;
    if (life_.leaving(w) || (last ? life_.look_before_rest(w) : life_.look(w)) || h.has_work()) return w.searches.found(), true;
    if (stealing_ && now >= looks_at_ns) {
      if (visit_others(w, now)) return w.searches.found(), true;
      looks_at_ns = now + steal_look_period_ns;
    }
    if (last) return false;
    if (life_.sleepers().view().searching() > most_searchers_) return false;  // enough others look
    for (int n = 0; n < steal_pauses_per_look; ++n) real_memory::relax();
  }
  w.searches.in_vain(begin);
  return false;
}

/// Takes what this worker has posted to colors of sleeping workers without calling any of them.
void default_thief::take_over(worker& w) noexcept {
  w.left_behind = false;
  for (const unsigned other : peers_.order(w.index)) {
    if (life_.sleepers().is_asleep(other) && homes_[other].has_loot()) static_cast<void>(steal_from(w, other, steal_most_colors));
  }
}

/// The end of a run says nothing about stolen colors that are still waiting.
void default_thief::leave(const worker& w) noexcept {
  notes& seen = notes_[w.index];
  if (seen.stole_at_ns == 0) return;
  if (homes_[w.index].has_work()) seen.took_at_once = true;
  seen.judge_loot(real_now_ns());
}

/// Stolen colors that ran in no time did not pay, whatever was expected of them: a victim gets slower by a steal, and so looks
/// worth another one (W7). The thief then keeps off for a while, never so long that anything would wait for 1 ms.
void default_thief::notes::judge_loot(std::uint64_t now_ns) noexcept {
  if (stole_at_ns == 0) return;
  const std::uint64_t took_ns = now_ns - stole_at_ns;
  stole_at_ns = 0;
  figures.stolen_run_ns += took_ns;
  if (took_at_once) return;
  keeps_off_ns = took_ns >= steal_least_paid_ns ? 0 : std::clamp<std::uint64_t>(2 * keeps_off_ns, steal_shortest_rest_ns, steal_longest_rest_ns);
  keeps_off_until_ns = now_ns + keeps_off_ns;
}

/// The thief waits until it is inside the victim's lock, and its barrier stops the victim for as long. A victim that answers is not
/// stopped, and so says nothing about the price. Each steal counts for an eighth: one in which this thread was preempted must not
/// keep it off.
void default_thief::notes::learn_price(std::uint64_t entering_ns) noexcept {
  const std::uint64_t price = std::clamp(2 * entering_ns, steal_lowest_price_ns, steal_highest_price_ns);
  price_ns += price / steal_mean_of_prices - price_ns / steal_mean_of_prices;
}

/// One look at each other worker. True: something was stolen.
bool default_thief::visit_others(worker& w, std::uint64_t now_ns) noexcept {
  notes& seen = notes_[w.index];
  for (const unsigned victim : peers_.order(w.index)) {
    const home& v = homes_[victim];
    const bool called = life_.wants_help(victim);
    const bool in_need = called || life_.sleepers().is_asleep(victim) || life_.sleepers().is_gone(victim) || life_.hurried(w);
    // What a victim has waiting it writes in every turn: no look before anything can come of it.
    const glance& last = peers_.of(w.index, victim);
    const bool too_early = now_ns < last.since_ns + (last.suspected ? steal_recount_ns : steal_count_ns);
    if (!in_need && too_early && v.told_ns.load(std::memory_order_relaxed) == 0) continue;
    const bool has_work = v.has_loot();
    const bool at_once = has_work && in_need;
    const std::uint64_t last_turns = last.turns;
    const bool watched_long = now_ns - last.since_ns >= steal_long_turn_ns;
    const std::size_t worth = worth_taking(w, victim, now_ns);
    if (!has_work || (!at_once && (now_ns < seen.keeps_off_until_ns || worth == 0))) continue;
    if (!steal_from(w, victim, at_once ? steal_most_colors : worth)) {
      w.searches.was_refused();
      continue;
    }
    if (called && life_.help_has_come(w, victim)) {
      while (v.has_loot() && steal_from(w, victim, steal_most_colors)) {  // the last one that was called takes the rest, half by half
      }
    }
    const bool is_stuck = !at_once && watched_long && life_.at(victim).turns.get() == last_turns;
    w.spreads = w.spreads || is_stuck;
    if (is_stuck && v.has_loot()) life_.call_for(victim, w);  // its other half
    seen.stole_at_ns = real_now_ns();
    seen.took_at_once = at_once;
    return true;
  }
  return false;
}

/// Mely's time-left rule, measured: backlog x time per turn against the price of a steal. Colors that are stuck behind a long event
/// are worth taking as well. Returns how many colors to take at most; a thief takes no more than half.
std::size_t default_thief::worth_taking(const worker& w, unsigned victim, std::uint64_t now_ns) noexcept {
  notes& own = notes_[w.index];
  const glance& seen = peers_.of(w.index, victim);
  const std::uint64_t turns = life_.at(victim).turns.get();
  const std::size_t waiting = homes_[victim].runnable() + (homes_[victim].posted.empty() ? 0 : 1);
  const std::uint64_t watched_ns = now_ns - seen.since_ns;
  const std::uint64_t made = turns - seen.turns;
  own.figures.longest_queue = std::max<std::uint64_t>(own.figures.longest_queue, waiting);
  // One that has nothing waiting, or nobody has looked at for long: what it did says nothing about what it does next.
  if (waiting == 0 || watched_ns > steal_stale_count_ns) {
    peers_.look_again(w.index, victim, now_ns);
    return 0;
  }
  // Where the programmer has told what events cost, nothing has to be watched.
  const std::uint64_t told_ns = homes_[victim].told_ns.load(std::memory_order_relaxed);
  if (told_ns >= own.price_ns && told_ns >= waiting * steal_color_price_ns) return steal_most_colors;
  if (made == 0) return watched_ns >= steal_long_turn_ns ? steal_most_colors : 0;
  if (watched_ns < (seen.suspected ? steal_recount_ns : steal_count_ns)) return 0;
  const std::uint64_t turn_ns = watched_ns / made;
  // Where most turns make a color runnable, their own or another one, there are as many afterwards: a color that is taken brings its
  // later turns along, as many as it had while it was watched, and pays any price in time. Not if the only one that waits is taken:
  // it may be the next step of what runs now.
  const bool lasts = waiting > 1 && 2 * (life_.at(victim).follow_ups.get() - seen.follow_ups) >= made;
  const std::uint64_t brings_ns = lasts ? std::max(turn_ns, watched_ns / waiting) : turn_ns;
  const bool pays = brings_ns >= steal_color_price_ns && (lasts || waiting * turn_ns >= own.price_ns);
  const bool foretells = seen.suspected || made >= waiting || watched_ns >= steal_forecast_count_ns;
  const bool too_long = foretells && waiting * turn_ns >= steal_longest_wait_ns;
  if ((pays || too_long) && (seen.suspected || turn_ns >= steal_short_turn_ns)) {
    // Cheap or not, nobody waits for longer than that while there is an idle worker (contract 7); but what is cheap is better left.
    return pays ? steal_most_colors : waiting - steal_left_wait_ns / turn_ns;
  }
  peers_.look_again(w.index, victim, now_ns);  // declined: from here on anew, also if this worker sleeps meanwhile
  peers_.suspect(w.index, victim, pays || too_long);
  return 0;
}

/// By a watcher whose time is up, still asleep for all others: whether anything is worth getting up for.
work_seen default_thief::watch_others(const worker& w) noexcept {
  if (!stealing_ || homes_[w.index].has_work()) return work_seen::found;
  work_seen seen = work_seen::none;
  const notes& own = notes_[w.index];
  for (const unsigned n : peers_.order(w.index)) {
    const std::uint64_t now = now_();
    const bool pays = worth_taking(w, n, now) != 0 && now >= own.keeps_off_until_ns;  // counted anew also while it keeps off
    if (!homes_[n].has_loot()) continue;
    if (pays || life_.sleepers().is_asleep(n)) return work_seen::found;
    seen = work_seen::declined;
  }
  if (now_() < own.keeps_off_until_ns) return seen;
  return watch_closely(w, steal_recount_ns) || watch_closely(w, steal_long_turn_ns) ? work_seen::found : seen;
}

/// Watches all suspected victims at once, until each was watched for so long. True: a victim is worth a steal, or this worker was
/// called.
bool default_thief::watch_closely(const worker& w, std::uint64_t for_ns) noexcept {
  const std::vector<unsigned>& order = peers_.order(w.index);
  std::uint64_t until_ns = 0;
  for (const unsigned n : order) {
    const glance& seen = peers_.of(w.index, n);
    if (seen.suspected) until_ns = std::max(until_ns, seen.since_ns + for_ns);
  }
  if (until_ns == 0) return false;
  while (now_() < until_ns) {
    if (life_.sleepers().is_claimed(w.index)) return true;
    for (int n = 0; n < steal_pauses_per_look; ++n) real_memory::relax();
  }
  return std::any_of(order.begin(), order.end(),
                     [&](unsigned n) { return peers_.of(w.index, n).suspected && worth_taking(w, n, now_()) != 0; });
}

/// Whether the victim will soon notice a thief by itself, because its turns are short. A victim in a long event, or asleep, does
/// not.
bool default_thief::may_answer(const worker& w, unsigned victim, std::uint64_t now_ns) const noexcept {
  const glance& seen = peers_.of(w.index, victim);
  const std::uint64_t made = life_.at(victim).turns.get() - seen.turns;
  return made != 0 && (now_ns - seen.since_ns) / made <= steal_longest_answer_ns && !life_.sleepers().is_asleep(victim);
}

bool default_thief::steal_from(worker& w, unsigned victim, std::size_t most) noexcept {
  std::array<color_queue*, steal_most_colors> slots;
  const std::span room{slots.data(), std::min(most, steal_most_colors)};
  notes& own = notes_[w.index];
  const bool is_awake = !life_.sleepers().is_asleep(victim);
  const std::uint64_t begin = real_now_ns();
  const bool asks = may_answer(w, victim, begin);
  std::uint64_t entered = begin;
  const home::robbed got = homes_[victim].rob(w.index, room, [&entered]() noexcept { entered = real_now_ns(); }, asks);
  if (got.entry != thief_entry::refused) {
    peers_.suspect(w.index, victim, false);  // it was of what has now been taken
    // The time of an answer says nothing about a membarrier; if nobody answered, only this worker lost time.
    if (is_awake && !asks) own.learn_price(entered - begin);
    own.figures.answered += got.entry == thief_entry::answered ? 1 : 0;
    own.figures.lock_wait_ns += entered - begin;
    own.figures.lock_held_ns += real_now_ns() - entered;
  }
  if (got.strays != nullptr) poster_.forward(got.strays);
  // The victim may have looked while the thief had the pinned color queue in hand, and be asleep now (covered).
  if (got.pinned) poster_.after_link(victim, true, &w);
  if (got.count == 0) {
    own.figures.vain_visits += got.entry != thief_entry::refused ? 1 : 0;
    return false;
  }
  homes_[w.index].receive(room.first(got.count));
  own.figures.steal_ns += real_now_ns() - begin;
  w.steals.add();
  w.stolen_colors.add(got.count);
  return true;
}

/// Threads: no worker runs. Owners take their own locks without a clock, so the figures of locks are the thieves' time.
scheduler_figures default_thief::figures() const noexcept {
  scheduler_figures sum{.counted = true};
  for (const notes& each : notes_) {
    sum.lock_wait_ns += each.figures.lock_wait_ns;
    sum.lock_held_ns += each.figures.lock_held_ns;
    sum.steal_ns += each.figures.steal_ns;
    sum.vain_visits += each.figures.vain_visits;
    sum.answered += each.figures.answered;
    sum.stolen_run_ns += each.figures.stolen_run_ns;
    sum.longest_queue = std::max(sum.longest_queue, each.figures.longest_queue);
  }
  for (unsigned n = 0; n < workers_; ++n) sum.steals += life_.at(n).steals.get();
  return sum;
}

/// The last searcher found work. Is there more, for which another worker should come?
void default_thief::cover(worker& w) noexcept {
  if (!stealing_) return wake_owners();
  bool some = false;
  for (unsigned n = 0; n < workers_; ++n) {
    const home& h = homes_[n];
    some = some || h.has_loot();
  }
  if (some && !life_.sleepers().view().watching()) life_.wake_any(&w);
}

/// Without stealing, each worker has to run its own: what came while nobody ran woke nobody.
void default_thief::wake_owners() noexcept {
  for (unsigned n = 0; n < workers_; ++n) {
    if (homes_[n].has_work()) life_.summon(n, nullptr);
  }
}

work_seen default_thief::sources(const worker& w) noexcept {
  work_seen seen = work_seen::none;
  if (homes_[w.index].has_work()) return work_seen::found;
  if (!stealing_) {
    if (!life_.sleepers().view().paused()) wake_owners();  // in a pause all are to sleep; the next run's first worker wakes them
    return work_seen::none;
  }
  for (unsigned n = 0; n < workers_; ++n) {
    const home& h = homes_[n];
    if (!h.has_loot()) continue;
    if (life_.sleepers().is_asleep(n) || life_.sleepers().is_gone(n)) return work_seen::found;
    seen = work_seen::declined;
  }
  return seen;
}

}  // namespace tartan::detail
