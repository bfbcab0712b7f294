#include "core/sched/default_runner.h"

#include <algorithm>

#include "core/clock.h"
#include "core/tuning.h"

namespace tartan::detail {

default_runner::default_runner(default_state& shared, default_poster& poster, default_giver& giver)
    : default_part{shared},
      poster_{poster},
      giver_{giver},
      batch_{std::min(shared.rt.settings().batch, run_shortest_batch_events)},
      longest_batch_{shared.rt.settings().batch},
      poll_level_{std::min(shared.rt.settings().poll_priority, annotation::levels - 1)},
      notes_(shared.workers) {}

/// Whether a turn has still to come to an event that was there when it began.
class default_runner::backlog {
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

/// Looks outside, unless a color of a higher priority waits: then one time in 16.
void default_runner::look(worker& w) {
  w.credits = events_between_looks;
  unsigned& put_off = notes_[w.index].looks_put_off;
  const auto& urgent = homes_[w.index].urgent;
  if (urgent.size() != 0 && urgent.has_above(poll_level_) && ++put_off % urgent.picks_per_bypass != 0) return;
  put_off = 0;
  w.passes_over = urgent.size() != 0;
  life_.look(w);
  w.passes_over = false;
  if (stealing_ && homes_[w.index].queue.size() >= run_long_line_colors) [[unlikely]] giver_.even_out(w, real_now_ns());
}

/// Puts back the color queue that has run, and takes the next one, which is then running.
[[gnu::always_inline]] inline color_queue* default_runner::next(home& h, color_queue* done) noexcept {
  color_queue* strays = nullptr;
  color_queue* const q = h.next(done, strays);
  if (strays != nullptr) [[unlikely]] poster_.forward(strays);
  if (q != nullptr) poster_.after_pop(h);
  return q;
}

/// Ends the events of a color. Within a turn the next color's run_batch overwrites the fields instead, so that a color costs one
/// store of each.
void default_runner::step_out(worker& w) noexcept {
  w.in_event = false;
  write_whole(w.running, color{});
  w.running_queue = nullptr;
}

/// Runs up to `most` events of a color, which is in state running. step_out() is left to the caller.
///
/// Not inlined: otherwise each turn would save the registers that the exception handler needs.
[[gnu::noinline]] void default_runner::run_batch(worker& w, color_queue& q, backlog& seen, unsigned most) {
  w.running_queue = &q;
  write_whole(w.running, raw_color::make(q.color_value));
  w.in_event = true;
  const bool was_sent = q.was_sent;
  const std::uint64_t begin = was_sent ? real_now_ns() : 0;
  unsigned left = most;
  do {
    try {
      left = run_events(w, q, seen, left);
      break;
    } catch (...) {
      rt_.escaped(w.running, w.site);
      left = w.left_in_batch.load(std::memory_order_relaxed);
    }
  } while (left != 0);
  const unsigned ran = most - left;
  w.credits -= static_cast<int>(ran);
  w.events.add(ran);
  if (was_sent) q.note_visit(real_now_ns() - begin < run_short_visit_ns);
  w.turns.add();
}

/// Runs events until the color has none, or `left` of them have run. Returns how many are left of the batch; if an event throws,
/// `left_in_batch` says so.
[[gnu::always_inline]] inline unsigned default_runner::run_events(worker& w, color_queue& q, backlog& seen, unsigned left) {
  /// Frees the event's line even if the event throws.
  struct end_of_event {
    line_pool& pool;
    line_cache& cache;
    event* pooled;
    ~end_of_event() {
      if (pooled != nullptr) pool.release(cache, pooled);
    }
  };
  line_pool& pool = rt_.events();
  do {
    event* const e = q.take();
    if (e == nullptr) {
      seen.clear();
      break;
    }
    seen.took(*e);
    const event_ops* const ops = e->ops;
    write_whole(w.site, e->site);
    // The stall watch tells events apart by this number. release: color and site belong to it; pairs with the watch's look, which
    // reports each number once
    w.left_in_batch.store(--left, std::memory_order_release);
    w.inline_left = sleep_control::inline_completions;
    const end_of_event end{pool, w.event_lines, ops->pooled ? e : nullptr};
    ops->run(*e);
  } while (left != 0);
  return left;
}

/// A color whose turn began with more events than a batch goes on with those. A hot color and the colors behind it are then
/// served about in the order in which their events came, as from one queue. The colors that wait meanwhile move to shorter lines.
///
/// Cost: a look at the clock for each batch of events, and one at the other workers' lines.
[[gnu::noinline]] void default_runner::serve_backlog(worker& w, color_queue& q, backlog& seen) {
  home& h = homes_[w.index];
  const std::uint64_t begin = real_now_ns();
  if (stealing_) giver_.make_room(w, begin);
  for (unsigned served = batch_; seen.is_left() && served < longest_batch_; served += batch_) {
    if (h.urgent.size() != 0 && h.urgent.has_above(static_cast<annotation>(q.told).level())) return;
    if (w.credits <= 0) {
      if (life_.leaving(w)) return;  // and the turn ends as well, for there are no credits
      if (w.deferred_deadline != never_ns) life_.publish_deferred(w);
      look(w);
      // Colors that the look has made runnable wait behind the next event, which may be a long one (covered).
      if (h.has_loot()) poster_.after_local(h);
    }
    run_batch(w, q, seen, std::min(batch_, longest_batch_ - served));
    step_out(w);
    ++w.more_batches;
    h.lock.answer();  // each batch counts as a turn, at which thieves expect it
    if (real_now_ns() - begin >= run_longest_turn_ns) return;
  }
}

/// After a batch, without the lock: frees the color queue, which is still in state running, if nobody needs it any more.
[[gnu::always_inline]] inline bool default_runner::ended(worker& w, color_queue& q) noexcept {
  if (q.kind == queue_kind::strand) [[likely]] {
    if (!q.retire_if_closed()) [[likely]] return false;
  } else if (q.kind == queue_kind::by_value) {
    if (q.has_events() || !queues_.table().remove_if_untouched(q)) return false;
  } else {
    if (q.kind != queue_kind::unordered || !q.in.look().untouched()) return false;
  }
  queues_.free(q, &w);
  return true;
}

bool default_runner::turn(worker& w) {
  home& h = homes_[w.index];
  if (w.credits <= 0) look(w);
  color_queue* q = next(h, nullptr);
  if (q == nullptr) return false;
  life_.found_work(w);
  w.poster = &poster_;
  w.in_turn.store(true, std::memory_order_relaxed);
  do {
    backlog seen{q->newest()};
    const std::uint64_t pushed = h.queue.pushed();
    run_batch(w, *q, seen, batch_);
    if (seen.is_left() && batch_ < longest_batch_) [[unlikely]] {
      step_out(w);
      serve_backlog(w, *q, seen);
    }
    color_queue* const left = ended(w, *q) ? nullptr : q;
    if (h.queue.pushed() != pushed || (left != nullptr && left->head != nullptr)) w.follow_ups.add();
    if (w.deferred_deadline != never_ns) [[unlikely]] life_.publish_deferred(w);
    if (w.credits <= 0) {
      if (left != nullptr) h.put_back(*left);
      break;
    }
    q = next(h, left);
  } while (q != nullptr);
  step_out(w);
  w.in_turn.store(false, std::memory_order_relaxed);
  return true;
}

}  // namespace tartan::detail
