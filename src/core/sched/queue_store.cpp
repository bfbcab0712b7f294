#include "core/sched/queue_store.h"

#include <mutex>

#include "core/fatal.h"
#include "core/sleep/sleep_control.h"
#include "core/runtime_state.h"
#include "core/sched/no_queue_memory.h"
#include "core/tuning.h"

namespace tartan::detail {

runtime_state& runtime_of(strand_state& s) noexcept { return *static_cast<runtime_state*>(line_pool::owner_of(&s)); }

queue_store::queue_store(runtime_state& rt)
    : rt_{rt}, life_{rt.sleep()}, workers_{rt.workers()}, mark_{rt.strand_mark()}, lines_{&rt} {
  forget_other_lines();
  default_color_ = &make(queue_kind::permanent, 0, nullptr);
  default_color_->owner.store(0, std::memory_order_relaxed);
}

queue_store::~queue_store() {
  lines_.for_each_line([&](void* line) {
    const auto& q = *static_cast<color_queue*>(line);
    if (q.kind != queue_kind::strand || q.closing || q.in.look().is_closing()) return;
    const color own = raw_color::make(q.color_value);
    fatal({"a strand outlives its runtime: ", color_text(own, rt_.name_of(own)), "; the runtime was made at ",
           place(rt_.made_at())});
  });
}

/// A test may replace a runtime's policy. The caches then hold lines of the first policy's pool, which ends with it.
void queue_store::forget_other_lines() noexcept {
  for (unsigned n = 0; n < workers_; ++n) life_.at(n).queue_lines = {};
  if (line_cache* const own = lines_of(nullptr)) *own = {};
}

line_cache* queue_store::lines_of(worker* from) noexcept {
  if (from != nullptr) return &from->queue_lines;
  guest* const g = rt_.guests().mine();
  return g != nullptr ? &g->queue_lines : nullptr;
}

color_queue& queue_store::make(queue_kind kind, std::uint64_t value, worker* from) {
  line_cache* const lines = lines_of(from);
  for (;;) {
    void* const line = lines != nullptr ? lines_.allocate(*lines) : lines_.allocate_shared();
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

void queue_store::free(color_queue& q, worker* from) noexcept {
  if (q.kind == queue_kind::strand && q.named) rt_.forget_name(raw_color::make(q.color_value));
  q.kind = queue_kind::free;
  if (line_cache* const lines = lines_of(from)) {
    lines_.release(*lines, &q);
  } else {
    lines_.release_shared(&q);
  }
}

/// A new color goes to the worker that posts; from outside, to a worker that is awake, by hash.
unsigned queue_store::owner_for(std::uint64_t value, const worker* from) noexcept {
  if (from != nullptr) return from->index;
  if (workers_ == 1) return 0;
  const unsigned there = life_.wanted();
  const auto first = static_cast<unsigned>(mix(value) % there);
  for (unsigned n = 0; n < post_most_asked_workers && n < there; ++n) {
    const unsigned candidate = (first + n) % there;
    if (!life_.sleepers().is_asleep(candidate)) return candidate;
  }
  return first;
}

color_queue& queue_store::make_for(queue_kind kind, color where, const event& e, worker* from) noexcept {
  try {
    return make(kind, where.value(), from);
  } catch (const std::bad_alloc&) {
    no_queue_memory(where, e);
  }
}

color_queue& queue_store::find_or_make(bucket_hold& bucket, color where, const event& e, worker* from,
                                       bool& crowded) noexcept {
  if (color_queue* const found = bucket.find(where.value(), crowded)) return *found;
  color_queue& q = make_for(queue_kind::by_value, where, e, from);
  // pairs with the acquire loads in home.h
  q.owner.store(owner_for(where.value(), from), std::memory_order_release);
  bucket.insert(q);
  return q;
}

color_queue& queue_store::make_unordered(const event& e, worker* from) noexcept {
  color_queue& q = make_for(queue_kind::unordered, color::unordered, e, from);
  // pairs with the acquire loads in home.h
  q.owner.store(owner_for(reinterpret_cast<std::uintptr_t>(&q), from), std::memory_order_release);
  return q;
}

strand_state* queue_store::make_strand(worker* from, bool named) {
  color_queue& q = make(queue_kind::strand, 0, from);
  q.color_value = strand_bit | (q.in.generation() << line_bits) | mark_ | line_pool::number_of(&q);
  q.named = named;
  // release: the new generation; pairs with post_if of a late post to the last one
  q.owner.store(owner_for(q.color_value, from), std::memory_order_release);
  return reinterpret_cast<strand_state*>(&q);
}

strand_state* queue_store::open_strand(worker* from, bool named) {
  if (from != nullptr) return make_strand(from, named);
  {
    const guests::posting in_gate{rt_.guests()};
    if (!life_.over()) return make_strand(nullptr, named);
  }
  const std::lock_guard hold{late_lock_};
  return make_strand(nullptr, named);
}

/// While foreign threads may still open strands, which they do until the runtime is destroyed.
queue_kind queue_store::kind_of(const color_queue& q) noexcept {
  const std::lock_guard hold{late_lock_};
  return q.kind;
}

namespace {

/// Gives whether there was any; adds those that a drain counts.
bool drop_events_of(color_queue& q, std::size_t& counted) noexcept {
  bool any = false;
  auto& rt = *static_cast<runtime_state*>(line_pool::owner_of(&q));
  while (event* e = q.take()) {
    any = true;
    counted += destroy_left_event(rt, *e);
  }
  return any;
}

}  // namespace

bool queue_store::drop_events(std::size_t& counted) noexcept {
  bool any = false;
  table_.clear();
  lines_.for_each_line([&](void* line) {
    auto& q = *static_cast<color_queue*>(line);
    if (kind_of(q) == queue_kind::free) return;
    q.state = queue_state::running;  // a strand that its own event holds must not be freed under our feet
    any = drop_events_of(q, counted) || any;
    q.state = queue_state::idle;
    const bool finished = q.kind == queue_kind::by_value || q.kind == queue_kind::unordered ||
                          (q.kind == queue_kind::strand && (q.closing || q.in.look().is_closing()));
    if (finished && q.in.retire()) free(q, nullptr);
  });
  return any;
}

}  // namespace tartan::detail
