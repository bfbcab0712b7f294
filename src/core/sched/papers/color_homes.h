#pragma once
/// What the cores of color_queues hold, and each step that a poster, an owner or a thief takes with it. Section 8 of
/// docs/design/paper-schedulers.md.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "core/memory.h"
#include "core/sched/papers/class_queue.h"
#include "core/sched/papers/mapped_homes.h"
#include "core/sched/papers/task.h"
#include "core/sched/papers/timed_lock.h"

namespace tartan::detail {

/// The lock and the classes; a model test has others.
struct color_traits {
  template <class Memory>
  using lock = timed_lock;
  static constexpr std::uint32_t classes = 65'536;
};

/// One core's. Guarded by its lock, but for what is atomic, which others read as hints.
template <class Memory, class Task, class Traits>
struct alignas(128) color_home {
  using color_queue = class_queue_of<Memory, Task>;

  typename Traits::template lock<Memory> lock;
  core_list_of<Memory, color_queue> colors;        ///< with the one that runs, at its head
  stealing_queue_of<Memory, color_queue> worthy;   ///< without it
  typename Memory::template plain<color_queue*> running;
  typename Memory::template atomic<std::size_t> size{0, "size"};
  typename Memory::template plain<std::size_t> longest;
  typename Memory::template atomic<std::size_t> queues{0, "queues"};  ///< with tasks
  alignas(128) typename Memory::template atomic<bool> offers{false, "offers"};
};

template <class Memory, class Task, class Traits = color_traits>
class color_homes : public mapped_homes<Memory, color_home<Memory, Task, Traits>, std::uint8_t, Traits::classes> {
 public:
  using home = color_home<Memory, Task, Traits>;
  using color_queue = class_queue_of<Memory, Task>;

  static constexpr unsigned most_workers = 256;

  /// `time_left`: thieves take what is worth a steal. `pinned`: class 0 is never stolen.
  struct rules {
    bool time_left = false;
    bool pinned = false;
  };
  color_homes(unsigned workers, rules those) : color_homes::mapped_homes{workers}, rules_{those} {}

  /// Whose it is now, and a color queue that was not needed, or null.
  struct posted {
    unsigned owner;
    color_queue* spare;
  };
  /// `make`: called without a lock, gives a color queue for a class that has none.
  template <class Make>
  posted post(Task& t, Make make) noexcept {
    color_queue* spare = nullptr;
    home* owner = &this->lock_owner_of(t.color_class);
    if (t.color_class != 0 && queue_[t.color_class] == nullptr) {
      owner->lock.unlock();
      spare = make();
      owner = &this->lock_owner_of(t.color_class);
    }
    insert(*owner, t, spare);
    owner->lock.unlock();
    return {this->number_of(*owner), spare};
  }

  /// By its worker: the color queue at the head runs from now on, if there is one. `before` is called with the lock held.
  template <class Before>
  [[nodiscard]] bool begin(unsigned worker, Before before) {
    home& own = this->at(worker);
    const std::lock_guard hold{own.lock};
    before(own);
    color_queue* const first = own.colors.front();
    own.running = first;
    if (first != nullptr) own.worthy.remove(*first);
    offer(own);
    return first != nullptr;
  }
  /// By its worker: the next task of what runs; null: there is none.
  [[nodiscard]] Task* next(unsigned worker) noexcept {
    home& own = this->at(worker);
    const std::lock_guard hold{own.lock};
    return take_task(own, *own.running);
  }
  /// By its worker: what runs goes to the end, or, if it is empty, is given for who left the lock to free. seen-before: who finds its class not
  /// running from now on has seen what the last event did.
  [[nodiscard]] color_queue* end(unsigned worker) noexcept {
    home& own = this->at(worker);
    const std::lock_guard hold{own.lock};
    color_queue& q = *own.running;
    own.running = nullptr;
    own.colors.remove(q);
    if (q.count == 0) return forget(q);
    own.colors.push_back(q);
    revalue(own, q);
    offer(own);
    return nullptr;
  }

  /// With the lock held. linked-once: a color queue that is on its way is appended to, and linked by who brings it. `spare` is used up if the
  /// class has none; that of class 0 is always there.
  void insert(home& into, Task& t, color_queue*& spare) noexcept {
    color_queue* q = queue_[t.color_class];
    if (q == nullptr) {
      q = t.color_class == 0 ? &of_class_0_ : std::exchange(spare, nullptr);
      q->number = static_cast<std::uint16_t>(t.color_class);
      queue_[t.color_class] = q;
      into.colors.push_back(*q);
    }
    if (q->count == 0 && !q->on_its_way) add_to_queues(into, 1);
    q->append(t);
    this->add_to_size(into, 1);
    revalue(into, *q);
    offer(into);
  }

  /// On its way from one core to another, with as many tasks as it had when it left.
  struct loot {
    color_queue* what = nullptr;
    std::uint32_t count = 0;
    std::uint32_t which = 0;
  };

  /// By a thief. time-left: one of the longest that are worth it; else the first that does not run and has less than half of the tasks. False:
  /// nothing.
  ///
  /// From here to put() it is on its way: the map says that it is the thief's, so posts are appended to it under the thief's lock, behind what it
  /// has; linked nowhere, it is run by nobody and stolen by nobody.
  [[nodiscard]] bool take(unsigned thief, unsigned victim, loot& into) noexcept {
    home& from = this->at(victim);
    const std::lock_guard hold{from.lock};
    if (from.queues.load(std::memory_order_relaxed) < 2) return false;
    into.what = worth_taking(from);
    if (into.what == nullptr) return false;
    color_queue& q = *into.what;
    from.worthy.remove(q);
    from.colors.remove(q);
    q.on_its_way = true;
    into.count = q.count;
    into.which = q.number;
    this->take_from_size(from, into.count);
    add_to_queues(from, -1);
    offer(from);
    this->move(q.number, thief);
    return true;
  }
  void put(unsigned thief, const loot& brought) noexcept {
    home& own = this->at(thief);
    const std::lock_guard hold{own.lock};
    color_queue& q = *brought.what;
    q.on_its_way = false;
    own.colors.push_back(q);
    add_to_queues(own, 1);
    this->add_to_size(own, brought.count);  // what was posted since has counted itself
    revalue(own, q);
    offer(own);
  }

  /// Nobody else asks for it.
  [[nodiscard]] bool goes_by_price() const noexcept { return rules_.time_left; }
  /// The average of the last eight or so: Mely monitors it. price-comes-down: a steal counts as twice the price at most. A thief that loses
  /// its CPU on its way would else make the price so high that nothing is worth it, and then nobody steals and learns.
  void learn_price(std::uint64_t took_ns) noexcept {
    const std::uint64_t old = price_ns();
    price_ns_.store(old - old / 8 + std::min(took_ns, 2 * old) / 8, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t price_ns() const noexcept { return price_ns_.load(std::memory_order_relaxed); }

  /// Only between events of it.
  void give(std::uint32_t which, unsigned to) noexcept {
    home& owner = this->lock_owner_of(which);
    if (queue_[which] == nullptr) this->move(which, to);
    owner.lock.unlock();
  }

  /// Color queues of a worker that have tasks; a hint.
  [[nodiscard]] std::size_t waiting(unsigned worker) const noexcept {
    return this->at(worker).queues.load(std::memory_order_relaxed);
  }

  /// While nobody runs: any one task, and the color queue that was freed by it, or null.
  [[nodiscard]] std::pair<Task*, color_queue*> drop(unsigned worker) noexcept {
    if (!begin(worker, [](home&) {})) return {};
    Task* const t = next(worker);
    return {t, end(worker)};
  }
  /// For tests.
  [[nodiscard]] bool has_tasks(std::uint32_t which) const noexcept { return queue_[which] != nullptr; }

 private:
  // With the home's lock held.

  void add_to_queues(home& own, int more) noexcept {
    own.queues.store(own.queues.load(std::memory_order_relaxed) + static_cast<std::size_t>(more), std::memory_order_relaxed);
  }
  [[nodiscard]] Task* take_task(home& own, color_queue& q) noexcept {
    Task* const t = q.take();
    if (t == nullptr) return nullptr;
    if (q.count == 0) add_to_queues(own, -1);
    this->take_from_size(own, 1);
    offer(own);
    return t;
  }
  [[nodiscard]] color_queue* forget(color_queue& q) noexcept {
    queue_[q.number] = nullptr;
    return &q == &of_class_0_ ? nullptr : &q;
  }
  [[nodiscard]] bool may_leave(const color_queue& q) const noexcept { return !(rules_.pinned && q.number == 0); }

  /// worthy-may-go: the stealing queue has none that a thief would have to leave: else it would come for that one again and again.
  void revalue(home& own, color_queue& q) noexcept {
    if (rules_.time_left && !q.on_its_way && &q != own.running && may_leave(q)) own.worthy.update(q, price_ns());
  }
  void offer(home& own) noexcept {
    const bool some = own.queues.load(std::memory_order_relaxed) > 1 && (!rules_.time_left || own.worthy.front() != nullptr);
    color_homes::mapped_homes::offer(own, some);
  }

  [[nodiscard]] color_queue* worth_taking(const home& victim) const noexcept {
    if (rules_.time_left) return victim.worthy.front();
    const std::size_t all = victim.size.load(std::memory_order_relaxed);
    for (color_queue* q = victim.colors.front(); q != nullptr; q = q->next) {
      if (q != victim.running && may_leave(*q) && 2 * std::size_t{q->count} < all) return q;
    }
    return nullptr;
  }

  const rules rules_;
  std::array<typename Memory::template plain<color_queue*>, Traits::classes> queue_{};  ///< null: the class has no tasks. Guarded by the lock of whose it is
  color_queue of_class_0_;  ///< the event that polls finds it without asking for memory
  typename Memory::template atomic<std::uint64_t> price_ns_{2'000, "price"};  ///< of a steal, monitored; relaxed: a number
};

}  // namespace tartan::detail
