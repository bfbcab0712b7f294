/// Batches from foreign threads, by the default scheduler.
///
/// A post from outside takes a read-modify-write for its inbox and one for the link. Of many posts in one call, neighbors of one color
/// share the first and all links to one owner the second. Asking for the lines of the next ones ahead (prefetch) was slower where
/// they are in the cache and no faster where they are not.

#include "core/runtime_state.h"
#include "core/sched/batch_links.h"
#include "core/sched/default_policy.h"

namespace tartan::detail {

void default_policy::submit_from_outside(std::span<addressed_event> many) noexcept {
  batch_links owed{*this, nullptr};
  for (std::size_t n = 0; n < many.size();) {
    const color where = many[n].where;
    event* const oldest = many[n].what;
    event* newest = oldest;
    for (++n; n < many.size() && many[n].where == where && where != color::unordered; ++n) {
      many[n].what->next = newest;
      newest = many[n].what;
    }
    push_run(where, *newest, *oldest, owed);
  }
}

/// One color's events, in order, newest first.
void default_policy::push_run(color where, event& newest, event& oldest, batch_links& owed) noexcept {
  if (where == color::unordered) return push_unordered(newest, owed);
  if (where.value() == 0) {
    if (default_color_->in.push(newest, oldest) == pushed::owes_link) owed.add(*default_color_);
    return;
  }
  if ((where.value() & strand_bit) != 0 && push_to_strand_color(where, newest, oldest, owed)) return;
  push_by_value(where, newest, oldest, owed);
}

bool default_policy::push_to_strand_color(color where, event& newest, event& oldest, batch_links& owed) noexcept {
  color_queue* const q = queue_of_strand(where);
  if (q == nullptr) {
    refuse_foreign(rt_, where, "an event was posted", oldest.site);
    return false;
  }
  const pushed outcome = q->in.push_if(generation_of(where), newest, oldest);
  if (outcome == pushed::owes_link) owed.add(*q);
  return outcome != pushed::refused;
}

void default_policy::push_by_value(color where, event& newest, event& oldest, batch_links& owed) noexcept {
  bool crowded = false;
  bool owes = false;
  color_queue* q = nullptr;
  reserve_line(nullptr, together{&owed});
  {
    bucket_hold bucket{table_, where.value()};
    q = &find_or_make(bucket, where, oldest, nullptr, crowded);
    owes = q->in.push(newest, oldest) == pushed::owes_link;
  }
  if (owes) owed.add(*q);  // LINKED keeps it from removal
  if (crowded) table_.grow([&] { owed.pay_all(); });
}

void default_policy::push_unordered(event& e, batch_links& owed) noexcept {
  reserve_line(nullptr, together{&owed});
  color_queue& q = new_queue_for(queue_kind::unordered, color::unordered, e, nullptr);
  q.owner.store(owner_for(reinterpret_cast<std::uintptr_t>(&q), nullptr), std::memory_order_release);
  if (q.in.push(e, e) == pushed::owes_link) owed.add(q);
}

}  // namespace tartan::detail
