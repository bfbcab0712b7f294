/// What a worker that leaves had, by the default scheduler.

#include <array>
#include <span>
#include <thread>

#include "core/runtime_state.h"
#include "core/sched/default_poster.h"
#include "core/sleep/sleep_control.h"

namespace tartan::detail {

/// All that waits there goes to a worker that stays; another one's call ends when that worker is there again. Its idle colors stay its own until somebody
/// posts to one: then that brings them here again.
void default_poster::hand_over(unsigned worker_index) noexcept {
  home& from = homes_[worker_index];
  std::array<color_queue*, home::segment_slots> room;
  const worker* const caller = rt_.worker_here();
  const bool is_its_own = caller != nullptr && caller->index == worker_index;
  while (from.has_loot() && (is_its_own || life_.sleepers().is_gone(worker_index))) {
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
