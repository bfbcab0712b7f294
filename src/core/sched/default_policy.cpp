#include "core/sched/default_policy.h"

#include <thread>

namespace tartan::detail {

color default_policy::color_of(const strand_state& s) const noexcept {
  return raw_color::make(reinterpret_cast<const color_queue&>(s).color_value);
}

void default_policy::place(strand_state& s, unsigned worker_index) noexcept {
  color_queue& q = queue_of(s);
  const unsigned owner = q.owner.load(std::memory_order_acquire);  // pairs with the release stores in home.h
  if (owner == worker_index) return;
  home& from = shared_.homes[owner];
  while (from.lock.try_enter_as_thief(false) == thief_entry::refused) std::this_thread::yield();
  from.give(q, worker_index);
  from.lock.leave_as_thief();
}

bool default_policy::any_left() noexcept {
  for (unsigned n = 0; n < shared_.workers; ++n) {
    if (shared_.homes[n].has_work()) return true;
  }
  return false;
}

std::size_t default_policy::drop_all() noexcept {
  std::size_t dropped = 0;
  for (bool again = true; again;) {  // a callable that is destroyed may close strands
    again = false;
    for (unsigned n = 0; n < shared_.workers; ++n) {
      home& h = shared_.homes[n];
      while (h.pop() != nullptr) again = true;
      while (color_queue* const q = h.posted.take()) {
        q->in.unlink();
        again = true;
      }
    }
    again = shared_.queues.drop_events(dropped) || again;
  }
  return dropped;
}

}  // namespace tartan::detail
