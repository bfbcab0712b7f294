#pragma once
// The cores, on one thread: each has a stack and a clock of its own, and the one whose clock is behind all others goes on.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <setjmp.h>
#include <ucontext.h>
#include <vector>

#include "simulation/arena.h"
#include "simulation/caches.h"
#include "simulation/machine.h"
#include "simulation/thread_locals.h"
#include "simulation/touched_lines.h"

namespace simulation {

/// One core, and what it runs.
struct core {
  picoseconds clock = 0;
  picoseconds hit = 0;           ///< what an access costs that hits: nothing while a handler runs, whose time is charged as a whole
  unsigned number = 0;
  bool asleep = false;
  bool ended = true;
  bool entered = false;
  std::uint64_t turn = 0;        ///< the last one that it was put down for
  std::uint64_t accesses = 0;
  std::uint64_t misses = 0;
  touched_lines touched;         ///< by the handler that runs
  std::function<void()> body;
  thread_locals locals;
  std::unique_ptr<std::byte[]> stack;
  ucontext_t start{};
  jmp_buf at{};
};

/// All cores of the machine. There is one in a program.
///
/// Whatever cores can see of each other happens in the order of their clocks: before an access that misses or is atomic, and before a
/// system call, a core whose clock is ahead waits. What only hits runs ahead until then.
class sequencer {
 public:
  explicit sequencer(const machine& on);
  sequencer(const sequencer&) = delete;
  sequencer& operator=(const sequencer&) = delete;

  /// Runs it on core 0 until it returns.
  void run(std::function<void()> body);

  /// The same on the next core that runs nothing. Gives its number. Threads: a core.
  unsigned start(std::function<void()> body);
  void join(unsigned number);

  [[nodiscard]] core& current() noexcept { return *current_; }
  [[nodiscard]] const machine& on() const noexcept { return on_; }
  [[nodiscard]] const core& at(unsigned number) const noexcept { return *cores_[number]; }

  // Of the core that calls.
  void touch(const volatile void* address, std::size_t size, touch_kind how) noexcept;
  void touch_atomic(const volatile void* address, touch_kind how) noexcept;
  void spend(picoseconds time) noexcept { current_->clock += time; }
  /// Until its clock is behind all others.
  void take_turn() noexcept {
    if (current_->clock > next_clock_) switch_away();
  }
  /// Until it is woken, or its clock shows so much.
  void sleep(picoseconds until) noexcept;
  /// At that time something happens outside of all cores: `outside` is called with it, when no core's clock is behind, and charges nobody.
  void expect(picoseconds when);
  std::function<void(picoseconds)> outside;
  /// Ends another one's sleep at that time, or before.
  void wake(unsigned number, picoseconds when) noexcept;
  [[nodiscard]] bool is_asleep(unsigned number) const noexcept { return cores_[number]->asleep; }
  [[nodiscard]] bool all_others_sleep() const noexcept;

  static constexpr picoseconds never = ~picoseconds{0};

 private:
  struct waiting {
    picoseconds clock;
    unsigned number;
    std::uint64_t turn;
    [[nodiscard]] bool operator<(const waiting& other) const noexcept {
      return clock != other.clock ? clock > other.clock : number > other.number;  // the top of a heap is its largest
    }
  };

  /// Instead of a core's number. At one time, cores go first.
  static constexpr unsigned nobody = ~0u;

  static void enter();
  void prepare(core& c, std::function<void()> body);
  void touch_line(std::size_t line, touch_kind how) noexcept;
  [[nodiscard]] std::uint64_t next_share() noexcept;
  void put(core& c) noexcept;
  void look_at_next() noexcept { next_clock_ = heap_.empty() ? never : heap_.front().clock; }
  void switch_away() noexcept;
  void go_on_with_next() noexcept;

  const machine on_;
  caches caches_;
  std::vector<std::unique_ptr<core>> cores_;
  std::vector<waiting> heap_;   ///< of all that could go on, but for the current one, and of what happens outside
  core* current_ = nullptr;
  std::unique_ptr<core> nowhere_;  ///< the current one while something happens outside; null: nothing ever does
  picoseconds next_clock_ = never;
  std::uint64_t drawn_ = 0x9e3779b97f4a7c15u;
  ucontext_t outside_{};
  bool over_ = false;
};

/// What is done while there is one is no work of the core that does it, and takes it no time.
class unpaid_scope {
 public:
  unpaid_scope() noexcept;
  unpaid_scope(const unpaid_scope&) = delete;
  unpaid_scope& operator=(const unpaid_scope&) = delete;
  ~unpaid_scope() { of_.clock = clock_; }

 private:
  core& of_;
  const picoseconds clock_;
};

/// What the instrumented program runs on. Null: nothing is charged.
extern sequencer* running;
[[nodiscard]] arena& memory() noexcept;

inline unpaid_scope::unpaid_scope() noexcept : of_{running->current()}, clock_{of_.clock} {}

}  // namespace simulation
