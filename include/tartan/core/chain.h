#pragma once
/// A coroutine and all that it awaits, one after the other: what is suspended, resumed, moved and canceled as one. Library code.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

namespace tartan::detail {

class branches;
class chain;
class runtime_state;

/// What a chain is suspended in.
class operation {
 public:
  /// Asked to end early. True: it has, and nobody will complete it. False: it will be completed, now or later, by whoever does it.
  ///
  /// Color: the chain's. Called at most once for each wait.
  virtual bool cancel() noexcept { return false; }

  /// What chain::visit was called for, in the other color.
  virtual void visit() noexcept {}

  /// The runtime's shutdown begins while `waiter` waits in this: an operation that only brings new work ends.
  ///
  /// Threads: the one that runs the runtime, while no worker runs.
  virtual void shutdown_begins(chain& /*waiter*/) noexcept {}

  /// What it waits for, in a word or two, as reports of waiting coroutines show it.
  [[nodiscard]] virtual const char* name() const noexcept { return "an operation"; }
  /// The place where what it waits for was made, if that is known: of a coroutine that is joined, where it was spawned.
  [[nodiscard]] virtual std::source_location about() const noexcept { return unknown_place(); }
  /// The chains that it waits for, if it has any.
  [[nodiscard]] virtual branches* as_branches() noexcept { return nullptr; }

 protected:
  [[nodiscard]] static constexpr std::source_location unknown_place() noexcept { return {}; }

  operation() = default;
  operation(const operation&) = default;
  operation& operator=(const operation&) = default;
  ~operation() = default;
};

/// What a chain is suspended for that is no operation and cannot be withdrawn.
enum class suspension : std::uint8_t { none, blocking_job, elsewhere };

/// One line of coroutines: at most one of them runs or waits at a time. Two cache lines.
///
/// Color: `where()`, for all that does not say otherwise.
/// Lifetime: a root's is counted; a branch's is its operation's. Not touched after finish() was entered.
class chain {
 public:
  chain(const chain&) = delete;
  chain& operator=(const chain&) = delete;

  [[nodiscard]] runtime_state& runtime() const noexcept { return *rt_; }
  [[nodiscard]] color where() const noexcept { return where_; }
  [[nodiscard]] std::source_location site() const noexcept { return event_.site; }
  void set_hints(handler_hints wanted) noexcept { in_storage(event_).own = wanted; }

  /// The end of every await_suspend of an operation that has begun and can be withdrawn. Gives what await_suspend gives:
  /// false if it has ended meanwhile.
  [[nodiscard]] bool wait(std::coroutine_handle<> self, operation& op) noexcept;

  /// The same for an operation that has ended at once: at most 64 times in an event (contract 12), then by way of the color's back.
  [[nodiscard]] bool at_once(std::coroutine_handle<> self) noexcept;

  /// Suspends, and resumes at the back of the color.
  void to_back(std::coroutine_handle<> self) noexcept;

  /// Suspends, and resumes in another color. color::unordered: in a color that nobody else has.
  void move(std::coroutine_handle<> self, color to) noexcept;

  /// Suspends, calls op.visit() in another color, and resumes in this one.
  void visit(std::coroutine_handle<> self, color there, operation& op) noexcept;

  /// Suspends until a call of resume(), once, from any thread. Cannot be withdrawn. `why` is for reports.
  void suspend(std::coroutine_handle<> self, suspension why = suspension::elsewhere) noexcept {
    handle_ = self;
    suspended_for_ = why;
  }
  void resume() noexcept;
  /// By the coroutine, when it goes on after suspend(): reports do not show that any more.
  void resumed() noexcept { suspended_for_ = suspension::none; }

  /// The operation of wait() has ended, or will not be waited for. Threads: any; the frame may be gone when this returns.
  void complete() noexcept;

  /// The same from within an event of this color, as the last thing in it: resumes without another event.
  void complete_here() noexcept;

  /// Asks it to end: what it waits for, now or later, ends as canceled. Threads: any. Has no effect the second time.
  void cancel() noexcept;
  [[nodiscard]] bool cancel_requested() const noexcept;

  /// The operation that it waits in; null: it runs, is about to, or is suspended for something else.
  ///
  /// Threads: any, while no worker runs.
  [[nodiscard]] operation* waits_in() const noexcept;
  /// What it was suspended for by suspend() and has not gone on from. Threads: as above.
  [[nodiscard]] suspension suspended_for() const noexcept { return suspended_for_; }

  /// What await_suspend gives to go on with another coroutine of this chain. Where the compiler makes no tail calls (gcc without
  /// optimization, or with AddressSanitizer) each such step keeps a piece of the stack; every 256th gives all of them back.
  [[nodiscard]] std::coroutine_handle<> transfer(std::coroutine_handle<> to) noexcept {
    if (++transfers_ != 0) [[likely]] return to;
    return transfer_by_return(to);
  }

  /// A coroutine has ended: gives the one that goes on here, or sends it where it belongs. Null: the chain has ended.
  [[nodiscard]] std::coroutine_handle<> leave(std::coroutine_handle<> awaiter, color awaiter_color) noexcept {
    if (awaiter && awaiter_color == where_) return transfer(awaiter);
    return leave_color(awaiter, awaiter_color);
  }

 protected:
  chain() noexcept;
  chain(runtime_state& rt, color where, std::source_location site) noexcept;
  ~chain() = default;

  void open(runtime_state& rt, color where, std::source_location site) noexcept;

  /// Runs the coroutine until it is suspended, then finish() if it has ended.
  void run(std::coroutine_handle<> self) noexcept;

  /// The bottom coroutine has ended, in where(); nothing of the chain is on the stack but this call.
  virtual void finish() noexcept = 0;

  /// Takes the chain's event, which must not be in use, to where(). False: the runtime is over, nothing will run.
  bool post(const event_ops& ops) noexcept;
  /// The same without a question. Threads: who has seen, on a worker or in a gate, that the runtime takes it.
  void post_admitted(const event_ops& ops) noexcept;
  void set_color(color to) noexcept;
  [[nodiscard]] static chain& of(event& e) noexcept { return *in_storage(e).self; }

  /// For event_ops::drop: coroutines' frames are destroyed by the registry of roots, not by their events.
  static void drop_event(event& /*e*/) noexcept {}

  void* owner_ = nullptr;  ///< who is told when it ends: a branch's operation, a root's group

 private:
  friend struct chain_steps;
  struct events;

  /// In the event: hints come first (event_ops::hinted).
  struct stored {
    handler_hints own;
    chain* self;
  };
  [[nodiscard]] static stored& in_storage(event& e) noexcept { return *std::launder(reinterpret_cast<stored*>(e.storage)); }

  /// What run() has on its stack.
  struct turn {
    std::coroutine_handle<> next{};
    bool ended = false;
  };

  std::coroutine_handle<> transfer_by_return(std::coroutine_handle<> to) noexcept;
  std::coroutine_handle<> leave_color(std::coroutine_handle<> awaiter, color awaiter_color) noexcept;

  runtime_state* rt_ = nullptr;
  color where_{};
  alignas(4) std::byte word_[4];       ///< a wait_word
  std::uint8_t transfers_ = 0;
  suspension suspended_for_ = suspension::none;
  std::coroutine_handle<> handle_{};   ///< the coroutine to resume
  operation* operation_ = nullptr;     ///< of wait() or visit()
  turn* turn_ = nullptr;
  event event_;                        ///< the only one: resumes, visits or cancels
};
static_assert(sizeof(chain) == 128);

/// Counts one completion at once. False: there were 64 in this event.
[[nodiscard]] bool take_inline() noexcept;

}  // namespace tartan::detail
