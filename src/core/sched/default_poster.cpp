#include "core/sched/default_poster.h"

#include "core/sched/batch_links.h"

namespace tartan::detail {

void default_poster::submit(strand_state& s, event& e, worker* from) noexcept {
  color_queue& q = queue_of(s);
  if (from != nullptr && &q == from->running_queue) return post_running(q, e);
  deliver(q, e, from, singly{});
}

// The rare paths are kept out of line: otherwise each post would save the registers that they need.
void default_poster::submit(color where, event& e, worker* from) noexcept { post(where, e, from, singly{}); }

template <class Duties>
[[gnu::always_inline]] inline void default_poster::post(color where, event& e, worker* from, Duties duties) noexcept {
  if (where.value() == 0) return deliver(queues_.default_color(), e, from, duties);
  if (from != nullptr && where == from->running && where != color::unordered) {
    if (from->running_queue != nullptr) return post_running(*static_cast<color_queue*>(from->running_queue), e);
  }
  if (where == color::unordered) return post_unordered(e, from, duties);
  if ((where.value() & queue_store::strand_bit) != 0) return post_to_strand_color(where, e, from, duties);
  post_by_value(where, e, from, duties);
}

/// Whether only worker 0 may run it.
bool default_poster::is_pinned(const color_queue& q) const noexcept { return &q == homes_[0].pin; }

template <class Duties>
void default_poster::deliver(color_queue& q, event& e, worker* from, Duties duties) noexcept {
  if (from != nullptr) {
    if (&q == from->running_queue) return post_running(q, e);
    if (q.owner.load(std::memory_order_relaxed) == from->index) {
      const appended outcome = homes_[from->index].post(q, e);
      if (outcome != appended::refused) return duties.appended_at_home(*this, *from, outcome);
    }
  }
  if (q.in.push(e, e) == pushed::owes_link) duties.link(*this, q, from);
}

/// Posts by value to a color that a strand had or has.
template <class Duties>
[[gnu::noinline]] void default_poster::post_to_strand_color(color where, event& e, worker* from, Duties duties) noexcept {
  color_queue* const q = queues_.queue_of_strand(where);
  if (q == nullptr) [[unlikely]] {
    refuse_foreign(rt_, where, "an event was posted", e.site);
    return post_by_value(where, e, from, duties);
  }
  if (from != nullptr && q->owner.load(std::memory_order_relaxed) == from->index) {
    const appended outcome = homes_[from->index].post_if(queue_store::generation_of(where), *q, e);
    if (outcome != appended::refused) [[likely]] return duties.appended_at_home(*this, *from, outcome);
  }
  push_to_strand_color(*q, where, e, from, duties);
}

template <class Duties>
[[gnu::noinline]] void default_poster::push_to_strand_color(color_queue& q, color where, event& e, worker* from, Duties duties) noexcept {
  const pushed outcome = q.in.push_if(queue_store::generation_of(where), e, e);
  if (outcome == pushed::owes_link) return duties.link(*this, q, from);
  if (outcome == pushed::refused) post_by_value(where, e, from, duties);  // the strand is gone, and its color is like any other
}

/// Look-up and post are one step against the removal of an idle color (one-step): both inside the bucket's lock.
template <class Duties>
[[gnu::noinline]] void default_poster::post_by_value(color where, event& e, worker* from, Duties duties) noexcept {
  bool crowded = false;
  bool owes = false;
  appended outcome = appended::refused;
  color_queue* q = nullptr;
  reserve_line(from, duties);
  {
    queue_store::bucket_hold bucket{queues_.table(), where.value()};
    q = &queues_.find_or_make(bucket, where, e, from, crowded);
    // Do not wait for a thief that was preempted: the bucket would stay locked.
    if (home* const h = from != nullptr ? &homes_[from->index] : nullptr;
        h != nullptr && q->owner.load(std::memory_order_relaxed) == from->index && h->lock.try_enter()) {
      outcome = h->append(*q, e);
      h->lock.leave();
    }
    if (outcome == appended::refused) owes = q->in.push(e, e) == pushed::owes_link;
  }
  if (owes) duties.link(*this, *q, from);  // LINKED keeps it from removal
  if (from != nullptr) duties.appended_at_home(*this, *from, outcome);
  if (crowded) queues_.table().grow([&] { duties.before_delay(); });
}

/// The event has a queue of its own, so it is ordered with nothing.
template <class Duties>
[[gnu::noinline]] void default_poster::post_unordered(event& e, worker* from, Duties duties) noexcept {
  reserve_line(from, duties);
  deliver(queues_.make_unordered(e, from), e, from, duties);
}

/// The worker that a color may move to, because its events post to that color. Without stealing no color moves.
std::uint16_t default_poster::sender_of(const worker* from) const noexcept {
  return from != nullptr && from->in_event && stealing_ ? static_cast<std::uint16_t>(from->index) : no_worker;
}

/// Pays the link that a push owed.
void default_poster::link(color_queue& q, worker* from) noexcept {
  const bool only_owner = !stealing_ || is_pinned(q);
  const unsigned owner = link_to_owner(homes_, q, sender_of(from));
  after_link(owner, only_owner, from);
}

void default_poster::after_append(const worker& from, appended outcome) noexcept {
  if (outcome == appended::activated && from.is_busy()) after_local(homes_[from.index]);
}

/// Unless one searches already, which will find what waits.
[[gnu::cold, gnu::noinline]] void default_poster::wake_one(idle_view seen) noexcept {
  if (seen.forked()) return life_.posted_outside(seen);
  if (!stealing_ || seen.searching() != 0) return;
  life_.wake_any(nullptr);
}

void default_poster::after_link(unsigned owner, bool only_owner, worker* from) noexcept {
  const idle_view seen = from != nullptr ? life_.sleepers().view_by_worker() : life_.sleepers().view_after_publish();
  if (seen.some_left() && life_.sleepers().is_gone(owner)) [[unlikely]] return hand_over(owner);  // gone-or-found
  if (seen.quiet()) return;
  if (seen.paused() || seen.forked()) return life_.posted_outside(seen);
  if (from != nullptr && from->index == owner) {
    // It came here between the look and the link: behind this event, if that lasts.
    if (from->is_busy() && !only_owner) after_local(homes_[owner]);
    return;
  }
  if (only_owner) return life_.summon(owner, from);
  if (seen.searching() != 0) {  // a searcher will find it; so will the caller, if it searches itself
    if (from != nullptr && from->searching) from->left_behind = true;
    return;
  }
  if (life_.sleepers().is_asleep(owner)) {
    if (from != nullptr && life_.leaves_to_poster(*from, seen)) return;
    return static_cast<void>(life_.wake(owner, from));
  }
  if (!seen.watching()) life_.wake_any(from);
}

void default_poster::forward(color_queue* chain) noexcept {
  while (chain != nullptr) {
    color_queue* const q = chain;
    chain = q->linked_next;
    link(*q, nullptr);
  }
}

/// By the owner. False: it has to go by the inbox.
bool default_poster::close_owned(worker& from, color_queue& q) noexcept {
  const closed outcome = homes_[from.index].close(q);
  if (outcome == closed::retired) queues_.free(q, &from);
  return outcome != closed::refused;
}

void default_poster::close_strand(strand_state& s, worker* from) noexcept {
  color_queue& q = queue_of(s);
  if (from != nullptr) {
    if (q.owner.load(std::memory_order_relaxed) == from->index && close_owned(*from, q)) return;
    if (q.in.close() == pushed::owes_link) link(q, from);  // last-touch
    return;
  }
  // Between the two another thread's post relies on this one's link.
  const guests::posting in_gate{rt_.guests()};
  const bool owes = q.in.close() == pushed::owes_link;
  if (owes && !life_.over()) link(q, nullptr);  // last-touch
}

void default_poster::submit_many(std::span<addressed_event> many, worker* from) noexcept {
  if (from == nullptr) return submit_from_outside(many);
  submit_from_worker(many, *from);
}

/// A worker reaches most of the colors without a read-modify-write. What the posts owe is paid together.
void default_poster::submit_from_worker(std::span<addressed_event> many, worker& from) noexcept {
  batch_links owed{*this, &from};
  for (const addressed_event& each : many) post(each.where, *each.what, &from, together{&owed});
}

}  // namespace tartan::detail
