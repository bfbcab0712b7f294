/// Posting, by the default scheduler: into the owner's list where the caller is the owner, else into the inbox.

#include <array>
#include <charconv>
#include <new>
#include <string_view>

#include "core/fatal.h"
#include "core/runtime_state.h"
#include "core/sched/batch_links.h"
#include "core/sched/default_policy.h"
#include "core/sched/no_queue_memory.h"

namespace tartan::detail {

void default_policy::submit(strand_state& s, event& e, worker* from) noexcept {
  auto& q = reinterpret_cast<color_queue&>(s);
  if (from != nullptr && &q == from->running_queue) return post_running(q, e);
  deliver(q, e, from, singly{});
}

// The rare ways are kept out of line: else each post would save the registers that they need.
void default_policy::submit(color where, event& e, worker* from) noexcept { post(where, e, from, singly{}); }

template <class Duties>
[[gnu::always_inline]] inline void default_policy::post(color where, event& e, worker* from, Duties duties) noexcept {
  if (where.value() == 0) return deliver(*default_color_, e, from, duties);
  if (from != nullptr && where == from->running && where != color::unordered) {
    if (from->running_queue != nullptr) return post_running(*static_cast<color_queue*>(from->running_queue), e);
  }
  if (where == color::unordered) return post_unordered(e, from, duties);
  if ((where.value() & strand_bit) != 0) return post_to_strand_color(where, e, from, duties);
  post_by_value(where, e, from, duties);
}

/// Whether only worker 0 may run it.
bool default_policy::is_pinned(const color_queue& q) const noexcept { return &q == homes_[0].pin; }

template <class Duties>
void default_policy::deliver(color_queue& q, event& e, worker* from, Duties duties) noexcept {
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
[[gnu::noinline]] void default_policy::post_to_strand_color(color where, event& e, worker* from, Duties duties) noexcept {
  color_queue* const q = queue_of_strand(where);
  if (q == nullptr) [[unlikely]] {
    refuse_foreign(rt_, where, "an event was posted", e.site);
    return post_by_value(where, e, from, duties);
  }
  if (from != nullptr && q->owner.load(std::memory_order_relaxed) == from->index) {
    const appended outcome = homes_[from->index].post_if(generation_of(where), *q, e);
    if (outcome != appended::refused) [[likely]] return duties.appended_at_home(*this, *from, outcome);
  }
  push_to_strand_color(*q, where, e, from, duties);
}

template <class Duties>
[[gnu::noinline]] void default_policy::push_to_strand_color(color_queue& q, color where, event& e, worker* from, Duties duties) noexcept {
  const pushed outcome = q.in.push_if(generation_of(where), e, e);
  if (outcome == pushed::owes_link) return duties.link(*this, q, from);
  if (outcome == pushed::refused) post_by_value(where, e, from, duties);  // the strand is gone, and its color is like any other
}

/// A new one belongs to whom its first event, `e`, suggests.
color_queue& default_policy::find_or_make(bucket_hold& bucket, color where, const event& e, worker* from, bool& crowded) noexcept {
  if (color_queue* const found = bucket.find(where.value(), crowded)) return *found;
  color_queue& q = new_queue_for(queue_kind::by_value, where, e, from);
  q.owner.store(owner_for(where.value(), from), std::memory_order_release);
  bucket.insert(q);
  return q;
}

color_queue& default_policy::new_queue_for(queue_kind kind, color where, const event& e, worker* from) noexcept {
  try {
    return new_queue(kind, where.value(), from);
  } catch (const std::bad_alloc&) {
    no_queue_memory(where, e);
  }
}

/// Look-up and post are one step against the removal of an idle color (one-step): both inside the bucket's lock.
template <class Duties>
[[gnu::noinline]] void default_policy::post_by_value(color where, event& e, worker* from, Duties duties) noexcept {
  bool crowded = false;
  bool owes = false;
  appended outcome = appended::refused;
  color_queue* q = nullptr;
  reserve_line(from, duties);
  {
    bucket_hold bucket{table_, where.value()};
    q = &find_or_make(bucket, where, e, from, crowded);
    // Not waiting for a thief that was preempted: the bucket would stay locked.
    if (home* const h = from != nullptr ? &homes_[from->index] : nullptr;
        h != nullptr && q->owner.load(std::memory_order_relaxed) == from->index && h->lock.try_enter()) {
      outcome = h->append(*q, e);
      h->lock.leave();
    }
    if (outcome == appended::refused) owes = q->in.push(e, e) == pushed::owes_link;
  }
  if (owes) duties.link(*this, *q, from);  // LINKED keeps it from removal
  if (from != nullptr) duties.appended_at_home(*this, *from, outcome);
  if (crowded) table_.grow([&] { duties.before_delay(); });
}

/// Ordered with nothing: a queue of its own, of one event.
template <class Duties>
[[gnu::noinline]] void default_policy::post_unordered(event& e, worker* from, Duties duties) noexcept {
  reserve_line(from, duties);
  color_queue& q = new_queue_for(queue_kind::unordered, color::unordered, e, from);
  q.owner.store(owner_for(reinterpret_cast<std::uintptr_t>(&q), from), std::memory_order_release);
  deliver(q, e, from, duties);
}

/// Who posts to another worker's color, for that color may move to it. Without stealing everything stays where it is.
std::uint16_t default_policy::sender_of(const worker* from) const noexcept {
  return from != nullptr && from->in_event && stealing_ ? static_cast<std::uint16_t>(from->index) : no_worker;
}

/// Pays the link that a push owed.
void default_policy::link(color_queue& q, worker* from) noexcept {
  const bool only_owner = !stealing_ || is_pinned(q);
  const unsigned owner = link_to_owner(homes_.get(), q, sender_of(from));
  after_link(owner, only_owner, from);
}

void default_policy::after_append(const worker& from, appended outcome) noexcept {
  if (outcome == appended::activated && from.in_event) after_local(homes_[from.index]);
}

/// Unless one searches already, which will find what waits.
[[gnu::cold, gnu::noinline]] void default_policy::wake_one(idle_view seen) noexcept {
  if (seen.forked()) return life_.posted_outside(seen);
  if (!stealing_ || seen.searching() != 0) return;
  life_.wake_any(nullptr);
}

/// After a color queue was linked into a worker's incoming chain.
void default_policy::after_link(unsigned owner, bool only_owner, worker* from) noexcept {
  const idle_view seen = from != nullptr ? life_.sleepers().view_by_worker() : life_.sleepers().view_after_publish();
  if (seen.some_left() && life_.sleepers().is_gone(owner)) [[unlikely]] return hand_over(owner);  // gone-or-found
  if (seen.quiet()) return;
  if (seen.paused() || seen.forked()) return life_.posted_outside(seen);
  if (from != nullptr && from->index == owner) {
    // It came here between the look and the link: behind this event, if that lasts.
    if (from->in_event && !only_owner) after_local(homes_[owner]);
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

void default_policy::submit_many(std::span<addressed_event> many, worker* from) noexcept {
  if (from == nullptr) return submit_from_outside(many);
  submit_from_worker(many, *from);
}

/// From a worker, which knows the way to most of the colors without a read-modify-write. What the posts owe is paid together.
void default_policy::submit_from_worker(std::span<addressed_event> many, worker& from) noexcept {
  batch_links owed{*this, &from};
  for (const addressed_event& each : many) post(each.where, *each.what, &from, together{&owed});
}

}  // namespace tartan::detail
