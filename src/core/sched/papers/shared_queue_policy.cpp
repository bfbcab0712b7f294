#include "core/sched/papers/shared_queue_policy.h"

#include <mutex>
#include <new>

namespace tartan::detail {

namespace {

constexpr unsigned events_per_turn = 16;

}  // namespace

shared_queue_policy::shared_queue_policy(runtime_state& rt, const scheduler_choice& choice)
    : paper_policy{rt},
      first_{choice.first},
      pinned_{rt.settings().pin_default_color},
      figures_{choice.figures},
      memory_{&rt, false},
      frequencies_{choice.most_frequent ? std::make_unique<color_frequencies>() : nullptr},
      seats_{std::make_unique<seat[]>(rt.workers())} {
  if (figures_) lock_.count_time();
}

scheduler_figures shared_queue_policy::figures() const noexcept {
  if (!figures_) return {};
  return {.counted = true, .lock_wait_ns = lock_.waited_ns(), .lock_held_ns = lock_.held_ns(), .longest_queue = longest_};
}

void shared_queue_policy::submit(color where, event& e, worker* from) noexcept {
  task* const t = new_task(memory_, nullptr, where, e, static_cast<std::uint32_t>(where.value() % classes));
  {
    const std::lock_guard hold{lock_};
    try {
      put(*t);
    } catch (const std::bad_alloc&) {
      no_queue_memory(where, e);
    }
    const std::size_t now = size_.load(std::memory_order_relaxed) + 1;
    size_.store(now, std::memory_order_release);  // pairs with any_left
    if (now > longest_) longest_ = now;
  }
  if (is_told(from)) return;
  if (pinned_ && where == color{}) return life_.summon(0, from);
  // As in the thesis: a byte into each pipe. Who finds nothing that may run sleeps again.
  for (unsigned n = 0; n < workers_; ++n) {
    if (life_.sleepers().is_asleep(n)) life_.wake(n, from);
  }
}

/// Whether no other worker runs its color, and this one may.
bool shared_queue_policy::may_run(const task& t, const worker& w) const noexcept {
  if (t.color_value == color::unordered.value()) return true;
  if (pinned_ && t.color_value == 0 && w.index != 0 && t.what != nullptr) return false;
  for (unsigned n = 0; n < workers_; ++n) {
    if (seats_[n].running == t.color_value) return false;
  }
  return true;
}

/// The first one in the queue, from the left, of which that is true; with most-frequent, of those that come first in their color. Null: none.
template <class F>
task* shared_queue_policy::first_that(F is_it) const {
  if (frequencies_ != nullptr) return frequencies_->first_that(is_it);
  for (task* t = queue_.front(); t != nullptr; t = t->next) {
    if (is_it(*t)) return t;
  }
  return nullptr;
}

bool shared_queue_policy::any_may_run(const worker& w) const noexcept {
  return first_that([&](const task& t) { return may_run(t, w); }) != nullptr;
}

/// `more`: there is one for another worker, too.
task* shared_queue_policy::pick(const worker& w, bool& more) noexcept {
  if (frequencies_ != nullptr) return pick_most_frequent(w, more);
  weighed_pick choice{first_, seats_[w.index].last};
  for (task* t = queue_.front(); t != nullptr; t = t->next) {
    if (may_run(*t, w) && !choice.show(*t)) break;
  }
  more = choice.colors() > 1;
  return choice.best();
}

/// Passes no more colors than run, and one that is pinned.
task* shared_queue_policy::pick_most_frequent(const worker& w, bool& more) noexcept {
  task* best = nullptr;
  const auto is_second = [&](task& t) {
    if (!may_run(t, w)) return false;
    if (best != nullptr) return true;
    best = &t;
    return false;
  };
  more = frequencies_->first_that(is_second) != nullptr;
  return best;
}

/// Errors: std::bad_alloc, with most-frequent.
void shared_queue_policy::put(task& t) {
  if (frequencies_ != nullptr) return frequencies_->append(t);
  // no-overtaking: one of its color may wait there. Nothing waits for an unordered one, nor it for anything.
  if (t.color_value != color::unordered.value()) t.right = t.right || right_[t.color_class] != 0;
  if (t.right) ++right_[t.color_class];
  queue_.append(t);
}

void shared_queue_policy::take(task& t) noexcept {
  if (frequencies_ != nullptr) {
    frequencies_->remove(t);
  } else {
    queue_.remove(t);
    if (t.right) --right_[t.color_class];
  }
  if (t.what != nullptr) size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

/// The select task is queued again, if it is time: who was to block for it has rested, or all together have run 64 events since it looked.
void shared_queue_policy::wake_select(const worker& w) noexcept {
  const unsigned blocks = blocks_.load(std::memory_order_relaxed);
  if (blocks != nobody && blocks != w.index) return;  // readiness wakes that one, and once awake it comes here itself
  const bool rested = blocks == w.index && select_.has_rested(w);
  if (blocks == w.index) blocks_.store(nobody, std::memory_order_relaxed);
  if (select_.is_polling() || (!rested && events_since_look_ < events_between_looks)) return;
  select_.polls_again();
  queue_select();
}

void shared_queue_policy::queue_select() noexcept {
  task& t = select_.in_queue();
  t.right = true;
  put(t);
}

/// The blocking form runs only where it is the only callback in the queue, and nothing else of color 0 runs.
bool shared_queue_policy::may_block() const noexcept {
  if (select_.is_polling() || blocks_.load(std::memory_order_relaxed) != nobody || !is_queue_empty()) return false;
  for (unsigned n = 0; n < workers_; ++n) {
    if (seats_[n].running == 0) return false;
  }
  return true;
}

/// One task. False: there is none that this worker may run.
bool shared_queue_policy::run_next(worker& w) {
  seat& own = seats_[w.index];
  task* t = nullptr;
  bool more = false;
  {
    const std::lock_guard hold{lock_};
    wake_select(w);
    t = pick(w, more);
    if (t == nullptr) return false;
    take(*t);
    events_since_look_ = t->what == nullptr ? 0 : events_since_look_ + 1;
    own.running = t->color_value;
    own.last = t->color_value == color::unordered.value() ? no_color : t->color_value;
  }
  life_.found_work(w);
  if (more && life_.sleepers().view().sleeping() != 0) life_.wake_any(&w);
  if (t->what == nullptr) {
    end_look(w, select_task::look(life_, w));
    return true;
  }
  event& e = *t->what;
  const std::uint64_t color_value = t->color_value;
  memory_.free(t, nullptr);
  run_event(w, e, color_value);
  const std::lock_guard hold{lock_};
  own.running = no_color;
  return true;
}

/// It has run as an event of color 0, and kept off worker 0 what only that may run.
void shared_queue_policy::end_look(worker& w, bool posted) noexcept {
  bool waits = false;
  {
    const std::lock_guard hold{lock_};
    waits = pinned_ && w.index != 0 && first_that([](const task& t) { return t.color_value == 0; }) != nullptr;
    seats_[w.index].running = no_color;
    select_.looked(posted);
    if (posted) queue_select();
  }
  if (waits) life_.summon(0, &w);
}

bool shared_queue_policy::turn(worker& w) {
  bool any = false;
  for (unsigned n = 0; n < events_per_turn && run_next(w); ++n) any = true;
  return any;
}

/// No spinning: in the thesis an idle worker sleeps at once. Who may block takes the blocking form, and gives it back at its next pick
/// (wake_select): so nobody else need look at it. If none may, one is awake who will come here, or take what others wait beside: who runs
/// color 0, or what keeps a task from running; or who has the select task.
bool shared_queue_policy::search(worker& w) {
  if (life_.hurried(w) ? life_.look(w) : life_.look_at_timers()) return true;
  const std::lock_guard hold{lock_};
  if (any_may_run(w)) return true;
  if (may_block()) {
    select_.blocks_with(w);
    blocks_.store(w.index, std::memory_order_relaxed);
  }
  return false;
}

void shared_queue_policy::cover(worker& w) noexcept {
  bool some = false;
  bool pinned_one = false;
  {
    const std::lock_guard hold{lock_};
    const auto is_some = [&](const task& t) {
      pinned_one = pinned_one || (pinned_ && t.color_value == 0);
      return may_run(t, w);
    };
    some = first_that(is_some) != nullptr;
  }
  if (some) life_.wake_any(&w);
  if (pinned_one && w.index != 0) life_.summon(0, &w);
}

/// What ran while this worker searched may have kept it from blocking, and have ended without a search of its own: then it searches again.
work_seen shared_queue_policy::sources(const worker& w) noexcept {
  const std::lock_guard hold{lock_};
  return any_may_run(w) || may_block() ? work_seen::found : work_seen::none;
}

std::size_t shared_queue_policy::waiting(unsigned worker_index) const noexcept {
  return worker_index == 0 ? size_.load(std::memory_order_relaxed) : 0;
}

std::size_t shared_queue_policy::drop_all() noexcept {
  std::size_t dropped = 0;
  for (;;) {
    task* t = nullptr;
    {
      const std::lock_guard hold{lock_};
      t = first_that([](const task& /*any*/) { return true; });
      if (t == nullptr) return dropped;
      take(*t);
    }
    dropped += drop(*t, memory_, select_);
  }
}

}  // namespace tartan::detail
