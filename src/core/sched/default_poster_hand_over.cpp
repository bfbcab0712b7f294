/// What a worker that leaves had, by the default scheduler.

#include <array>
#include <span>
#include <thread>

#include "core/sleep/sleep_control.h"
#include "core/sched/default_poster.h"

namespace tartan::detail {

/// All that waits there goes to a worker that stays. Its idle colors stay its own until somebody posts to one: then that brings them here again.
void default_poster::hand_over(unsigned worker_index) noexcept {
  home& from = homes_[worker_index];
  std::array<color_queue*, home::segment_slots> room;
  while (from.has_loot()) {
    // That one may leave as well; then this is done once more there. It may be this very one, which is wanted again, and not there yet.
    const unsigned other = worker_index % life_.wanted();
    const unsigned to = other == worker_index || life_.sleepers().is_gone(other) ? 0 : other;
    const home::evicted got = from.evict(to, room);
    if (!got.entered) {  // another one is about it
      std::this_thread::yield();
      continue;
    }
    if (got.strays != nullptr) forward(got.strays);
    if (got.owed == 0) continue;
    owed_links<home> links;
    for (std::size_t n = 0; n < got.owed; ++n) links.add(*room[n], to);
    links.pay(homes_);
    after_link(to, false, nullptr);
  }
}

}  // namespace tartan::detail
