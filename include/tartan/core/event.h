#pragma once
/// How a callable becomes an event: one cache line. Library code; programs use post.h.

#include <cstddef>
#include <cstdint>
#include <new>
#include <source_location>
#include <tartan/core/color.h>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tartan {

template <class T>
class task;

}  // namespace tartan

namespace tartan::detail {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// Called with these arguments, it gives a coroutine, which has not started.
template <class F, class... Args>
concept makes_task = std::is_invocable_v<F, Args...> && is_task<std::remove_cvref_t<std::invoke_result_t<F, Args...>>>;

/// For callables whose result is dropped: a task would never run.
template <bool GivesTask>
consteval void refuse_task_if() noexcept {
  static_assert(!GivesTask, "this callable gives a task, which would be dropped and never run: "
                            "start the coroutine with spawn(f, args...) or spawn_in(color, f, args...)");
}
template <class F, class... Args>
consteval void refuse_task() noexcept {
  refuse_task_if<makes_task<F, Args...>>();
}

/// What an event calls. What takes arguments is given them by a lambda's capture, or by bind.
template <class F>
concept callable_without_arguments = std::is_invocable_v<std::decay_t<F>&>;

/// The callable of a call that ends with it, or with the place of the call.
template <class... Args>
using last_of = std::tuple_element_t<sizeof...(Args) - 1, std::tuple<Args...>>;
template <class T>
concept place_of_call = std::is_same_v<std::remove_cvref_t<T>, std::source_location>;

template <class... Args>
concept ends_in_no_event =
    sizeof...(Args) != 0 && !callable_without_arguments<last_of<Args...>> && !place_of_call<last_of<Args...>>;

/// What deleted overloads give. The compiler's message shows it instead of a list of candidates: what a call that does
/// not fit needs.
struct needs_a_callable_without_arguments {};
struct needs_a_callable_that_takes_nothing_or_a_result {};
struct needs_a_function_that_gives_a_task_for_the_arguments {};
struct needs_a_callable_without_arguments_and_one_that_takes_its_result {};

/// Where an event comes from; a scheduling policy may treat them differently (the papers' do).
enum class origin : std::uint8_t { post, io, timer, signal };

/// What a programmer or a policy knows about a handler; lies in the event's storage if `event_ops::hinted`.
struct alignas(8) handler_hints {
  std::uint32_t cost_ns = 0;   ///< usual time of the handler; 0: not told
  std::uint16_t penalty = 1;   ///< Mely, section III.C: cost / penalty is what a thief sees
  std::uint8_t priority = 0;   ///< higher goes first, between colors only

  bool operator==(const handler_hints&) const = default;
};

/// From now on there may be annotations: schedulers look for none before. Threads: any.
void note_hints() noexcept;

struct event;

/// What is the same for all events of one callable type: a constant, so that an event needs one pointer for it.
struct event_ops {
  void (*run)(event&);            ///< calls the callable, then destroys it, also if it throws
  void (*drop)(event&) noexcept;  ///< destroys the callable without a call
  origin from = origin::post;
  bool pooled = true;   ///< the runtime frees the event's memory after run or drop; else its maker does
  bool hinted = false;  ///< the storage starts with handler_hints
  bool counted = true;  ///< if dropped, by a drain; false: part of a coroutine, which counts as one
  /// Asks for cache lines that run will touch, some turns ahead: called with step 0, 1, 2 and so on, up to last_step_ahead, once a turn or less, so that
  /// a step may follow pointers in what the one before has asked for. Steps may be left out, or come again. Null: the event is all that is needed.
  /// Threads: who holds the lock of the worker in whose line the event's color waits; it reads, and does nothing else.
  void (*ask_ahead)(event&, unsigned step) noexcept = nullptr;
  static constexpr unsigned last_step_ahead = 3;
};

/// One pending callable. 64 bytes, on a cache line of its own.
///
/// Lifetime: from make to run or drop. An event that is not pooled (a coroutine's) is not touched after run or drop was entered.
struct alignas(64) event {
  static constexpr std::size_t capacity_bytes = 40;

  event* next = nullptr;
  const event_ops* ops = nullptr;
  std::source_location site;
  alignas(8) std::byte storage[capacity_bytes];
};
static_assert(sizeof(event) == 64);

/// What an event that is hinted begins with.
[[nodiscard]] inline handler_hints& hints_in(event& hinted) noexcept { return *std::launder(reinterpret_cast<handler_hints*>(hinted.storage)); }

class runtime_state;

/// What the library knows about the thread that it stands on: set while a thread works for a runtime, else null.
struct thread_context {
  color running{};               ///< color of the running event; written whole, as site
  std::source_location site;     ///< post site of the running event; written whole, for the stall watch reads it
  std::uint32_t inline_left = 0; ///< operations that may still complete at once in this event (contract 12)
  bool in_event = false;
  runtime_state* owner = nullptr;///< the runtime that the thread works for
};

extern constinit thread_local thread_context* here;

/// The same, for coroutines: a compiler may keep the address of a thread-local across a suspension.
[[nodiscard]] thread_context* here_now() noexcept;

void free_event(runtime_state& rt, event& e) noexcept;

/// Destroys what will not be run, and gives its memory back.
inline void discard_event(runtime_state& rt, event& e) noexcept {
  const bool pooled = e.ops->pooled;  // one that is not may be gone after drop
  e.ops->drop(e);
  if (pooled) free_event(rt, e);
}

/// Memory for one event.
///
/// Cost: no read-modify-write, but for one in 64 calls at most.
[[nodiscard]] event* new_event(runtime_state& rt);

template <class F>
inline constexpr bool fits_event =
    sizeof(F) <= event::capacity_bytes && alignof(F) <= 8 && std::is_nothrow_move_constructible_v<F>;

/// Whether copying F into an event runs no code of the program. Only such an event may be queued before it is filled: a
/// constructor could throw, or post to the same color.
template <class F>
inline constexpr bool fills_silently =
    fits_event<std::decay_t<F>> && std::is_trivially_constructible_v<std::decay_t<F>, F>;

/// A callable that begins with handler_hints (hints.h). It always fits.
template <class F>
class hinted;
template <class F>
inline constexpr bool is_hinted = false;

/// The event of what calls F back when something has ended: the hints of F, or room for hints, and behind it the way back to that.
template <class F>
void put_hints(event& e, const F& f) noexcept {
  if constexpr (is_hinted<F>) ::new (static_cast<void*>(e.storage)) handler_hints{f.own()};
}
template <class Self>
void put_self(event& e, Self* self) noexcept {
  ::new (static_cast<void*>(e.storage + sizeof(handler_hints))) Self*(self);
}
template <class Self>
[[nodiscard]] Self& self_in(event& e) noexcept {
  return **std::launder(reinterpret_cast<Self**>(e.storage + sizeof(handler_hints)));
}

template <class F, bool InPlace = fits_event<F>>
struct callable_ops {
  static_assert(InPlace || !is_hinted<F>);

  static F& callable(event& e) noexcept {
    if constexpr (InPlace) {
      return *std::launder(reinterpret_cast<F*>(e.storage));
    } else {
      return **std::launder(reinterpret_cast<F**>(e.storage));
    }
  }
  static void drop(event& e) noexcept {
    if constexpr (InPlace) {
      callable(e).~F();
    } else {
      delete &callable(e);
    }
  }
  static void run(event& e) {
    struct at_end {
      event& e;
      ~at_end() { drop(e); }
    } end{e};
    callable(e)();
  }
  static constexpr event_ops ops{&run, &drop, origin::post, true, is_hinted<F>};
};

/// Puts a callable into an event's storage.
template <class F>
void fill_event(event& e, F&& f, std::source_location site) {
  using callable = std::decay_t<F>;
  refuse_task<callable&>();
  if constexpr (fits_event<callable>) {
    ::new (static_cast<void*>(e.storage)) callable(std::forward<F>(f));
  } else {
    ::new (static_cast<void*>(e.storage)) callable*(new callable(std::forward<F>(f)));
  }
  e.ops = &callable_ops<callable>::ops;
  e.site = site;
}

/// A new event that holds the callable.
///
/// Errors: std::bad_alloc, and what the callable's constructor throws; then nothing is leaked.
template <class F>
[[nodiscard]] event* make_event(runtime_state& rt, F&& f, std::source_location site) {
  event* e = new_event(rt);
  if constexpr (std::is_nothrow_constructible_v<std::decay_t<F>, F> && fits_event<std::decay_t<F>>) {
    fill_event(*e, std::forward<F>(f), site);
  } else {
    try {
      fill_event(*e, std::forward<F>(f), site);
    } catch (...) {
      free_event(rt, *e);
      throw;
    }
  }
  return e;
}

/// An event on its way to a color.
struct addressed_event {
  color where;
  event* what;
};

struct strand_state;
struct strand_access;
[[nodiscard]] runtime_state& runtime_of(strand_state& s) noexcept;
[[noreturn]] void moved_from_strand(std::source_location site) noexcept;

/// Hands an event to the runtime; from any thread.
///
/// Errors: false, and the event is destroyed, if the runtime was stopped and the caller is a foreign thread, or was drained.
bool submit(runtime_state& rt, color c, event& e) noexcept;
bool submit(strand_state& s, event& e) noexcept;

/// Memory for one event, to be filled at once.
struct event_slot {
  event* memory;
  bool queued;  ///< it is the last event of the running color already; only the caller reads that list until its event ends
};

/// In one call, memory for an event, and its place if the color is the one that runs.
///
/// Errors: std::bad_alloc.
[[nodiscard]] event_slot claim_slot(strand_state& s);
[[nodiscard]] event_slot claim_slot(runtime_state& rt, color c);

/// make_event and submit, with one call fewer into the library where the color is the one that runs.
///
/// Errors: as both.
template <class F>
bool post_event(strand_state& s, F&& f, std::source_location site) {
  if constexpr (fills_silently<F>) {
    const event_slot slot = claim_slot(s);
    fill_event(*slot.memory, std::forward<F>(f), site);
    return slot.queued || submit(s, *slot.memory);
  } else {
    return submit(s, *make_event(runtime_of(s), std::forward<F>(f), site));
  }
}
template <class F>
bool post_event(runtime_state& rt, color c, F&& f, std::source_location site) {
  if constexpr (fills_silently<F>) {
    const event_slot slot = claim_slot(rt, c);
    fill_event(*slot.memory, std::forward<F>(f), site);
    return slot.queued || submit(rt, c, *slot.memory);
  } else {
    return submit(rt, c, *make_event(rt, std::forward<F>(f), site));
  }
}

/// The same for what an event, an operation or a blocking job completes with: goes on after stop.
bool submit_completion(runtime_state& rt, color c, event& e) noexcept;

/// The runtime whose event runs on this thread; null outside.
[[nodiscard]] runtime_state* current_runtime() noexcept;
/// The same; ends the program, naming the function that was called, outside of any event.
[[nodiscard]] runtime_state& required_runtime(const char* function, std::source_location site) noexcept;

}  // namespace tartan::detail
