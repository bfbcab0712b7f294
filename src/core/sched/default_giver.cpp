#include "core/sched/default_giver.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/tuning.h"

namespace tartan::detail {

/// What waits here waits for a tour: the time from the hot color's last turn to this one.
void default_giver::make_room(worker& w, std::uint64_t now_ns) noexcept {
  notes& seen = notes_[w.index];
  const std::uint64_t tour_ns = now_ns - std::exchange(seen.hot_turn_ns, now_ns);
  const std::size_t waiting = homes_[w.index].queue.size();
  if (waiting == 0 || tour_ns > give_longest_tour_ns) return;
  const shorter_line to = shortest_line(w, now_ns, {0, peers_.order(w.index).size()}, sleepers::too);
  if (to.wait_ns + give_least_gain_ns > tour_ns) return;
  // Give so many that both lines then wait as long.
  const std::uint64_t fair = (tour_ns - to.wait_ns) / 2 / std::max<std::uint64_t>(to.turn_ns, 1);
  give(w, to.worker, std::clamp<std::uint64_t>(fair, 1, waiting));
}

/// Where each answer leads to the next request nobody is ever idle, so nobody steals. Clients whose colors wait in the shorter
/// line are then served more often, for as long as that lasts (H4: Jain's index fell to 0.90 in a run). Counts are noisy, so a
/// worker gives only when two comparisons in a row say the same.
void default_giver::even_out(worker& w, std::uint64_t now_ns) noexcept {
  notes& seen = notes_[w.index];
  const std::size_t others = peers_.order(w.index).size();
  const std::uint64_t turns = w.turns.get();
  const std::uint64_t watched_ns = now_ns - seen.own.since_ns;
  if (watched_ns < give_comparison_period_ns) return;
  const std::uint64_t made = turns - std::exchange(seen.own, {turns, now_ns}).turns;
  const unsigned before = std::exchange(seen.shorter, w.index);
  if (made == 0 || watched_ns > give_stale_count_ns) return;
  const std::uint64_t wait_ns = homes_[w.index].waiting() * watched_ns / made;
  if (wait_ns < give_long_wait_ns) return;
  const some_others compared{seen.compare_next, std::min(give_most_compared_workers, others)};
  const shorter_line to = shortest_line(w, now_ns, compared, sleepers::left_out);
  if (to.wait_ns + wait_ns / give_uneven_part > wait_ns) {
    // Workers of which nothing was known are compared again: their turns are counted by then.
    if (!to.some_unknown) seen.compare_next = compared.following(others);
    return;
  }
  seen.shorter = to.worker;
  if (before != to.worker) return;
  seen.compare_next = compared.following(others);  // this worker has its share
  give(w, to.worker, std::max<std::uint64_t>((wait_ns - to.wait_ns) / 2 / std::max<std::uint64_t>(to.turn_ns, 1), 1));
}

/// The worker in whose line a color would wait for the shortest time, by the turns that it has made since the last look.
default_giver::shorter_line default_giver::shortest_line(const worker& w, std::uint64_t now_ns, some_others whom, sleepers which) noexcept {
  shorter_line best{w.index, never_ns / 2, 1, false};
  const std::vector<unsigned>& order = peers_.order(w.index);
  for (std::size_t n = 0; n < whom.count; ++n) {
    const unsigned other = order[(whom.first + n) % order.size()];
    const glance& seen = peers_.of(w.index, other);
    const std::uint64_t turns = life_.at(other).turns.get();
    const std::uint64_t made = turns - seen.turns;
    const std::uint64_t watched_ns = now_ns - seen.since_ns;
    if (watched_ns < give_count_ns) continue;
    peers_.look_again(w.index, other, now_ns);
    best.some_unknown = best.some_unknown || watched_ns > give_stale_count_ns;
    if (watched_ns > give_stale_count_ns) continue;
    const std::size_t waiting = homes_[other].waiting();
    const bool sleeps = life_.sleepers().is_asleep(other);
    if (made == 0 && !sleeps) continue;  // in a long event; or it searches, and then steals by itself
    if (sleeps && which == sleepers::left_out) continue;  // it decides by itself what is worth coming for
    const std::uint64_t turn_ns = watched_ns / std::max<std::uint64_t>(made, 1);
    if (waiting * turn_ns < best.wait_ns) best = {other, waiting * turn_ns, turn_ns, best.some_unknown};
  }
  return best;
}

void default_giver::give(worker& w, unsigned to, std::size_t most) noexcept {
  std::array<color_queue*, home::segment_slots> room;
  const std::size_t owed = homes_[w.index].part_with(to, std::span{room}.first(std::min(most, room.size())));
  if (owed == 0) return;
  owed_links<home> links;
  for (std::size_t n = 0; n < owed; ++n) links.add(*room[n], to);
  links.pay(homes_);
  poster_.after_link(to, false, &w);
}

}  // namespace tartan::detail
