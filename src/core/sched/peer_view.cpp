#include "core/sched/peer_view.h"

#include "core/sched/core_distance.h"

namespace tartan::detail {

peer_view::peer_view(default_state& shared) : default_part{shared}, views_(shared.workers) {
  for (view& each : views_) each.others.resize(workers_);
  set_order();
}

/// Nearest first, by the caches that they share, if workers are bound and so have a place; else one after the other,
/// round.
///
/// Source: Mely, III.A.
void peer_view::set_order(const std::string& root) {
  const bool bound = rt_.settings().bind_workers && workers_ > 2;
  const std::vector<std::vector<unsigned>> nearest =
      bound ? nearest_first(rt_.cpus().in_turn(workers_), root) : std::vector<std::vector<unsigned>>(workers_);
  for (unsigned n = 0; n < workers_; ++n) {
    std::vector<unsigned>& order = views_[n].order;
    order = nearest[n];
    for (unsigned on = 1; !bound && on < workers_; ++on) order.push_back((n + on) % workers_);
  }
}

void peer_view::look_again(unsigned by, unsigned other, std::uint64_t now_ns) noexcept {
  const worker& of = life_.at(other);
  views_[by].others[other] = {of.turns.get(), now_ns, of.follow_ups.get()};
}

}  // namespace tartan::detail
