#include "core/sched/papers/per_worker_policy.h"

#include <mutex>

#include "core/clock.h"

namespace tartan::detail {

namespace {

constexpr unsigned events_per_turn = 16;
/// How long a worker without work looks for some before it sleeps; the papers' spin for ever.
constexpr std::uint64_t search_ns = 50'000;

}  // namespace

per_worker_policy::per_worker_policy(runtime_state& rt, const scheduler_choice& choice)
    : paper_policy{rt},
      first_{choice.first},
      stealing_{choice.stealing && rt.workers() > 1},
      pinned_{rt.settings().pin_default_color},
      memory_{&rt, choice.free_lists},
      cores_{std::make_unique<core[]>(rt.workers())} {
  for (std::uint32_t n = 0; n < class_count; ++n) map_[n].store(n % workers_, std::memory_order_relaxed);
}

/// An unordered event gets the next class: there it may wait for others, but never for the default color.
std::uint32_t per_worker_policy::class_of(color where) noexcept {
  if (where != color::unordered) return static_cast<std::uint32_t>(where.value() % class_count);
  return 1 + last_unordered_.fetch_add(1, std::memory_order_relaxed) % (class_count - 1);
}

/// Gives whose it is, with the lock held: nobody else gets it then.
per_worker_policy::core& per_worker_policy::lock_owner_of(std::uint32_t color_class) noexcept {
  for (;;) {
    const unsigned owner = owner_of(color_class);
    core& found = cores_[owner];
    found.lock.lock();
    if (map_[color_class].load(std::memory_order_relaxed) == owner) return found;
    found.lock.unlock();
  }
}

void per_worker_policy::insert(core& into, task& t) noexcept {
  class_state& all = of_class_[t.color_class];
  t.right = t.right || all.right != 0;  // no-overtaking: one of its color may wait there
  into.queue.append(t);
  if (t.right) ++all.right;
  if (all.tasks++ == 0) into.classes.store(into.classes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  into.size.store(into.size.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // pairs with any_left
}

void per_worker_policy::remove(core& from, task& t) noexcept {
  class_state& all = of_class_[t.color_class];
  from.queue.remove(t);
  if (t.right) --all.right;
  if (--all.tasks == 0) from.classes.store(from.classes.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  from.size.store(from.size.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

void per_worker_policy::submit(color where, event& e, worker* from) noexcept {
  task* const t = new_task(memory_, lines_of(from), where, e, class_of(where));
  core& owner = lock_owner_of(t->color_class);
  insert(owner, *t);
  owner.lock.unlock();
  if (!is_told(from)) tell(static_cast<unsigned>(&owner - cores_.get()), from);
}

/// Something is queued there, and somebody sleeps.
void per_worker_policy::tell(unsigned owner, worker* from) noexcept {
  if (life_.sleepers().is_asleep(owner)) return life_.summon(owner, from);
  if (stealing_ && cores_[owner].classes.load(std::memory_order_relaxed) > 1) life_.wake_any(from);
}

/// Only between events of it.
void per_worker_policy::move_class_of(color where, unsigned worker_index) noexcept {
  const std::uint32_t moved = class_of(where);
  core& owner = lock_owner_of(moved);
  if (of_class_[moved].tasks == 0 && owner.running != moved && owner.arriving.load(std::memory_order_acquire) != moved) {
    map_[moved].store(worker_index, std::memory_order_release);  // pairs with owner_of
  }
  owner.lock.unlock();
}

task* per_worker_policy::pick(const core& own) const noexcept {
  weighed_pick choice{first_, own.last};
  for (task* t = own.queue.front(); t != nullptr && choice.show(*t); t = t->next) {
  }
  return choice.best();
}

/// One task of its own queue. False: there is none.
bool per_worker_policy::run_next(worker& w) {
  core& own = cores_[w.index];
  task* t = nullptr;
  bool more = false;
  {
    const std::lock_guard hold{own.lock};
    own.running = no_class;  // seen-before: who finds its class not running from now on has seen what the last event did
    if (map_[0].load(std::memory_order_relaxed) == w.index && select_.wakes_up(w)) {
      select_.in_queue().right = true;
      insert(own, select_.in_queue());
    }
    t = pick(own);
    if (t == nullptr) return false;
    remove(own, *t);
    own.running = t->color_class;
    own.last = t->color_value == color::unordered.value() ? no_color : t->color_value;
    more = stealing_ && own.classes.load(std::memory_order_relaxed) > 1;
  }
  life_.found_work(w);
  if (more && life_.sleepers().view().sleeping() != 0) life_.wake_any(&w);
  if (t->what == nullptr) {
    const bool posted = select_task::look(life_, w);
    const std::lock_guard hold{own.lock};
    own.running = no_class;
    select_.looked(posted);
    if (posted) insert(own, *t);
    return true;
  }
  event& e = *t->what;
  const std::uint64_t color_value = t->color_value;
  memory_.free(t, &w.queue_lines);
  run_event(w, e, color_value);
  return true;
}

bool per_worker_policy::turn(worker& w) {
  bool any = false;
  for (unsigned n = 0; n < events_per_turn && run_next(w); ++n) any = true;
  if (any) {
    core& own = cores_[w.index];
    const std::lock_guard hold{own.lock};
    own.running = no_class;
  }
  return any;
}

bool per_worker_policy::search(worker& w) {
  const core& own = cores_[w.index];
  summon_owners(&w);
  const std::uint64_t begin = real_now_ns();
  for (;;) {
    if (life_.leaving(w) || (life_.hurried(w) ? life_.look(w) : life_.look_at_timers())) return true;
    // acquire: pairs with insert
    if (own.size.load(std::memory_order_acquire) != 0 || (stealing_ && steal(w))) return true;
    // Who would block for readiness does so at once, if nobody is left who could make work.
    const bool last = life_.sleepers().view().sleeping() + 1 == workers_;
    if (last || life_.hurried(w) || real_now_ns() - begin >= search_ns) return false;
    for (int n = 0; n < 16; ++n) real_memory::relax();
  }
}

/// Victims: the fullest queue, then by number, round (Mely, II.B).
bool per_worker_policy::steal(worker& w) noexcept {
  unsigned fullest = 0;
  for (unsigned n = 1; n < workers_; ++n) {
    if (cores_[n].size.load(std::memory_order_relaxed) > cores_[fullest].size.load(std::memory_order_relaxed)) fullest = n;
  }
  for (unsigned n = 0; n < workers_; ++n) {
    const unsigned victim = (fullest + n) % workers_;
    if (victim != w.index && cores_[victim].classes.load(std::memory_order_relaxed) > 1 && steal_from(w, victim)) return true;
  }
  return false;
}

/// The first class, from the left, that does not run there and has less than half of the tasks.
std::uint32_t per_worker_policy::worth_taking(const core& victim) const noexcept {
  const std::uint32_t arriving = victim.arriving.load(std::memory_order_acquire);  // pairs with steal_from
  const std::size_t half = victim.size.load(std::memory_order_relaxed);
  for (const task* t = victim.queue.front(); t != nullptr; t = t->next) {
    const std::uint32_t c = t->color_class;
    if (c == victim.running || c == arriving || (pinned_ && c == 0)) continue;
    if (2 * std::size_t{of_class_[c].tasks} < half) return c;
  }
  return no_class;
}

per_worker_policy::loot per_worker_policy::take_class(core& victim, std::uint32_t which) noexcept {
  loot taken;
  task** left_end = &taken.left;
  task** right_end = &taken.right;
  taken.count = of_class_[which].tasks;
  std::uint32_t to_find = taken.count;
  for (task* t = victim.queue.front(); to_find != 0;) {
    task* const next = t->next;
    if (t->color_class == which) {
      victim.queue.remove(*t);
      task**& end = t->right ? right_end : left_end;
      t->next = nullptr;
      *end = t;
      end = &t->next;
      --to_find;
    }
    t = next;
  }
  victim.size.store(victim.size.load(std::memory_order_relaxed) - taken.count, std::memory_order_relaxed);
  victim.classes.store(victim.classes.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return taken;
}

/// Between the two locks the class is on its way: the map says that it is the thief's, so posts go there, but what was posted before has not
/// arrived. Nobody runs it meanwhile, for that is the thief; and nobody steals it from there, because of `arriving`.
bool per_worker_policy::steal_from(worker& w, unsigned victim_index) noexcept {
  core& victim = cores_[victim_index];
  core& own = cores_[w.index];
  loot taken;
  std::uint32_t which = no_class;
  {
    const std::lock_guard hold{victim.lock};
    if (victim.classes.load(std::memory_order_relaxed) < 2) return false;
    which = worth_taking(victim);
    if (which == no_class) return false;
    taken = take_class(victim, which);
    own.arriving.store(which, std::memory_order_release);  // pairs with worth_taking: whoever finds it there knows
    map_[which].store(w.index, std::memory_order_release); // pairs with owner_of
  }
  if (between_) between_();
  put_loot(own, which, taken);
  w.steals.add();
  w.stolen_colors.add();
  return true;
}

/// no-overtaking: what was posted since stands behind it, in each part.
void per_worker_policy::put_loot(core& into, std::uint32_t which, const loot& what) noexcept {
  const std::lock_guard hold{into.lock};
  const bool first = of_class_[which].tasks == what.count;  // nothing came meanwhile: to the end, as in the paper
  for (const task* const* list : {&what.left, &what.right}) {
    task* reversed = nullptr;
    for (task* t = const_cast<task*>(*list); t != nullptr;) {
      task* const next = t->next;
      if (first) {
        into.queue.append(*t);
      } else {
        t->next = reversed;
        reversed = t;
      }
      t = next;
    }
    while (reversed != nullptr) {
      task* const t = reversed;
      reversed = t->next;
      into.queue.prepend(*t);
    }
  }
  into.size.store(into.size.load(std::memory_order_relaxed) + what.count, std::memory_order_release);  // pairs with any_left
  into.classes.store(into.classes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  into.arriving.store(no_class, std::memory_order_release);
}

/// What came while nobody ran has woken nobody.
void per_worker_policy::summon_owners(const worker* but) noexcept {
  if (life_.sleepers().view().paused()) return;
  for (unsigned n = 0; n < workers_; ++n) {
    const bool own = but != nullptr && n == but->index;
    const bool some = cores_[n].size.load(std::memory_order_acquire) != 0;  // pairs with insert
    if (!own && some && life_.sleepers().is_asleep(n)) life_.summon(n, nullptr);
  }
}

void per_worker_policy::cover(worker& w) noexcept {
  summon_owners(&w);
  if (!stealing_) return;
  for (unsigned n = 0; n < workers_; ++n) {
    if (cores_[n].classes.load(std::memory_order_relaxed) < 2) continue;
    return life_.wake_any(&w);
  }
}

work_seen per_worker_policy::sources(const worker& w) noexcept {
  if (cores_[w.index].size.load(std::memory_order_acquire) != 0) return work_seen::found;  // pairs with insert
  summon_owners(&w);
  if (!stealing_) return work_seen::none;
  for (unsigned n = 0; n < workers_; ++n) {
    if (cores_[n].classes.load(std::memory_order_relaxed) > 1) return work_seen::declined;
  }
  return work_seen::none;
}

bool per_worker_policy::any_left() noexcept {
  std::size_t tasks = 0;
  for (unsigned n = 0; n < workers_; ++n) tasks += cores_[n].size.load(std::memory_order_acquire);  // pairs with insert
  return tasks > (select_.is_polling() ? 1u : 0u);
}

std::size_t per_worker_policy::drop_all() noexcept {
  std::size_t dropped = 0;
  for (bool again = true; again;) {  // what is destroyed may post
    again = false;
    for (unsigned n = 0; n < workers_; ++n) {
      for (;;) {
        event* e = nullptr;
        {
          core& from = cores_[n];
          const std::lock_guard hold{from.lock};
          task* const t = from.queue.front();
          if (t == nullptr) break;
          remove(from, *t);
          e = t->what;
          if (e == nullptr) {
            select_.looked(false);
            continue;
          }
          memory_.free(t, nullptr);
        }
        again = true;
        dropped += e->ops->counted ? 1 : 0;
        discard_event(rt_, *e);
      }
    }
  }
  return dropped;
}

}  // namespace tartan::detail
