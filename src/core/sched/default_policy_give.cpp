/// Giving colors away, by the default scheduler: what waits beside a hot color, or in a line that is much longer than another one, goes where the
/// line is shorter.
///
/// Nobody steals while nobody is idle. A worker with a hot color would serve it half of its time, and the others that it happens to hold
/// the other half; then the hot color, which no second worker can help, comes last (W6: at 0.65 of the bound).

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/default_policy.h"
#include "core/sched/tuning.h"

namespace tartan::detail {

/// At the beginning of a hot color's turn: what waits here waits for a tour, which has been measured from turn to turn.
void default_policy::make_room(worker& w, std::uint64_t now_ns) noexcept {
  watch& seen = watches_[w.index];
  const std::uint64_t tour_ns = now_ns - std::exchange(seen.hot_turn_ns, now_ns);
  const std::size_t waiting = homes_[w.index].queue.size();
  if (waiting == 0 || tour_ns > give_longest_tour_ns) return;
  const shorter_line to = shortest_line(w, now_ns, {0, seen.victims.size()}, sleepers::too);
  if (to.wait_ns + give_least_gain_ns > tour_ns) return;
  // So many that both wait as long.
  const std::uint64_t fair = (tour_ns - to.wait_ns) / 2 / std::max<std::uint64_t>(to.turn_ns, 1);
  give(w, to.worker, std::clamp<std::uint64_t>(fair, 1, waiting));
}

/// By a worker with a long line. Where each answer leads to the next request nobody is ever idle, so nobody steals; and whose color waits in
/// the shorter line is served more often, for as long as that lasts (measured: H4, where Jain's index fell to 0.90 in a run). Counts are noisy: it
/// gives when two in a row say the same.
void default_policy::even_out(worker& w, std::uint64_t now_ns) noexcept {
  watch& seen = watches_[w.index];
  const std::uint64_t turns = w.turns.get();
  const std::uint64_t watched_ns = now_ns - seen.own.since_ns;
  if (watched_ns < give_comparison_period_ns) return;
  const std::uint64_t made = turns - std::exchange(seen.own, {turns, now_ns}).turns;
  const unsigned before = std::exchange(seen.shorter, w.index);
  if (made == 0 || watched_ns > give_stale_count_ns) return;
  const std::uint64_t wait_ns = homes_[w.index].waiting() * watched_ns / made;
  if (wait_ns < give_long_wait_ns) return;
  const some_others compared{seen.compare_next, std::min(give_most_compared_workers, seen.victims.size())};
  const shorter_line to = shortest_line(w, now_ns, compared, sleepers::left_out);
  if (to.wait_ns + wait_ns / give_uneven_part > wait_ns) {
    // Of whom nothing was known, something will be known next time.
    if (!to.some_unknown) seen.compare_next = compared.following(seen.victims.size());
    return;
  }
  seen.shorter = to.worker;
  if (before != to.worker) return;
  seen.compare_next = compared.following(seen.victims.size());  // this one has its share
  give(w, to.worker, std::max<std::uint64_t>((wait_ns - to.wait_ns) / 2 / std::max<std::uint64_t>(to.turn_ns, 1), 1));
}

/// Whose line a color would wait in for the shortest time, by the turns that each has made since the last look.
default_policy::shorter_line default_policy::shortest_line(const worker& w, std::uint64_t now_ns, some_others whom, sleepers which) noexcept {
  shorter_line best{w.index, never_ns / 2, 1, false};
  watch& own = watches_[w.index];
  for (std::size_t n = 0; n < whom.count; ++n) {
    const unsigned other = own.victims[(whom.first + n) % own.victims.size()];
    glance& seen = own.others[other];
    const std::uint64_t turns = life_.at(other).turns.get();
    const std::uint64_t made = turns - seen.turns;
    const std::uint64_t watched_ns = now_ns - seen.since_ns;
    if (watched_ns < give_count_ns) continue;
    seen = glance_at(other, now_ns);
    best.some_unknown = best.some_unknown || watched_ns > give_stale_count_ns;
    if (watched_ns > give_stale_count_ns) continue;
    const std::size_t waiting = homes_[other].waiting();
    const bool sleeps = life_.sleepers().is_asleep(other);
    if (made == 0 && !sleeps) continue;  // in a long event; or it searches, and steals by itself
    if (sleeps && which == sleepers::left_out) continue;  // it decides by itself what is worth coming for
    const std::uint64_t turn_ns = watched_ns / std::max<std::uint64_t>(made, 1);
    if (waiting * turn_ns < best.wait_ns) best = {other, waiting * turn_ns, turn_ns, best.some_unknown};
  }
  return best;
}

void default_policy::give(worker& w, unsigned to, std::size_t most) noexcept {
  std::array<color_queue*, home::segment_slots> room;
  const std::size_t owed = homes_[w.index].part_with(to, std::span{room}.first(std::min(most, room.size())));
  if (owed == 0) return;
  owed_links<home> links;
  for (std::size_t n = 0; n < owed; ++n) links.add(*room[n], to);
  links.pay(homes_.get());
  after_link(to, false, &w);
}

}  // namespace tartan::detail
