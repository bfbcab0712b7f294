/// Stealing, by the default scheduler: who steals what from whom, and when it does not.
///
/// Source: Mely, section III: steal only where it pays. There the programmer tells what events cost; here an idle thief, which
/// has nothing better to do, watches the victim's turns.

#include <algorithm>
#include <array>
#include <span>

#include "core/clock.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/core_distance.h"
#include "core/sched/default_policy.h"
#include "core/sleep/wake_times.h"

namespace tartan::detail {

namespace {

/// Between two looks at the others: each takes lines from them that they write to in every turn.
constexpr std::uint64_t look_around_ns = 2'000;
/// Turns are counted for so long before anything is concluded from them: longer than what makes colors usually takes to make them, or its
/// one turn would be taken for the rule.
constexpr std::uint64_t shortest_watch_ns = 40'000;
/// What was counted may have been one long turn, of what made the colors, or a pause: if turns seem short, they are counted once more, for so long.
constexpr std::uint64_t second_watch_ns = 20'000;
constexpr std::uint64_t short_turn_ns = 2'000;
/// And for so long, or for a whole tour, before it is foretold how long the last one in a line will wait.
constexpr std::uint64_t forecast_watch_ns = 200'000;
// Also if one look has just missed that its victim got stuck: two sleeps, each with its timer's slack, its way to a CPU and a close look at another
// victim; and the way up.
static_assert(2 * (longest_watch_ns(2) + kernel_slack_ns + way_to_cpu_ns + long_turn_ns) + rise_ns <= longest_color_wait_ns);
static_assert(2 * (longest_watch_ns(64) + kernel_slack_ns + way_to_cpu_ns + long_turn_ns) + rise_ns + spread_ns(64) <= longest_color_wait_ns);
/// A count that is older says nothing about now.
constexpr std::uint64_t longest_count_ns = 2'000'000;
/// A backlog that the victim alone would not have served by then is shared. With the time between two looks of a watcher (policy.h), the
/// second one that it takes, and its wake-up, that is less than contract 7's 1 ms; so are two such times, where a first look has just missed that a
/// victim got stuck.
constexpr std::uint64_t longest_wait_ns = 400'000;
/// What a steal costs both sides together, until it has been measured: where the victim does not answer, a membarrier (memory.h).
constexpr std::uint64_t first_price_ns = 20'000;
constexpr std::uint64_t lowest_price_ns = 5'000;
constexpr std::uint64_t highest_price_ns = 40'000;
/// So many colors are taken at most: this price is shared by many, and the victim is locked out until they are taken.
/// Of 50 000 short ones half are stolen: 488 at once were 12 % slower (W4).
constexpr std::size_t most_stolen = 2440;
/// What each color costs that moves, in cache lines: its own, its events', and the way back of their memory. Below it the victim
/// is faster alone.
constexpr std::uint64_t color_price_ns = 300;
/// Loot that keeps a thief busy for less has not paid, however cheap the way in: what moving it costs is not in the price.
constexpr std::uint64_t least_paid_ns = 40'000;
/// Who makes a turn in so long is asked to answer.
constexpr std::uint64_t longest_answer_ns = 20'000;
/// How long a worker keeps off after a steal that did not pay; doubled each time.
constexpr std::uint64_t shortest_rest_ns = 100'000;
constexpr std::uint64_t longest_rest_ns = 500'000;

}  // namespace

bool default_policy::search(worker& w) {
  if (workers_ == 1) return life_.look_before_rest(w);
  home& h = homes_[w.index];
  const std::uint64_t begin = real_now_ns();
  if (w.left_behind) take_over(w);
  watch& seen = watches_[w.index];
  seen.judge_loot(begin);
  seen.own.since_ns = 0;
  std::uint64_t looks_at_ns = begin;
  const bool hurried = life_.hurried(w);
  for (std::uint64_t now = begin; now - begin < (hurried ? 1 : w.searches.now_ns()); now = real_now_ns()) {
    // Nobody is left who could make work, but for the outside, which ends a sleep as soon as a search: a server with little to do
    // would spend 50 us on each request.
    const bool last = life_.watches_outside() && life_.sleepers().view().awake() == 1;
    if (life_.leaving(w) || (last ? life_.look_before_rest(w) : life_.look(w)) || h.has_work()) return w.searches.found(), true;
    if (stealing_ && now >= looks_at_ns) {
      if (visit_others(w, now)) return w.searches.found(), true;
      looks_at_ns = now + look_around_ns;
    }
    if (last) return false;
    if (life_.sleepers().view().searching() > most_searchers_) return false;  // enough others look
    for (int n = 0; n < 16; ++n) real_memory::relax();
  }
  w.searches.in_vain(begin);
  return false;
}

/// What it has posted to workers that sleep, and has called none of them for.
void default_policy::take_over(worker& w) noexcept {
  w.left_behind = false;
  for (const unsigned victim : watches_[w.index].victims) {
    if (life_.sleepers().is_asleep(victim) && homes_[victim].has_loot()) static_cast<void>(steal_from(w, victim, most_stolen));
  }
}

/// A run's end says nothing of loot that is still there.
void default_policy::leave(const worker& w) noexcept {
  watch& seen = watches_[w.index];
  if (seen.stole_at_ns == 0) return;
  if (homes_[w.index].has_work()) seen.took_at_once = true;
  seen.judge_loot(real_now_ns());
}

/// Loot that was run in no time did not pay, whatever was expected of it: a victim that is robbed gets slower, and so looks worth
/// robbing (measured: W7). Then this worker keeps off for a while, never so long that anything would wait for 1 ms.
void default_policy::watch::judge_loot(std::uint64_t now_ns) noexcept {
  if (stole_at_ns == 0) return;
  const std::uint64_t took_ns = now_ns - stole_at_ns;
  stole_at_ns = 0;
  figures.stolen_run_ns += took_ns;
  if (took_at_once) return;
  keeps_off_ns = took_ns >= least_paid_ns ? 0 : std::clamp<std::uint64_t>(2 * keeps_off_ns, shortest_rest_ns, longest_rest_ns);
  keeps_off_until_ns = now_ns + keeps_off_ns;
}

/// The thief waits until it is in, and the victim is stopped by its barrier, or waits for it. Who answers is not stopped, and says nothing.
/// Each steal counts for an eighth: one in which this thread was preempted must not keep it off.
void default_policy::watch::learn_price(std::uint64_t entering_ns) noexcept {
  const std::uint64_t price = std::clamp(2 * entering_ns, lowest_price_ns, highest_price_ns);
  price_ns += price / 8 - price_ns / 8;
}

/// Nearest first, by the caches that they share, if workers are bound and so have a place; else one after the other, round.
///
/// Source: Mely, III.A.
void default_policy::set_victims(const std::string& root) {
  const bool bound = rt_.settings().bind_workers && workers_ > 2;
  const std::vector<std::vector<unsigned>> nearest =
      bound ? nearest_first(rt_.cpus().in_turn(workers_), root) : std::vector<std::vector<unsigned>>(workers_);
  for (unsigned n = 0; n < workers_; ++n) {
    watch& own = watches_[n];
    own.price_ns = first_price_ns;
    own.victims = nearest[n];
    for (unsigned on = 1; !bound && on < workers_; ++on) own.victims.push_back((n + on) % workers_);
  }
}

/// One look at each other worker. True: something was stolen.
bool default_policy::visit_others(worker& w, std::uint64_t now_ns) noexcept {
  watch& seen = watches_[w.index];
  for (const unsigned victim : seen.victims) {
    const home& v = homes_[victim];
    const bool called = life_.wants_help(victim);
    const bool in_need = called || life_.sleepers().is_asleep(victim) || life_.sleepers().is_gone(victim) || life_.hurried(w);
    // What a victim has waiting it writes in every turn: no look before anything can come of it.
    const glance& last = seen.others[victim];
    const bool too_early = now_ns < last.since_ns + (last.suspected ? second_watch_ns : shortest_watch_ns);
    if (!in_need && too_early && v.told_ns.load(std::memory_order_relaxed) == 0) continue;
    const bool has_work = v.has_loot();
    const bool at_once = has_work && in_need;
    const std::uint64_t last_turns = last.turns;
    const std::size_t worth = worth_taking(seen, victim, now_ns);
    if (!has_work || (!at_once && (now_ns < seen.keeps_off_until_ns || worth == 0))) continue;
    if (!steal_from(w, victim, at_once ? most_stolen : worth)) {
      w.searches.was_refused();
      continue;
    }
    if (called && life_.help_has_come(w, victim)) {
      while (v.has_loot() && steal_from(w, victim, most_stolen)) {  // the last one that was called takes the rest, half by half
      }
    }
    const bool is_stuck = !at_once && life_.at(victim).turns.get() == last_turns;
    w.spreads = w.spreads || is_stuck;
    if (is_stuck && v.has_loot()) life_.call_for(victim, w);  // its other half
    seen.stole_at_ns = real_now_ns();
    seen.took_at_once = at_once;
    return true;
  }
  return false;
}

/// To count from here on what another worker does.
default_policy::glance default_policy::glance_at(unsigned other, std::uint64_t now_ns) const noexcept {
  const worker& of = life_.at(other);
  return {of.turns.get(), now_ns, of.follow_ups.get()};
}

/// Mely's time-left rule, measured: backlog x time per turn against the price of a steal; and whatever is stuck behind a long event. Gives how many
/// colors to take at most, the half of them aside.
std::size_t default_policy::worth_taking(watch& own, unsigned victim, std::uint64_t now_ns) const noexcept {
  glance& seen = own.others[victim];
  const std::uint64_t turns = life_.at(victim).turns.get();
  const std::size_t waiting = homes_[victim].runnable() + (homes_[victim].posted.empty() ? 0 : 1);
  const std::uint64_t watched_ns = now_ns - seen.since_ns;
  const std::uint64_t made = turns - seen.turns;
  own.figures.longest_queue = std::max<std::uint64_t>(own.figures.longest_queue, waiting);
  // One that has nothing waiting, or nobody has looked at for long: what it did says nothing about what it does next.
  if (waiting == 0 || watched_ns > longest_count_ns) {
    seen = glance_at(victim, now_ns);
    return 0;
  }
  // Where the programmer has told what events cost, nothing has to be watched.
  const std::uint64_t told_ns = homes_[victim].told_ns.load(std::memory_order_relaxed);
  if (told_ns >= own.price_ns && told_ns >= waiting * color_price_ns) return most_stolen;
  if (made == 0) return watched_ns >= long_turn_ns ? most_stolen : 0;
  if (watched_ns < (seen.suspected ? second_watch_ns : shortest_watch_ns)) return 0;
  const std::uint64_t turn_ns = watched_ns / made;
  // Where most turns make a color runnable, their own or another one, there are as many afterwards: a color that is taken brings its
  // later turns along, as many as it had while it was watched, and pays any price in time. Not if the only one that waits is taken:
  // it may be the next step of what runs now.
  const bool lasts = waiting > 1 && 2 * (life_.at(victim).follow_ups.get() - seen.follow_ups) >= made;
  const std::uint64_t brings_ns = lasts ? std::max(turn_ns, watched_ns / waiting) : turn_ns;
  const bool pays = brings_ns >= color_price_ns && (lasts || waiting * turn_ns >= own.price_ns);
  const bool foretells = seen.suspected || made >= waiting || watched_ns >= forecast_watch_ns;
  const bool too_long = foretells && waiting * turn_ns >= longest_wait_ns;
  if ((pays || too_long) && (seen.suspected || turn_ns >= short_turn_ns)) {
    // Cheap or not, nobody waits for longer than that while there is an idle worker (contract 7); but what is cheap is better left.
    return pays ? most_stolen : waiting - longest_wait_ns * 3 / 4 / turn_ns;
  }
  seen = glance_at(victim, now_ns);  // declined: from here on anew, also if this worker sleeps meanwhile
  seen.suspected = pays || too_long;
  return 0;
}

/// By a watcher whose time is up, still asleep for all others: whether anything is worth getting up for.
work_seen default_policy::watch_others(const worker& w) noexcept {
  if (!stealing_ || homes_[w.index].has_work()) return work_seen::found;
  work_seen seen = work_seen::none;
  watch& own = watches_[w.index];
  for (const unsigned n : own.victims) {
    const std::uint64_t now = now_();
    const bool pays = worth_taking(own, n, now) != 0 && now >= own.keeps_off_until_ns;  // counted anew also while it keeps off
    if (!homes_[n].has_loot()) continue;
    if (pays || life_.sleepers().is_asleep(n)) return work_seen::found;
    seen = work_seen::declined;
  }
  if (now_() < own.keeps_off_until_ns) return seen;
  return watch_closely(w, second_watch_ns) || watch_closely(w, long_turn_ns) ? work_seen::found : seen;
}

/// Waits until each of those that are suspected has been watched for so long, all at once. True: one is worth it, or this worker was called.
bool default_policy::watch_closely(const worker& w, std::uint64_t for_ns) noexcept {
  watch& own = watches_[w.index];
  std::uint64_t until_ns = 0;
  for (const unsigned n : own.victims) {
    if (own.others[n].suspected) until_ns = std::max(until_ns, own.others[n].since_ns + for_ns);
  }
  if (until_ns == 0) return false;
  while (now_() < until_ns) {
    if (life_.sleepers().is_claimed(w.index)) return true;
    for (int n = 0; n < 16; ++n) real_memory::relax();
  }
  return std::any_of(own.victims.begin(), own.victims.end(),
                     [&](unsigned n) { return own.others[n].suspected && worth_taking(own, n, now_()) != 0; });
}

/// Whether this victim will soon notice a thief by itself: it makes short turns. One within a long event, or asleep, does not.
bool default_policy::may_answer(const watch& own, unsigned victim, std::uint64_t now_ns) const noexcept {
  const glance& seen = own.others[victim];
  const std::uint64_t made = life_.at(victim).turns.get() - seen.turns;
  return made != 0 && (now_ns - seen.since_ns) / made <= longest_answer_ns && !life_.sleepers().is_asleep(victim);
}

bool default_policy::steal_from(worker& w, unsigned victim, std::size_t most) noexcept {
  std::array<color_queue*, most_stolen> slots;
  const std::span room{slots.data(), std::min(most, most_stolen)};
  watch& own = watches_[w.index];
  const bool is_awake = !life_.sleepers().is_asleep(victim);
  const std::uint64_t begin = real_now_ns();
  const bool asks = may_answer(own, victim, begin);
  std::uint64_t entered = begin;
  const home::robbed got = homes_[victim].rob(w.index, room, [&entered]() noexcept { entered = real_now_ns(); }, asks);
  if (got.entry != thief_entry::refused) {
    own.others[victim].suspected = false;  // it was of what has now been taken
    // What an answer takes says nothing of the membarrier, and to have asked in vain is this worker's time alone.
    if (is_awake && !asks) own.learn_price(entered - begin);
    own.figures.answered += got.entry == thief_entry::answered ? 1 : 0;
    own.figures.lock_wait_ns += entered - begin;
    own.figures.lock_held_ns += real_now_ns() - entered;
  }
  if (got.strays != nullptr) forward(got.strays);
  // The victim may have looked while the thief had the pinned color queue in hand, and be asleep now (covered).
  if (got.pinned) after_link(victim, true, &w);
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

/// Threads: no worker runs. Owners take their own locks without a clock: what is told of locks is thieves' time.
scheduler_figures default_policy::figures() const noexcept {
  scheduler_figures sum{.counted = true};
  for (const watch& each : watches_) {
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
void default_policy::cover(worker& w) noexcept {
  if (!stealing_) return wake_owners();
  bool some = false;
  for (unsigned n = 0; n < workers_; ++n) {
    const home& h = homes_[n];
    some = some || h.has_loot();
  }
  if (some && !life_.sleepers().view().watching()) life_.wake_any(&w);
}

/// Without stealing, each worker has to run its own: what came while nobody ran woke nobody.
void default_policy::wake_owners() noexcept {
  for (unsigned n = 0; n < workers_; ++n) {
    if (homes_[n].has_work()) life_.summon(n, nullptr);
  }
}

work_seen default_policy::sources(const worker& w) noexcept {
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
