#pragma once
/// What the workers of per_worker hold, and each step that a poster, an owner or a thief takes with it. Section 7 of
/// docs/design/paper-schedulers.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <tartan/core/color.h>

#include "core/memory.h"
#include "core/sched/papers/mapped_homes.h"
#include "core/sched/papers/task.h"
#include "core/sched/papers/timed_lock.h"
#include "core/sched/papers/two_part_queue.h"

namespace tartan::detail {

/// The lock and the classes; a model test has others.
struct two_part_traits {
  template <class Memory>
  using lock = timed_lock;
  static constexpr std::uint32_t classes = 1024;
};

/// One worker's. Guarded by its lock, but for what is atomic, which others read as hints.
template <class Memory, class Task, class Traits>
struct alignas(128) two_part_home {
  typename Traits::template lock<Memory> lock;
  two_part_queue_of<Memory, Task> queue;
  typename Memory::template plain<std::uint32_t> running{no_class, "running"};
  typename Memory::template plain<std::uint64_t> last{no_color, "last color"};
  typename Memory::template atomic<std::size_t> size{0, "size"};
  typename Memory::template plain<std::size_t> longest;
  typename Memory::template atomic<std::size_t> classes{0, "classes"};  ///< that have tasks here
  /// The class that its worker is about to bring here. Release without the lock, before the map says so; pairs with worth_taking.
  typename Memory::template atomic<std::uint32_t> arriving{no_class, "arriving"};
  alignas(128) typename Memory::template atomic<bool> offers{false, "offers"};
};

template <class Memory, class Task, class Traits = two_part_traits>
class two_part_homes : public mapped_homes<Memory, two_part_home<Memory, Task, Traits>, std::uint32_t, Traits::classes> {
 public:
  using home = two_part_home<Memory, Task, Traits>;
  using queue = two_part_queue_of<Memory, Task>;

  /// `pinned`: class 0 is never stolen.
  two_part_homes(unsigned workers, bool pinned) : two_part_homes::mapped_homes{workers}, pinned_{pinned} {}

  /// Gives whose it is now.
  unsigned post(Task& t) noexcept {
    home& owner = this->lock_owner_of(t.color_class);
    insert(owner, t);
    owner.lock.unlock();
    return this->number_of(owner);
  }

  /// By its worker: what it ran has ended, and the next task runs; null: there is none. `first`: among how many it chooses. `before` is called
  /// with the lock held. seen-before: who finds its class not running from now on has seen what the last event did.
  template <class Before>
  [[nodiscard]] Task* next(unsigned worker, unsigned first, Before before) {
    home& own = this->at(worker);
    const std::lock_guard hold{own.lock};
    own.running = no_class;
    before(own);
    weighed_pick_of<Task> choice{first, own.last};
    for (Task* t = own.queue.front(); t != nullptr && choice.show(*t); t = t->next) {
    }
    Task* const t = choice.best();
    if (t == nullptr) return nullptr;
    remove(own, *t);
    own.running = t->color_class;
    own.last = t->color_value == color::unordered.value() ? no_color : t->color_value;
    return t;
  }
  /// By its worker: what it ran has ended. `before`: as above.
  template <class Before>
  void end(unsigned worker, Before before) {
    home& own = this->at(worker);
    const std::lock_guard hold{own.lock};
    own.running = no_class;
    before(own);
  }

  /// With the lock held.
  void insert(home& into, Task& t) noexcept {
    class_state& all = of_class_[t.color_class];
    t.right = t.right || all.right != 0;  // no-overtaking: one of its color may wait there
    into.queue.append(t);
    if (t.right) all.right = all.right + 1;
    if (all.tasks == 0) add_to_classes(into, 1);
    all.tasks = all.tasks + 1;
    this->add_to_size(into, 1);
    offer(into);
  }

  /// On its way from one worker to another.
  struct loot {
    queue tasks;
    std::uint32_t count = 0;
    std::uint32_t which = no_class;
  };

  /// By a thief: the first class, from the left, that does not run there and has less than half of the tasks. False: nothing.
  ///
  /// From here to put() it is on its way: the map says that it is the thief's, so posts go there, but what was posted before has not arrived.
  /// Nobody runs it meanwhile, for that is the thief; and nobody steals it from there, because of `arriving`.
  [[nodiscard]] bool take(unsigned thief, unsigned victim, loot& into) noexcept {
    home& from = this->at(victim);
    const std::lock_guard hold{from.lock};
    if (from.classes.load(std::memory_order_relaxed) < 2) return false;
    into.which = worth_taking(from);
    if (into.which == no_class) return false;
    take_class(from, into);
    this->at(thief).arriving.store(into.which, std::memory_order_release);  // pairs with worth_taking: whoever finds it there knows
    this->move(into.which, thief);
    return true;
  }

  /// no-overtaking: what was posted since stands behind it, in each part. If nothing was, it goes to the end, as in the paper.
  void put(unsigned thief, loot& what) noexcept {
    home& own = this->at(thief);
    const std::lock_guard hold{own.lock};
    const bool nothing_since = of_class_[what.which].tasks == what.count;
    while (Task* const t = nothing_since ? what.tasks.front() : what.tasks.back()) {
      what.tasks.remove(*t);
      if (nothing_since) {
        own.queue.append(*t);
      } else {
        own.queue.prepend(*t);
      }
    }
    this->add_to_size(own, what.count);
    // What was posted since has found tasks of its class, and did not count it.
    add_to_classes(own, 1);
    offer(own);
    own.arriving.store(no_class, std::memory_order_release);  // pairs with worth_taking
  }

  /// Only between events of it. What is on its way has tasks.
  void give(std::uint32_t which, unsigned to) noexcept {
    home& owner = this->lock_owner_of(which);
    if (of_class_[which].tasks == 0 && owner.running != which) this->move(which, to);
    owner.lock.unlock();
  }

  /// Classes of a worker that have tasks; a hint.
  [[nodiscard]] std::size_t waiting(unsigned worker) const noexcept { return this->at(worker).classes.load(std::memory_order_relaxed); }

  /// While nobody runs: any one task; null: none.
  [[nodiscard]] Task* drop(unsigned worker) noexcept {
    home& from = this->at(worker);
    const std::lock_guard hold{from.lock};
    Task* const t = from.queue.front();
    if (t != nullptr) remove(from, *t);
    return t;
  }

 private:
  /// What is the same for all tasks of a class. Guarded by the lock of whose it is, and so they move with it.
  struct class_state {
    typename Memory::template plain<std::uint32_t> tasks;
    typename Memory::template plain<std::uint32_t> right;  ///< of them, in the right part
  };

  // With the home's lock held.

  void offer(home& own) noexcept { two_part_homes::mapped_homes::offer(own, own.classes.load(std::memory_order_relaxed) > 1); }
  static void add_to_classes(home& own, int more) noexcept {
    own.classes.store(own.classes.load(std::memory_order_relaxed) + static_cast<std::size_t>(more), std::memory_order_relaxed);
  }

  void remove(home& from, Task& t) noexcept {
    class_state& all = of_class_[t.color_class];
    from.queue.remove(t);
    if (t.right) all.right = all.right - 1;
    all.tasks = all.tasks - 1;
    if (all.tasks == 0) add_to_classes(from, -1);
    this->take_from_size(from, 1);
    offer(from);
  }

  [[nodiscard]] std::uint32_t worth_taking(const home& victim) const noexcept {
    const std::uint32_t on_its_way = victim.arriving.load(std::memory_order_acquire);  // pairs with take
    const std::size_t all = victim.size.load(std::memory_order_relaxed);
    for (const Task* t = victim.queue.front(); t != nullptr; t = t->next) {
      const std::uint32_t c = t->color_class;
      if (c == victim.running || c == on_its_way || (pinned_ && c == 0)) continue;
      if (2 * std::size_t{of_class_[c].tasks} < all) return c;
    }
    return no_class;
  }

  void take_class(home& from, loot& into) noexcept {
    into.count = of_class_[into.which].tasks;
    std::uint32_t to_find = into.count;
    for (Task* t = from.queue.front(); to_find != 0;) {
      Task* const next = t->next;
      if (t->color_class == into.which) {
        from.queue.remove(*t);
        into.tasks.append(*t);
        --to_find;
      }
      t = next;
    }
    this->take_from_size(from, into.count);
    add_to_classes(from, -1);
    offer(from);
  }

  const bool pinned_;
  std::array<class_state, Traits::classes> of_class_{};
};

}  // namespace tartan::detail
