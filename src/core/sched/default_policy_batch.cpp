/// Batches from foreign threads, by the default scheduler.
///
/// A post from outside takes a read-modify-write for its inbox and one for the link. Of many posts in one call, neighbors of one color
/// share the first and all links to one owner the second. Asking for the lines of the next ones ahead (prefetch) was slower where
/// they are in the cache and no faster where they are not.

#include <array>
#include <cstddef>

#include "core/runtime_state.h"
#include "core/sched/default_policy.h"

namespace tartan::detail {

namespace {

/// Color queues that wait for their link at most: some 5 us, so that contract 7's 1 ms is kept.
constexpr std::size_t most_owed = 128;

}  // namespace

/// The links that the pushes of a batch owe, by owner.
class default_policy::batch_links {
 public:
  explicit batch_links(default_policy& of) noexcept : of_{of} {}
  batch_links(const batch_links&) = delete;
  batch_links& operator=(const batch_links&) = delete;
  ~batch_links() { pay_all(); }

  void add(color_queue& q) noexcept {
    if (of_.is_pinned(q)) return of_.link(q, nullptr);  // other workers must not be woken for it
    const unsigned owner = q.owner.load(std::memory_order_relaxed);
    home_links& its = by_owner_[owner % by_owner_.size()];
    if (its.owner() != owner) pay(its);
    its.add(q, owner);
    if (++owed_ == most_owed) pay_all();
  }

 private:
  using home_links = owed_links<home>;

  void pay_all() noexcept {
    for (home_links& each : by_owner_) pay(each);
    owed_ = 0;
  }
  void pay(home_links& its) noexcept {
    if (its.empty()) return;
    its.pay(of_.homes_.get());
    of_.after_link(its.owner(), !of_.stealing_, nullptr);
  }

  default_policy& of_;
  std::array<home_links, 16> by_owner_;
  std::size_t owed_ = 0;
};

void default_policy::submit_from_outside(std::span<addressed_event> many) noexcept {
  batch_links owed{*this};
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
  auto* const q = static_cast<color_queue*>(queues_.line_of(where.value() & line_mask));
  if (q == nullptr) return false;
  const pushed outcome = q->in.push_if((where.value() >> line_bits) & generation_mask, newest, oldest);
  if (outcome == pushed::owes_link) owed.add(*q);
  return outcome != pushed::refused;
}

void default_policy::push_by_value(color where, event& newest, event& oldest, batch_links& owed) noexcept {
  bool crowded = false;
  bool owes = false;
  color_queue* q = nullptr;
  reserve_line(nullptr);
  {
    bucket_hold bucket{table_, where.value()};
    q = &find_or_make(bucket, where, oldest, nullptr, crowded);
    owes = q->in.push(newest, oldest) == pushed::owes_link;
  }
  if (owes) owed.add(*q);  // LINKED keeps it from removal
  if (crowded) table_.grow();
}

void default_policy::push_unordered(event& e, batch_links& owed) noexcept {
  color_queue& q = new_queue_for(queue_kind::unordered, color::unordered, e, nullptr);
  q.owner.store(owner_for(reinterpret_cast<std::uintptr_t>(&q), nullptr), std::memory_order_release);
  if (q.in.push(e, e) == pushed::owes_link) owed.add(q);
}

}  // namespace tartan::detail
