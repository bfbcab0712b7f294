#pragma once
/// What the posts of a batch owe, paid together: by the default scheduler.

#include <array>
#include <cstddef>

#include "core/sched/default_poster.h"
#include "core/tuning.h"

namespace tartan::detail {

/// The links that the pushes of a batch owe, by owner, and the look for the colors that became runnable at home.
///
/// Until the links are paid nobody finds those color queues, and until the look nobody is woken for the colors at
/// home. So this does not last (contract 7): 128 links are paid at once, which takes some 5 us, and before_delay()
/// pays before memory is asked for. Besides, a push may wait for another worker in the same bucket or home; that is
/// short unless that worker was preempted.
class default_poster::batch_links {
 public:
  batch_links(default_poster& of, worker* from) noexcept : of_{of}, from_{from} {}
  batch_links(const batch_links&) = delete;
  batch_links& operator=(const batch_links&) = delete;
  ~batch_links() { pay_all(); }

  void add(color_queue& q) noexcept {
    if (of_.is_pinned(q)) return of_.link(q, from_);  // other workers must not be woken for it
    const unsigned owner = q.owner.load(std::memory_order_relaxed);
    home_links& its = by_owner_[owner % by_owner_.size()];
    if (its.owner() != owner) pay(its);
    its.add(q, owner, of_.sender_of(from_));
    count();
  }

  /// A color has become runnable on the worker that posts, in one of its events.
  void add_local() noexcept {
    local_ = true;
    count();
  }

  void pay_all() noexcept {
    for (home_links& each : by_owner_) pay(each);
    owed_ = 0;
    if (std::exchange(local_, false)) of_.after_local(of_.homes_[from_->index]);
  }

 private:
  using home_links = owed_links<home>;

  void count() noexcept {
    if (++owed_ == post_most_owed_links) pay_all();
  }
  void pay(home_links& its) noexcept {
    if (its.empty()) return;
    its.pay(of_.homes_);
    of_.after_link(its.owner(), !of_.stealing_, from_);
  }

  default_poster& of_;
  worker* from_;
  std::array<home_links, post_owed_owners> by_owner_;
  std::size_t owed_ = 0;
  bool local_ = false;
};

/// A post of one event pays at once what it owes.
struct default_poster::singly {
  static void link(default_poster& poster, color_queue& q, worker* from) noexcept { poster.link(q, from); }
  static void appended_at_home(default_poster& poster, const worker& from, appended outcome) noexcept {
    poster.after_append(from, outcome);
  }
  static void before_delay() noexcept {}
};

/// The posts of a batch pay later.
struct default_poster::together {
  batch_links* owed;

  void link(default_poster& /*poster*/, color_queue& q, worker* /*from*/) const noexcept { owed->add(q); }
  void appended_at_home(default_poster& /*poster*/, const worker& from, appended outcome) const noexcept {
    if (outcome == appended::activated && from.is_busy()) owed->add_local();
  }
  void before_delay() const noexcept { owed->pay_all(); }
};

/// Gets a free line beforehand, so that a post takes neither the pool's lock nor memory from the system while a
/// bucket is locked. A thread without free lines of its own (its thread-locals are gone, or there was no memory for
/// them) takes them nevertheless.
template <class Duties>
[[gnu::always_inline]] inline void default_poster::reserve_line(worker* from, Duties duties) noexcept {
  line_cache* const lines = queues_.lines_of(from);
  if (lines != nullptr && line_pool::is_reserved(*lines)) [[likely]] return;
  duties.before_delay();
  if (lines == nullptr) return;
  queues_.reserve(*lines);
}

}  // namespace tartan::detail
