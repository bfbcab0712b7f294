/// Batches from foreign threads, by the default scheduler.
///
/// A post from outside takes a read-modify-write for its inbox and one for the link. Of many posts in one call, neighbors of one color
/// share the first and all links to one owner the second. Asking for the lines of the next ones ahead (prefetch) was slower where
/// they are in the cache and no faster where they are not.

#include "core/sched/batch_links.h"
#include "core/sched/default_poster.h"

namespace tartan::detail {

void default_poster::submit_from_outside(std::span<addressed_event> many) noexcept {
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
void default_poster::push_run(color where, event& newest, event& oldest, batch_links& owed) noexcept {
  if (where == color::unordered) return push_unordered(newest, owed);
  if (where.value() == 0) {
    if (queues_.default_color().in.push(newest, oldest) == pushed::owes_link) owed.add(queues_.default_color());
    return;
  }
  if ((where.value() & queue_store::strand_bit) != 0 && push_to_strand_color(where, newest, oldest, owed)) return;
  push_by_value(where, newest, oldest, owed);
}

bool default_poster::push_to_strand_color(color where, event& newest, event& oldest, batch_links& owed) noexcept {
  color_queue* const q = queues_.queue_of_strand(where);
  if (q == nullptr) {
    refuse_foreign(rt_, where, "an event was posted", oldest.site);
    return false;
  }
  const pushed outcome = q->in.push_if(queue_store::generation_of(where), newest, oldest);
  if (outcome == pushed::owes_link) owed.add(*q);
  return outcome != pushed::refused;
}

void default_poster::push_by_value(color where, event& newest, event& oldest, batch_links& owed) noexcept {
  bool crowded = false;
  bool owes = false;
  color_queue* q = nullptr;
  reserve_line(nullptr, together{&owed});
  {
    queue_store::bucket_hold bucket{queues_.table(), where.value()};
    q = &queues_.find_or_make(bucket, where, oldest, nullptr, crowded);
    owes = q->in.push(newest, oldest) == pushed::owes_link;
  }
  if (owes) owed.add(*q);  // LINKED keeps it from removal
  if (crowded) queues_.table().grow([&] { owed.pay_all(); });
}

void default_poster::push_unordered(event& e, batch_links& owed) noexcept {
  reserve_line(nullptr, together{&owed});
  color_queue& q = queues_.make_unordered(e, nullptr);
  if (q.in.push(e, e) == pushed::owes_link) owed.add(q);
}

}  // namespace tartan::detail
