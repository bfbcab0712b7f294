#include "core/sched/default_policy.h"

#include <algorithm>
#include <mutex>
#include <string>

#include "core/fatal.h"
#include "core/runtime_state.h"

namespace tartan::detail {

namespace {

color_queue& queue_of(strand_state& s) noexcept { return reinterpret_cast<color_queue&>(s); }

}  // namespace

runtime_state& runtime_of(strand_state& s) noexcept { return *static_cast<runtime_state*>(line_pool::owner_of(&s)); }

default_policy::default_policy(runtime_state& rt)
    : rt_{rt},
      life_{rt.life()},
      workers_{rt.workers()},
      batch_{std::min(rt.settings().batch, run_shortest_batch_events)},
      longest_batch_{rt.settings().batch},
      poll_level_{std::min(rt.settings().poll_priority, annotation::levels - 1)},
      mark_{rt.strand_mark()},
      stealing_{rt.settings().stealing && rt.workers() > 1},
      most_searchers_{std::max(2u, std::min(rt.workers(), rt.cpus().count()) / 2)},
      queues_{&rt},
      homes_{std::make_unique<home[]>(rt.workers())},
      watches_(rt.workers()) {
  forget_other_lines();
  default_color_ = &new_queue(queue_kind::permanent, 0, nullptr);
  default_color_->owner.store(0, std::memory_order_relaxed);
  for (unsigned n = 0; n < workers_; ++n) {
    homes_[n].index = n;
    watches_[n].others.resize(workers_);
  }
  set_victims();
  if (rt.settings().pin_default_color) homes_[0].pin = default_color_;
}

default_policy::~default_policy() {
  queues_.for_each_line([&](void* line) {
    const auto& q = *static_cast<color_queue*>(line);
    if (q.kind != queue_kind::strand || q.closing || q.in.look().is_closing()) return;
    const color own = raw_color::make(q.color_value);
    fatal({"a strand outlives its runtime: ", color_text(own, rt_.name_of(own)), "; the runtime was made at ",
           detail::place(rt_.made_at())});
  });
}

/// A test may replace a runtime's policy. The caches then hold lines of the first policy's pool, which ends with it.
void default_policy::forget_other_lines() noexcept {
  for (unsigned n = 0; n < workers_; ++n) life_.at(n).queue_lines = {};
  if (line_cache* const own = lines_of(nullptr)) *own = {};
}

/// The calling thread's free lines for color queues; null if it cannot have any.
line_cache* default_policy::lines_of(worker* from) noexcept {
  if (from != nullptr) return &from->queue_lines;
  guest* const g = rt_.guests().mine();
  return g != nullptr ? &g->queue_lines : nullptr;
}

color_queue& default_policy::new_queue(queue_kind kind, std::uint64_t value, worker* from) {
  line_cache* const lines = lines_of(from);
  for (;;) {
    void* const line = lines != nullptr ? queues_.allocate(*lines) : queues_.allocate_shared();
    // Not constructed anew: the inbox of a line keeps its generation, which late posts by value compare with.
    auto& q = *static_cast<color_queue*>(line);
    if (kind == queue_kind::strand && q.in.generation() == q.in.last_generation) continue;  // worn out: 64 bytes set aside
    q.head = nullptr;
    q.tail = nullptr;
    q.linked_next = nullptr;
    q.color_value = value;
    q.state = queue_state::idle;
    q.kind = kind;
    q.closing = false;
    q.linked_by = no_worker;
    q.sender = no_worker;
    q.visits = 0;
    q.was_sent = false;
    q.told = annotation{};
    q.chain = nullptr;
    return q;
  }
}

void default_policy::free_queue(color_queue& q, worker* from) noexcept {
  if (q.kind == queue_kind::strand && q.named) rt_.forget_name(raw_color::make(q.color_value));
  q.kind = queue_kind::free;
  if (line_cache* const lines = lines_of(from)) {
    queues_.release(*lines, &q);
  } else {
    queues_.release_shared(&q);
  }
}

/// Where a new color goes: to the worker that posts; from outside, to a worker that is awake, by hash.
unsigned default_policy::owner_for(std::uint64_t value, const worker* from) noexcept {
  if (from != nullptr) return from->index;
  if (workers_ == 1) return 0;
  const auto first = static_cast<unsigned>(mix(value) % workers_);
  for (unsigned n = 0; n < post_most_asked_workers && n < workers_; ++n) {
    const unsigned candidate = (first + n) % workers_;
    if (!life_.sleepers().is_asleep(candidate)) return candidate;
  }
  return first;
}

strand_state* default_policy::new_strand(worker* from, bool named) {
  color_queue& q = new_queue(queue_kind::strand, 0, from);
  q.color_value = strand_bit | (q.in.generation() << line_bits) | mark_ | line_pool::number_of(&q);
  q.named = named;
  // release: the new generation; pairs with post_if of a late post to the last one
  q.owner.store(owner_for(q.color_value, from), std::memory_order_release);
  return reinterpret_cast<strand_state*>(&q);
}

strand_state* default_policy::open_strand(worker* from, bool named) {
  if (from != nullptr) return new_strand(from, named);
  {
    const guests::posting in_gate{rt_.guests()};
    if (!life_.over()) return new_strand(nullptr, named);
  }
  const std::lock_guard hold{late_lock_};
  return new_strand(nullptr, named);
}

/// By the owner. False: it has to go by the inbox.
bool default_policy::close_owned(worker& from, color_queue& q) noexcept {
  const closed outcome = homes_[from.index].close(q);
  if (outcome == closed::retired) free_queue(q, &from);
  return outcome != closed::refused;
}

/// The strand's handle is gone: what was posted still runs, then the color queue is freed by the worker that finds it empty.
void default_policy::close_strand(strand_state& s, worker* from) noexcept {
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

color default_policy::color_of(const strand_state& s) const noexcept {
  return raw_color::make(reinterpret_cast<const color_queue&>(s).color_value);
}

void default_policy::place(strand_state& s, unsigned worker_index) noexcept {
  color_queue& q = queue_of(s);
  const unsigned owner = q.owner.load(std::memory_order_acquire);
  if (owner == worker_index) return;
  while (homes_[owner].lock.try_enter_as_thief(false) == thief_entry::refused) std::this_thread::yield();
  homes_[owner].give(q, worker_index);
  homes_[owner].lock.leave_as_thief();
}

std::size_t default_policy::waiting(unsigned worker_index) const noexcept { return homes_[worker_index].waiting(); }

bool default_policy::any_left() noexcept {
  for (unsigned n = 0; n < workers_; ++n) {
    if (homes_[n].has_work()) return true;
  }
  return false;
}

namespace {

/// Gives whether there was any; adds those that a drain counts.
bool drop_events(color_queue& q, std::size_t& counted) noexcept {
  bool any = false;
  auto& rt = *static_cast<runtime_state*>(line_pool::owner_of(&q));
  while (event* e = q.take()) {
    any = true;
    counted += destroy_left_event(rt, *e);
  }
  return any;
}

}  // namespace

/// While foreign threads may still open strands, which they do until the runtime is destroyed.
queue_kind default_policy::kind_of(const color_queue& q) noexcept {
  const std::lock_guard hold{late_lock_};
  return q.kind;
}

std::size_t default_policy::drop_all() noexcept {
  std::size_t dropped = 0;
  for (bool again = true; again;) {  // a callable that is destroyed may close strands
    again = false;
    for (unsigned n = 0; n < workers_; ++n) {
      while (homes_[n].pop() != nullptr) again = true;
      while (color_queue* const q = homes_[n].posted.take()) {
        q->in.unlink();
        again = true;
      }
    }
    table_.clear();
    queues_.for_each_line([&](void* line) {
      auto& q = *static_cast<color_queue*>(line);
      if (kind_of(q) == queue_kind::free) return;
      q.state = queue_state::running;  // a strand that its own event holds must not be freed under our feet
      again = drop_events(q, dropped) || again;
      q.state = queue_state::idle;
      const bool finished = q.kind == queue_kind::by_value || q.kind == queue_kind::unordered ||
                            (q.kind == queue_kind::strand && (q.closing || q.in.look().is_closing()));
      if (finished && q.in.retire()) free_queue(q, nullptr);
    });
  }
  return dropped;
}

}  // namespace tartan::detail
