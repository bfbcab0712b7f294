#include "core/sched/papers/per_worker_policy.h"

namespace tartan::detail {

namespace {

constexpr unsigned events_per_turn = 16;

}  // namespace

per_worker_policy::per_worker_policy(runtime_state& rt, const scheduler_choice& choice)
    : per_core_policy{rt, choice, rt.settings().pin_default_color}, first_{choice.first} {}

void per_worker_policy::submit(color where, event& e, worker* from) noexcept {
  tell(homes_.post(*new_task(memory_, lines_of(from), where, e, class_of(where))), from);
}

/// One task of its own queue. False: there is none.
bool per_worker_policy::run_next(worker& w) {
  task* const t = homes_.next(w.index, first_, [&](auto& own) {
    if (!wakes_select(w)) return;
    select_.in_queue().right = true;
    homes_.insert(own, select_.in_queue());
  });
  if (t == nullptr) return false;
  took_task(w);
  if (t->what != nullptr) {
    run_task(w, *t);
    return true;
  }
  const bool posted = select_task::look(life_, w);
  homes_.end(w.index, [&](auto& own) {
    select_.looked(posted);
    if (posted) homes_.insert(own, *t);
  });
  return true;
}

bool per_worker_policy::turn(worker& w) {
  unsigned ran = 0;
  while (ran < events_per_turn && run_next(w)) ++ran;
  if (ran == events_per_turn) homes_.end(w.index, [](auto&) {});
  return ran != 0;
}

}  // namespace tartan::detail
