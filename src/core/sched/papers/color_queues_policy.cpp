#include "core/sched/papers/color_queues_policy.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "core/clock.h"
#include "core/sched/papers/core_distance.h"

namespace tartan::detail {

namespace {

constexpr unsigned batch = 10;  // Mely, V.A
constexpr std::uint32_t unknown_cost_ns = 1'000;
/// How long a worker without work looks for some before it sleeps; the papers' spin for ever.
constexpr std::uint64_t search_ns = 50'000;

}  // namespace

color_queues_policy::color_queues_policy(runtime_state& rt, const scheduler_choice& choice)
    : paper_policy{rt},
      stealing_{choice.stealing && rt.workers() > 1},
      time_left_{choice.time_left},
      penalty_{choice.penalty},
      locality_{choice.locality},
      pinned_{rt.settings().pin_default_color},
      memory_{&rt, choice.free_lists},
      cores_{std::make_unique<core[]>(rt.workers())},
      queue_{std::make_unique<class_queue*[]>(class_count)},
      map_{std::make_unique<real_memory::atomic<std::uint8_t>[]>(class_count)} {
  for (std::uint32_t n = 0; n < class_count; ++n) map_[n].store(static_cast<std::uint8_t>(n % workers_), std::memory_order_relaxed);
  if (locality_) set_victims();
}

/// As large as a task. Ends the program if there is no memory; `what`: the event it is for, null: the one that polls.
class_queue* color_queues_policy::new_queue(line_cache* lines, color where, const event* what) noexcept {
  try {
    return reinterpret_cast<class_queue*>(memory_.make(lines));
  } catch (const std::bad_alloc&) {
    if (what != nullptr) no_queue_memory(where, *what);
    fatal({"out of memory for the event that polls"});
  }
}

void color_queues_policy::free_queue(class_queue& q, line_cache* lines) noexcept { memory_.free(reinterpret_cast<task*>(&q), lines); }

/// As if workers were bound to the process's CPUs in turn, as options.bind_workers binds them.
void color_queues_policy::set_victims() {
  const std::vector<unsigned>& usable = rt_.cpus().cpus();
  std::vector<unsigned> cpus(workers_);
  for (unsigned n = 0; n < workers_; ++n) cpus[n] = usable.empty() ? n : usable[n % usable.size()];
  std::vector<std::vector<unsigned>> order = nearest_first(cpus);
  for (unsigned n = 0; n < workers_; ++n) cores_[n].victims = std::move(order[n]);
}

/// An unordered event gets the next class: there it may wait for others, but never for the default color.
std::uint32_t color_queues_policy::class_of(color where) noexcept {
  if (where != color::unordered) return static_cast<std::uint32_t>(where.value() % class_count);
  return 1 + last_unordered_.fetch_add(1, std::memory_order_relaxed) % (class_count - 1);
}

/// Gives whose it is, with the lock held: nobody else gets it then.
color_queues_policy::core& color_queues_policy::lock_owner_of(std::uint32_t number) noexcept {
  for (;;) {
    const unsigned owner = owner_of(number);
    core& found = cores_[owner];
    found.lock.lock();
    if (map_[number].load(std::memory_order_relaxed) == owner) return found;
    found.lock.unlock();
  }
}

/// What a task adds to its queue's cumulative time (Mely, III.B and III.C).
std::uint32_t color_queues_policy::worth_of(const task& t) const noexcept {
  const std::uint32_t cost_ns = t.cost_ns != 0 ? t.cost_ns : unknown_cost_ns;
  return penalty_ && t.penalty != 0 ? cost_ns / t.penalty : cost_ns;
}

/// worthy-may-go: the stealing queue has none that a thief would have to leave: else it would come for that one again and again.
void color_queues_policy::revalue(core& own, class_queue& q) noexcept {
  if (time_left_ && !q.on_its_way && &q != own.running && may_leave(q)) own.worthy.update(q, price_ns());
}

void color_queues_policy::offer(core& own) noexcept {
  const bool some = own.queues.load(std::memory_order_relaxed) > 1 && (!time_left_ || !own.worthy.empty());
  if (own.offers.load(std::memory_order_relaxed) != some) own.offers.store(some, std::memory_order_relaxed);
}

/// linked-once: one that is on its way is appended to, and linked by who brings it.
void color_queues_policy::insert(core& into, task& t, class_queue*& spare) noexcept {
  class_queue*& q = queue_[t.color_class];
  if (q == nullptr) {
    q = std::exchange(spare, nullptr);
    ::new (q) class_queue{};
    q->number = static_cast<std::uint16_t>(t.color_class);
    into.colors.push_back(*q);
  }
  if (q->count == 0 && !q->on_its_way) into.queues.store(into.queues.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  q->append(t);
  q->time_ns += t.cost_ns;
  into.size.store(into.size.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // pairs with any_left
  revalue(into, *q);
  offer(into);
}

task* color_queues_policy::take_from(core& own, class_queue& q) noexcept {
  task* const t = q.take();
  if (t == nullptr) return nullptr;
  q.time_ns -= t->cost_ns;
  if (q.count == 0) own.queues.store(own.queues.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  own.size.store(own.size.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  offer(own);
  return t;
}

/// Out of both lists.
void color_queues_policy::leave(core& own, class_queue& q) noexcept {
  own.worthy.remove(q);
  own.colors.remove(q);
}

void color_queues_policy::submit(color where, event& e, worker* from) noexcept {
  line_cache* const lines = lines_of(from);
  task* const t = new_task(memory_, lines, where, e, class_of(where));
  t->cost_ns = worth_of(*t);
  class_queue* spare = nullptr;
  core* owner = &lock_owner_of(t->color_class);
  if (queue_[t->color_class] == nullptr) {  // memory is not asked for under a lock
    owner->lock.unlock();
    spare = new_queue(lines, where, &e);
    owner = &lock_owner_of(t->color_class);
  }
  insert(*owner, *t, spare);
  owner->lock.unlock();
  if (spare != nullptr) free_queue(*spare, lines);
  if (!is_told(from)) tell(static_cast<unsigned>(owner - cores_.get()), from);
}

/// Something is queued there, and somebody sleeps.
void color_queues_policy::tell(unsigned owner, worker* from) noexcept {
  if (life_.sleepers().is_asleep(owner)) return life_.summon(owner, from);
  if (stealing_ && may_be_worth_a_visit(owner)) life_.wake_any(from);
}

/// Only between events of it.
void color_queues_policy::move_class_of(color where, unsigned worker_index) noexcept {
  const std::uint32_t moved = class_of(where);
  core& owner = lock_owner_of(moved);
  if (queue_[moved] == nullptr) map_[moved].store(static_cast<std::uint8_t>(worker_index), std::memory_order_release);  // pairs with owner_of
  owner.lock.unlock();
}

/// The color queue at the head runs from now on.
void color_queues_policy::begin_batch(core& own, worker& w) noexcept {
  if (map_[0].load(std::memory_order_relaxed) == w.index && queue_[0] != nullptr && select_.wakes_up(w)) {
    class_queue* unused = nullptr;
    insert(own, select_.in_queue(), unused);
  }
  own.running = own.colors.front();
  if (own.running != nullptr) own.worthy.remove(*own.running);
  offer(own);
}

/// One task of the running color queue. False: there is none.
bool color_queues_policy::run_next(worker& w, core& own) {
  task* t = nullptr;
  bool more = false;
  {
    const std::lock_guard hold{own.lock};
    t = take_from(own, *own.running);
    if (t == nullptr) return false;
    more = stealing_ && own.offers.load(std::memory_order_relaxed);
  }
  life_.found_work(w);
  if (more && life_.sleepers().view().sleeping() != 0) life_.wake_any(&w);
  if (t->what == nullptr) {
    const bool posted = select_task::look(life_, w);
    const std::lock_guard hold{own.lock};
    select_.looked(posted);
    class_queue* unused = nullptr;
    if (posted) insert(own, *t, unused);
    return false;  // a look ends the batch
  }
  event& e = *t->what;
  const std::uint64_t color_value = t->color_value;
  memory_.free(t, &w.queue_lines);
  run_event(w, e, color_value);
  return true;
}

/// seen-before: who finds its class not running from now on has seen what the last event did.
void color_queues_policy::end_batch(core& own, line_cache* lines) noexcept {
  class_queue* done = nullptr;
  {
    const std::lock_guard hold{own.lock};
    class_queue& q = *std::exchange(own.running, nullptr);
    own.colors.remove(q);
    if (q.count != 0) {
      own.colors.push_back(q);
      revalue(own, q);
      offer(own);
    } else {
      queue_[q.number] = nullptr;
      done = &q;
    }
  }
  if (done != nullptr) free_queue(*done, lines);
}

bool color_queues_policy::turn(worker& w) {
  core& own = cores_[w.index];
  class_queue* spare = nullptr;
  {
    own.lock.lock();
    // The select task needs a color queue, whose memory is not asked for under a lock.
    const bool polls = map_[0].load(std::memory_order_relaxed) == w.index && queue_[0] == nullptr && select_.wakes_up(w);
    if (polls) {
      own.lock.unlock();
      spare = new_queue(&w.queue_lines, color{}, nullptr);
      core& owner = lock_owner_of(0);
      insert(owner, select_.in_queue(), spare);
      owner.lock.unlock();
      own.lock.lock();
    }
    begin_batch(own, w);
    own.lock.unlock();
  }
  if (spare != nullptr) free_queue(*spare, &w.queue_lines);
  if (own.running == nullptr) return false;
  for (unsigned n = 0; n < batch && run_next(w, own); ++n) {
  }
  end_batch(own, &w.queue_lines);
  return true;
}

bool color_queues_policy::search(worker& w) {
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

/// Victims: by distance, or the fullest core, then by number, round (Mely, II.B).
bool color_queues_policy::steal(worker& w) noexcept {
  const auto visit = [&](unsigned victim) {
    return victim != w.index && may_be_worth_a_visit(victim) && steal_from(w, victim);
  };
  if (locality_) {
    for (const unsigned victim : cores_[w.index].victims) {
      if (visit(victim)) return true;
    }
    return false;
  }
  unsigned fullest = 0;
  for (unsigned n = 1; n < workers_; ++n) {
    if (cores_[n].size.load(std::memory_order_relaxed) > cores_[fullest].size.load(std::memory_order_relaxed)) fullest = n;
  }
  for (unsigned n = 0; n < workers_; ++n) {
    if (visit((fullest + n) % workers_)) return true;
  }
  return false;
}

/// time-left: the first of the longest that are worth it; else the first that does not run and has less than half of the tasks.
class_queue* color_queues_policy::worth_taking(const core& victim) const noexcept {
  const auto movable = [&](const class_queue& q) { return &q != victim.running && may_leave(q); };
  if (time_left_) return victim.worthy.find(movable);
  const std::size_t all = victim.size.load(std::memory_order_relaxed);
  for (class_queue* q = victim.colors.front(); q != nullptr; q = q->next) {
    if (movable(*q) && 2 * std::size_t{q->count} < all) return q;
  }
  return nullptr;
}

/// Between the two locks the color queue is on its way: the map says that it is the thief's, so posts are appended to it under the thief's
/// lock, behind what it has; linked nowhere, it is run by nobody and stolen by nobody.
bool color_queues_policy::steal_from(worker& w, unsigned victim_index) noexcept {
  core& victim = cores_[victim_index];
  core& own = cores_[w.index];
  class_queue* q = nullptr;
  std::size_t tasks = 0;
  std::uint64_t begin = 0;
  {
    const std::lock_guard hold{victim.lock};
    begin = real_now_ns();
    if (victim.queues.load(std::memory_order_relaxed) < 2) return false;
    q = worth_taking(victim);
    if (q == nullptr) return false;
    leave(victim, *q);
    q->on_its_way = true;
    tasks = q->count;
    victim.size.store(victim.size.load(std::memory_order_relaxed) - tasks, std::memory_order_relaxed);
    victim.queues.store(victim.queues.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    offer(victim);
    map_[q->number].store(static_cast<std::uint8_t>(w.index), std::memory_order_release);  // pairs with owner_of
  }
  if (between_) between_();
  {
    const std::lock_guard hold{own.lock};
    q->on_its_way = false;
    own.colors.push_back(*q);
    own.size.store(own.size.load(std::memory_order_relaxed) + tasks, std::memory_order_release);  // pairs with any_left
    own.queues.store(own.queues.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    revalue(own, *q);
    offer(own);
  }
  learn_price(real_now_ns() - begin);
  w.steals.add();
  w.stolen_colors.add();
  return true;
}

/// The average of the last eight or so: Mely monitors it. price-comes-down: a steal counts as twice the price at most. A thief that loses
/// its CPU between the two locks would else make the price so high that nothing is worth it, and then nobody steals and learns.
void color_queues_policy::learn_price(std::uint64_t took_ns) noexcept {
  const std::uint64_t old = price_ns();
  price_ns_.store(old - old / 8 + std::min(took_ns, 2 * old) / 8, std::memory_order_relaxed);
}

/// What came while nobody ran has woken nobody.
void color_queues_policy::summon_owners(const worker* but) noexcept {
  if (life_.sleepers().view().paused()) return;
  for (unsigned n = 0; n < workers_; ++n) {
    const bool own = but != nullptr && n == but->index;
    const bool some = cores_[n].size.load(std::memory_order_acquire) != 0;  // pairs with insert
    if (!own && some && life_.sleepers().is_asleep(n)) life_.summon(n, nullptr);
  }
}

void color_queues_policy::cover(worker& w) noexcept {
  summon_owners(&w);
  if (!stealing_) return;
  for (unsigned n = 0; n < workers_; ++n) {
    if (may_be_worth_a_visit(n)) return life_.wake_any(&w);
  }
}

work_seen color_queues_policy::sources(const worker& w) noexcept {
  if (cores_[w.index].size.load(std::memory_order_acquire) != 0) return work_seen::found;  // pairs with insert
  summon_owners(&w);
  if (!stealing_) return work_seen::none;
  for (unsigned n = 0; n < workers_; ++n) {
    if (may_be_worth_a_visit(n)) return work_seen::declined;
  }
  return work_seen::none;
}

bool color_queues_policy::any_left() noexcept {
  std::size_t tasks = 0;
  for (unsigned n = 0; n < workers_; ++n) tasks += cores_[n].size.load(std::memory_order_acquire);  // pairs with insert
  return tasks > (select_.is_polling() ? 1u : 0u);
}

std::size_t color_queues_policy::drop_all() noexcept {
  std::size_t dropped = 0;
  for (bool again = true; again;) {  // what is destroyed may post
    again = false;
    for (unsigned n = 0; n < workers_; ++n) {
      core& from = cores_[n];
      for (;;) {
        from.lock.lock();
        from.running = from.colors.front();
        if (from.running != nullptr) from.worthy.remove(*from.running);
        task* const t = from.running != nullptr ? take_from(from, *from.running) : nullptr;
        from.lock.unlock();
        if (from.running == nullptr) break;
        if (t != nullptr && t->what == nullptr) select_.looked(false);
        if (t != nullptr && t->what != nullptr) {
          event& e = *t->what;
          memory_.free(t, nullptr);
          dropped += e.ops->counted ? 1 : 0;
          discard_event(rt_, e);
        }
        end_batch(from, nullptr);
        again = true;
      }
    }
  }
  return dropped;
}

}  // namespace tartan::detail
