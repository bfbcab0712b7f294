#pragma once
/// libasync-smp: a queue for each worker, and stealing.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

#include "core/memory.h"
#include "core/sched/papers/paper_policy.h"
#include "core/sched/papers/select_task.h"
#include "core/sched/papers/two_part_queue.h"
#include "core/spin_lock.h"

namespace tartan::detail {

/// Each worker has a queue in two parts under a spin lock; a color's home is in a map of 1024 classes, into which colors fold.
///
/// Limits: memory; as many workers as a runtime may have.
/// Source: libasync-smp (USENIX 2003), section 3; what it does not tell of stealing is from Mely, II.B: victims from the fullest queue on,
/// by number; only where two colors are queued; the first color that does not run and has less than half of the queue's events; the scan
/// ends by the color's count; lock the victim, take, unlock, lock oneself, add. Differences:
/// - one-place: what moves is a class, whole, and not while any color of it runs. If one color moved, a congruent one would stay behind,
///   and its later posts would go to the thief: two workers would have one class, and the map could not say whose it is.
/// - no-overtaking while moving: see steal().
/// - CPU and I/O events, unordered ones and the select callback: as in shared_queue_policy.h.
/// - Its locks are padded, its memory and its poller are those of all schedulers here (Mely, IV.C).
class per_worker_policy : public paper_policy<per_worker_policy> {
 public:
  per_worker_policy(runtime_state& rt, const scheduler_choice& choice);

  using paper_policy::submit;
  void submit(color where, event& e, worker* from) noexcept;
  void move_class_of(color where, unsigned worker_index) noexcept;

  bool turn(worker& w);
  bool search(worker& w);
  void cover(worker& w) noexcept;
  [[nodiscard]] work_seen sources(const worker& w) noexcept;
  [[nodiscard]] bool polls_at_rest(const worker& w) const noexcept { return owner_of(0) == w.index; }
  [[nodiscard]] std::size_t waiting(unsigned worker_index) const noexcept { return cores_[worker_index].classes.load(std::memory_order_relaxed); }
  [[nodiscard]] bool any_left() noexcept;
  std::size_t drop_all() noexcept;

 private:
  template <class>
  friend struct policy_probe;  // tests'

  static constexpr std::uint32_t class_count = 1024;
  static constexpr std::uint32_t no_class = ~std::uint32_t{0};

  /// What one worker has. Guarded by its lock, but for what is atomic, which others read as hints.
  struct alignas(128) core {
    spin_lock lock;
    two_part_queue queue;
    std::uint32_t running = no_class;
    std::uint64_t last = no_color;
    real_memory::atomic<std::size_t> size{0};     ///< tasks; release by submit, pairs with any_left
    real_memory::atomic<std::size_t> classes{0};  ///< that have tasks here
    /// The class that its worker is about to bring here. Release without the lock, before the map says so; pairs with worth_taking.
    real_memory::atomic<std::uint32_t> arriving{no_class};
  };

  /// What is the same for all tasks of a class. Guarded by the lock of whose it is, and so they move with it.
  struct class_state {
    std::uint32_t tasks = 0;
    std::uint32_t right = 0;  ///< of them, in the right part
  };

  /// A core whose lock is held.
  class held_core;

  [[nodiscard]] unsigned owner_of(std::uint32_t color_class) const noexcept {
    return map_[color_class].load(std::memory_order_acquire);  // pairs with who moves the class
  }
  [[nodiscard]] std::uint32_t class_of(color where) noexcept;
  [[nodiscard]] core& lock_owner_of(std::uint32_t color_class) noexcept;
  void tell(unsigned owner, worker* from) noexcept;

  // With the core's lock held.
  void insert(core& into, task& t) noexcept;
  void remove(core& from, task& t) noexcept;
  [[nodiscard]] task* pick(const core& own) const noexcept;
  [[nodiscard]] std::uint32_t worth_taking(const core& victim) const noexcept;
  struct loot {
    task* left = nullptr;
    task* right = nullptr;
    std::uint32_t count = 0;
  };
  [[nodiscard]] loot take_class(core& victim, std::uint32_t which) noexcept;

  [[nodiscard]] bool run_next(worker& w);
  [[nodiscard]] bool steal(worker& w) noexcept;
  [[nodiscard]] bool steal_from(worker& w, unsigned victim) noexcept;
  void put_loot(core& into, std::uint32_t which, const loot& what) noexcept;
  void summon_owners(const worker* but) noexcept;

  const unsigned first_;
  const bool stealing_;
  const bool pinned_;
  task_memory memory_;
  std::unique_ptr<core[]> cores_;
  std::array<class_state, class_count> of_class_{};
  /// Whose a class is. Release under the lock of whose it was; pairs with owner_of.
  std::array<real_memory::atomic<std::uint32_t>, class_count> map_{};
  real_memory::atomic<std::uint32_t> last_unordered_{0};  ///< relaxed: drawn
  std::function<void()> between_;  ///< a test's: called between the two locks of a steal
  select_task select_;  ///< guarded by the lock of whose class 0 is
};

static_assert(scheduling_policy<per_worker_policy>);

}  // namespace tartan::detail
