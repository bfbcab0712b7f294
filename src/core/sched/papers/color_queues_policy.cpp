#include "core/sched/papers/color_queues_policy.h"

#include <mutex>
#include <new>

#include "core/sched/core_distance.h"

namespace tartan::detail {

namespace {

constexpr unsigned batch = 10;  // Mely, V.A
constexpr std::uint32_t unknown_cost_ns = 1'000;

}  // namespace

color_queues_policy::color_queues_policy(runtime_state& rt, const scheduler_choice& choice)
    : per_core_policy{rt, choice, color_homes<real_memory, task>::rules{.time_left = choice.time_left, .pinned = rt.settings().pin_default_color}},
      penalty_{choice.penalty},
      penalties_{choice.measured_penalty ? std::make_unique<handler_penalties>() : nullptr} {
  if (choice.locality) victims_ = nearest_first(rt.cpus().in_turn(workers_));  // as if they were bound
}

/// As large as a task, and from the same memory. Ends the program if there is none.
class_queue* color_queues_policy::new_queue(line_cache* lines, color where, const event& what) noexcept {
  try {
    return new (memory_.make(lines)) class_queue;
  } catch (const std::bad_alloc&) {
    no_queue_memory(where, what);
  }
}

void color_queues_policy::free_queue(class_queue* q, line_cache* lines) noexcept {
  if (q != nullptr) memory_.free(reinterpret_cast<task*>(q), lines);
}

/// What a task adds to its queue's cumulative time (Mely, III.B and III.C). Cut to whole ns: rounded up, many that are worth next to nothing
/// would be worth a steal.
std::uint32_t color_queues_policy::worth_of(const task& t) const noexcept {
  const std::uint32_t cost_ns = t.cost_ns != 0 ? t.cost_ns : unknown_cost_ns;
  if (penalties_ != nullptr) return penalties_->of(*t.what).worth_of(cost_ns);
  return penalty_ && t.penalty != 0 ? cost_ns / t.penalty : cost_ns;
}

void color_queues_policy::submit(color where, event& e, worker* from) noexcept {
  line_cache* const lines = lines_of(from);
  task* const t = new_task(memory_, lines, where, e, class_of(where));
  t->cost_ns = worth_of(*t);
  const auto posted = homes_.post(*t, [&] { return new_queue(lines, where, e); });
  free_queue(posted.spare, lines);
  tell(posted.owner, from);
}

/// With the lock held.
void color_queues_policy::queue_select(color_home<real_memory, task, color_traits>& own) noexcept {
  class_queue* none = nullptr;  // class 0 needs no other
  homes_.insert(own, select_.in_queue(), none);
}

/// One task of the running color queue. False: there is none, or it was a look, which ends the batch.
bool color_queues_policy::run_next(worker& w) {
  task* const t = homes_.next(w.index);
  if (t == nullptr) return false;
  took_task(w);
  if (t->what != nullptr) {
    run_and_learn(w, *t);
    return true;
  }
  const bool posted = select_task::look(life_, w);
  auto& own = homes_.at(w.index);
  const std::lock_guard hold{own.lock};
  select_.looked(posted);
  if (posted) queue_select(own);
  return false;
}

void color_queues_policy::run_and_learn(worker& w, task& t) {
  if (penalties_ == nullptr) return static_cast<void>(run_task(w, t));
  handler_times& handler = penalties_->of(*t.what);  // before it runs: then it is gone
  const run_time ran = run_task(w, t, w.events.get() % handler_penalties::timed_one_in == 0);
  if (ran.took_ns != 0) handler.learn(ran.took_ns, ran.is_stolen);
}

bool color_queues_policy::turn(worker& w) {
  const auto wake_select = [&](auto& own) {
    if (wakes_select(w)) queue_select(own);
  };
  if (!homes_.begin(w.index, wake_select)) return false;
  for (unsigned n = 0; n < batch && run_next(w); ++n) {
  }
  free_queue(homes_.end(w.index), &w.queue_lines);
  return true;
}

task* color_queues_policy::drop_one(unsigned worker_index) noexcept {
  const auto [t, emptied] = homes_.drop(worker_index);
  free_queue(emptied, nullptr);
  return t;
}

}  // namespace tartan::detail
