/// Running events, by the default scheduler.

#include <algorithm>

#include "core/clock.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/default_policy.h"

namespace tartan::detail {

namespace {

/// A visit to another worker that is so short costs less than the way there: a few cache lines and perhaps a wake-up.
constexpr std::uint64_t short_visit_ns = 2'000;

/// A color with a long backlog is served for so long at most, so that who is posted to meanwhile waits no longer: half of contract 7's 1 ms.
constexpr std::uint64_t longest_turn_ns = 500'000;

/// Colors in a line from which on it is compared with the others.
constexpr std::uint32_t long_line = 64;

}  // namespace

/// Whether a turn has still to come to an event that was there when it began.
class default_policy::backlog {
 public:
  explicit backlog(const event* newest) noexcept : newest_{newest} {}
  [[nodiscard]] bool is_left() const noexcept { return newest_ != nullptr; }
  void took(const event& e) noexcept {
    if (&e == newest_) newest_ = nullptr;
  }
  void clear() noexcept { newest_ = nullptr; }

 private:
  const event* newest_;
};

bool default_policy::turn(worker& w) {
  home& h = homes_[w.index];
  if (w.credits <= 0) look(w);
  color_queue* q = next(h, nullptr);
  if (q == nullptr) return false;
  life_.found_work(w);
  w.in_turn.store(true, std::memory_order_relaxed);
  while (q != nullptr) {
    backlog seen{q->newest()};
    run_batch(w, *q, seen, batch_);
    if (seen.is_left() && batch_ < longest_batch_) [[unlikely]] serve_backlog(w, *q, seen);
    color_queue* const left = ended(w, *q) ? nullptr : q;
    if (w.deferred_deadline != never_ns) life_.publish_deferred(w);
    if (w.credits <= 0) {
      if (left != nullptr) h.put_back(*left);
      break;
    }
    q = next(h, left);
  }
  w.in_turn.store(false, std::memory_order_relaxed);
  return true;
}

/// Looks outside, unless what is more urgent than that waits: then one time in 16.
void default_policy::look(worker& w) {
  w.credits = lifecycle::events_between_looks;
  unsigned& put_off = watches_[w.index].looks_put_off;
  const auto& urgent = homes_[w.index].urgent;
  if (urgent.size() != 0 && urgent.has_above(poll_level_) && ++put_off % urgent.picks_per_bypass != 0) return;
  put_off = 0;
  w.passes_over = urgent.size() != 0;
  life_.look(w);
  w.passes_over = false;
  if (stealing_ && homes_[w.index].queue.size() >= long_line) [[unlikely]] even_out(w, real_now_ns());
}

/// Puts back what has run, and takes the next color queue, now running.
color_queue* default_policy::next(home& h, color_queue* done) noexcept {
  color_queue* strays = nullptr;
  color_queue* const q = h.next(done, strays);
  if (strays != nullptr) [[unlikely]] forward(strays);
  // Its first event may be a long one: somebody must be there for the others (covered).
  if (q != nullptr && h.has_loot()) after_local(h);
  return q;
}

/// Without a lock: what was linked to the wrong worker goes to the right one, with all that a link owes, in nobody's name: it is no visit.
void default_policy::forward(color_queue* chain) noexcept {
  while (chain != nullptr) {
    color_queue* const q = chain;
    chain = q->linked_next;
    link(*q, nullptr);
  }
}

void default_policy::run_batch(worker& w, color_queue& q, backlog& seen, unsigned most) {
  w.running_queue = &q;
  w.running = raw_color::make(q.color_value);
  w.in_event = true;
  w.running_color.store(q.color_value, std::memory_order_relaxed);
  const std::uint64_t begin = q.was_sent ? real_now_ns() : 0;
  w.left_in_batch.store(most, std::memory_order_relaxed);
  while (w.left_in_batch.load(std::memory_order_relaxed) != 0) {
    try {
      if (!run_events(w, q, seen)) break;
    } catch (...) {
      rt_.escaped(w.running, w.site);
    }
  }
  const unsigned done = most - w.left_in_batch.load(std::memory_order_relaxed);
  w.credits -= static_cast<int>(done);
  w.events.add(done);
  if (q.was_sent) q.note_visit(real_now_ns() - begin < short_visit_ns);
  w.in_event = false;
  w.running = color{};
  w.running_queue = nullptr;
  w.turns.add();
}

/// Runs events until none is left in the batch. False: there were no more.
bool default_policy::run_events(worker& w, color_queue& q, backlog& seen) {
  /// Frees also if the event throws.
  struct end_of_event {
    line_pool& pool;
    line_cache& cache;
    event* pooled;
    ~end_of_event() {
      if (pooled != nullptr) pool.release(cache, pooled);
    }
  };
  line_pool& pool = rt_.events();
  while (const std::uint32_t left = w.left_in_batch.load(std::memory_order_relaxed)) {
    event* const e = q.take();
    if (e == nullptr) {
      seen.clear();
      return false;
    }
    seen.took(*e);
    const event_ops* const ops = e->ops;
    w.site = e->site;
    w.running_site.store(e->site, std::memory_order_relaxed);
    // The stall watch tells events apart by it. release: whose it is; pairs with the watch's look, which reports each number once
    w.left_in_batch.store(left - 1, std::memory_order_release);
    w.inline_left = lifecycle::inline_completions;
    const end_of_event end{pool, w.event_lines, ops->pooled ? e : nullptr};
    ops->run(*e);
  }
  return true;
}

/// A color whose turn began with more events than a batch goes on with those: so a hot color, and whom it makes wait, are served in the
/// order in which events came, as from one queue, and not color by color. Others that wait here meanwhile go where the line is shorter.
///
/// Cost: a look at the clock for each batch of events, and one at the other workers' lines.
[[gnu::noinline]] void default_policy::serve_backlog(worker& w, color_queue& q, backlog& seen) {
  home& h = homes_[w.index];
  const std::uint64_t begin = real_now_ns();
  if (stealing_) make_room(w, begin);
  for (unsigned served = batch_; seen.is_left() && served < longest_batch_; served += batch_) {
    if (h.urgent.size() != 0 && h.urgent.has_above(static_cast<annotation>(q.told).level())) return;
    if (w.credits <= 0) {
      if (life_.leaving(w)) return;  // and the turn ends as well, for there are no credits
      if (w.deferred_deadline != never_ns) life_.publish_deferred(w);
      look(w);
      // What the look has made runnable waits behind the next event, which may be a long one (covered).
      if (h.has_loot()) after_local(h);
    }
    run_batch(w, q, seen, std::min(batch_, longest_batch_ - served));
    ++w.more_batches;
    h.lock.answer();  // each batch counts as a turn, at which thieves expect it
    if (real_now_ns() - begin >= longest_turn_ns) return;
  }
}

/// After a batch, without the lock: frees a color queue that nobody needs any more. Still in state running.
[[gnu::always_inline]] inline bool default_policy::ended(worker& w, color_queue& q) noexcept {
  switch (q.kind) {
    case queue_kind::by_value:
      if (q.has_events() || !table_.remove_if_untouched(q)) return false;
      break;
    case queue_kind::unordered:
      if (!q.in.look().untouched()) return false;
      break;
    case queue_kind::strand:
      if (!q.retire_if_closed()) return false;
      break;
    default:
      return false;
  }
  free_queue(q, &w);
  return true;
}

}  // namespace tartan::detail
