#pragma once
/// What the posts of a batch owe, paid together: by the default scheduler.

#include <array>
#include <cstddef>

#include "core/sched/default_policy.h"
#include "core/sched/tuning.h"

namespace tartan::detail {

/// The links that the pushes of a batch owe, by owner, and the look for the colors that became runnable at home.
///
/// Until they are paid nobody finds the one, and nobody is woken for the other. Hence it is not for long (contract 7): at most 128, which
/// takes some 5 us, and before_delay() pays before memory is asked for. What a push may wait for besides is another worker in the same
/// bucket or home, which is short unless that one was preempted.
class default_policy::batch_links {
 public:
  batch_links(default_policy& of, worker* from) noexcept : of_{of}, from_{from} {}
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
    its.pay(of_.homes_.get());
    of_.after_link(its.owner(), !of_.stealing_, from_);
  }

  default_policy& of_;
  worker* from_;
  std::array<home_links, 16> by_owner_;
  std::size_t owed_ = 0;
  bool local_ = false;
};

/// Who posts one event pays at once what that owes.
struct default_policy::singly {
  static void link(default_policy& policy, color_queue& q, worker* from) noexcept { policy.link(q, from); }
  static void appended_at_home(default_policy& policy, const worker& from, appended outcome) noexcept { policy.after_append(from, outcome); }
  static void before_delay() noexcept {}
};

/// Who posts a batch, later.
struct default_policy::together {
  batch_links* owed;

  void link(default_policy& /*policy*/, color_queue& q, worker* /*from*/) const noexcept { owed->add(q); }
  void appended_at_home(default_policy& /*policy*/, const worker& from, appended outcome) const noexcept {
    if (outcome == appended::activated && from.in_event) owed->add_local();
  }
  void before_delay() const noexcept { owed->pay_all(); }
};

/// Neither the pool's lock nor memory from the system while a bucket is locked; but for a thread that has no lines of its own (its
/// thread-locals are gone, or there was no memory for them). If there is none, it is missed only if it is needed.
template <class Duties>
[[gnu::always_inline]] inline void default_policy::reserve_line(worker* from, Duties duties) noexcept {
  line_cache* const lines = lines_of(from);
  if (lines != nullptr && line_pool::is_reserved(*lines)) [[likely]] return;
  duties.before_delay();
  if (lines == nullptr) return;
  try {
    queues_.reserve(*lines);
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace tartan::detail
