#pragma once
/// Mely: a queue for each color, and workstealing by what a color is worth.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <vector>

#include "core/memory.h"
#include "core/sched/papers/class_queue.h"
#include "core/sched/papers/paper_policy.h"
#include "core/sched/papers/select_task.h"
#include "core/spin_lock.h"

namespace tartan::detail {

/// Each worker has a doubly linked list of color queues under one spin lock, and serves ten events of one at most before it goes to the end.
///
/// Limits: 256 workers; memory.
/// Source: Mely (Gaud, Geneves, Lachaize, Lepers, Mottet, Muller, Quema: efficient workstealing for multicore event-driven systems),
/// III and IV. Its three heuristics are flags: time-left (IV.B: thieves take the color whose events are worth more than a steal costs, and
/// the longest first), penalty (III.C: an event counts time / penalty), locality (III.D: nearest caches first); base is without.
/// Differences:
/// - A color is a class of 65536; the map of 64 KB says whose it is. The paper's colors are 16 bits wide. The class moves whole, and not
///   while any color of it runs.
/// - no-overtaking while moving: the color queue is linked nowhere on its way, but posts find it (steal_from).
/// - An event whose cost nobody told counts 1 us.
/// - The price of a steal is for a color queue, not for each event: here it costs the same however many there are.
/// - The select callback and unordered events: as in per_worker_policy.h. Priorities are not looked at: Mely knows none.
class color_queues_policy : public paper_policy<color_queues_policy> {
 public:
  static constexpr unsigned most_workers = 256;

  color_queues_policy(runtime_state& rt, const scheduler_choice& choice);

  using paper_policy::submit;
  void submit(color where, event& e, worker* from) noexcept;
  void move_class_of(color where, unsigned worker_index) noexcept;

  bool turn(worker& w);
  bool search(worker& w);
  void cover(worker& w) noexcept;
  [[nodiscard]] work_seen sources(const worker& w) noexcept;
  [[nodiscard]] bool polls_at_rest(const worker& w) const noexcept { return owner_of(0) == w.index; }
  [[nodiscard]] std::size_t waiting(unsigned worker_index) const noexcept { return cores_[worker_index].queues.load(std::memory_order_relaxed); }
  [[nodiscard]] bool any_left() noexcept;
  std::size_t drop_all() noexcept;

 private:
  template <class>
  friend struct policy_probe;  // tests', as the next
  friend struct color_queues_probe;

  static constexpr std::uint32_t class_count = 65'536;

  /// What one worker has. Guarded by its lock, but for what is atomic, which others read as hints.
  struct alignas(128) core {
    spin_lock lock;
    core_list colors;                             ///< with the one that runs, at its head
    stealing_queue worthy;
    class_queue* running = nullptr;
    real_memory::atomic<std::size_t> size{0};     ///< tasks; release by insert, pairs with any_left
    real_memory::atomic<std::size_t> queues{0};   ///< color queues with tasks
    std::vector<unsigned> victims;                ///< in the order in which its worker visits them
    /// Whether a thief may find something, as far as can be told without the lock. Thieves ask for it all the time: it has a cache line
    /// of its own and is written only when it changes, for the lines above are the owner's at each event.
    alignas(128) real_memory::atomic<bool> offers{false};
  };

  [[nodiscard]] unsigned owner_of(std::uint32_t number) const noexcept {
    return map_[number].load(std::memory_order_acquire);  // pairs with who moves the class
  }
  [[nodiscard]] std::uint32_t class_of(color where) noexcept;
  [[nodiscard]] core& lock_owner_of(std::uint32_t number) noexcept;
  [[nodiscard]] std::uint32_t worth_of(const task& t) const noexcept;
  void tell(unsigned owner, worker* from) noexcept;
  [[nodiscard]] bool may_leave(const class_queue& q) const noexcept { return !(pinned_ && q.number == 0); }
  /// Asked without the lock: thieves that lock their victims in vain keep them from their work.
  [[nodiscard]] bool may_be_worth_a_visit(unsigned victim) const noexcept { return cores_[victim].offers.load(std::memory_order_relaxed); }

  // With the core's lock held.
  void insert(core& into, task& t, class_queue*& spare) noexcept;
  [[nodiscard]] task* take_from(core& own, class_queue& q) noexcept;
  void revalue(core& own, class_queue& q) noexcept;
  void offer(core& own) noexcept;
  void leave(core& own, class_queue& q) noexcept;
  [[nodiscard]] class_queue* worth_taking(const core& victim) const noexcept;
  void begin_batch(core& own, worker& w) noexcept;

  [[nodiscard]] bool run_next(worker& w, core& own);
  void end_batch(core& own, line_cache* lines) noexcept;
  [[nodiscard]] bool steal(worker& w) noexcept;
  [[nodiscard]] bool steal_from(worker& w, unsigned victim) noexcept;
  void learn_price(std::uint64_t took_ns) noexcept;
  void summon_owners(const worker* but) noexcept;
  [[nodiscard]] std::uint64_t price_ns() const noexcept { return price_ns_.load(std::memory_order_relaxed); }
  void set_victims();
  [[nodiscard]] class_queue* new_queue(line_cache* lines, color where, const event* what) noexcept;
  void free_queue(class_queue& q, line_cache* lines) noexcept;

  const bool stealing_;
  const bool time_left_;
  const bool penalty_;
  const bool locality_;
  const bool pinned_;
  task_memory memory_;               ///< of tasks, and of color queues, which are as large
  std::unique_ptr<core[]> cores_;
  std::unique_ptr<class_queue*[]> queue_;  ///< null: the class has no tasks. Guarded by the lock of whose it is
  /// Whose a class is. Release under the lock of whose it was; pairs with owner_of.
  std::unique_ptr<real_memory::atomic<std::uint8_t>[]> map_;
  real_memory::atomic<std::uint32_t> last_unordered_{0};  ///< relaxed: drawn
  real_memory::atomic<std::uint64_t> price_ns_{2'000};    ///< of a steal, monitored; relaxed: a number
  std::function<void()> between_;    ///< a test's: called between the two locks of a steal
  select_task select_;               ///< guarded by the lock of whose class 0 is
};

static_assert(scheduling_policy<color_queues_policy>);

}  // namespace tartan::detail
