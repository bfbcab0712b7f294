#pragma once
/// A callback that waits for its time. Library code; programs use timer.h and post_after.h.

#include <cstdint>
#include <memory>
#include <new>
#include <source_location>
#include <tartan/core/event.h>
#include <tartan/core/result.h>
#include <tartan/time/timer_node.h>
#include <type_traits>
#include <utility>

namespace tartan::detail {

/// Gets result<void>, or nothing at all.
template <class F>
concept timer_callback = std::is_invocable_v<std::decay_t<F>&, result<void>> || std::is_invocable_v<std::decay_t<F>&>;

template <class... Args>
concept ends_in_no_timer_callback =
    sizeof...(Args) > 1 && !timer_callback<last_of<Args...>> && !place_of_call<last_of<Args...>>;

/// A node with a callback in its event's storage. The same two cache lines: what it needs besides is in links.embedder.
///
/// Color: the node's, for everything. Lifetime: see `owned`.
class timer_wait {
 public:
  enum flag : std::uint8_t {
    owned = 1,      ///< by a timer, which keeps it for its next wait; else it frees itself after its event
    waiting = 2,    ///< armed or posted, and not canceled
    abandoned = 4,  ///< canceled after it was posted: its event frees it and does nothing else
  };

  timer_node node;

  [[nodiscard]] bool is(flag f) const noexcept { return (node.links.embedder & f) != 0; }
  void set(flag f, bool on) noexcept {
    node.links.embedder = static_cast<std::uint8_t>(on ? node.links.embedder | f : node.links.embedder & ~f);
  }

  /// The event is the first member of the first member.
  [[nodiscard]] static timer_wait& of(event& fired) noexcept { return *reinterpret_cast<timer_wait*>(&fired); }
};
static_assert(std::is_standard_layout_v<timer_wait> && sizeof(timer_wait) == sizeof(timer_node));

/// What the event of a wait needs besides: to destroy the callback while the event is in a queue.
struct timer_wait_ops : event_ops {
  void (*destroy)(event&) noexcept;
};

/// Memory comes from the runtime's pool of frames and goes back to it, on whatever threads. Errors: std::bad_alloc.
[[nodiscard]] timer_wait* new_timer_wait(runtime_state& rt, color where, bool owned);
void free_timer_wait(timer_wait& wait) noexcept;

/// Calls a posted wait off: destroys the callback here; the event frees the rest.
void abandon(timer_wait& wait) noexcept;

/// The wait has ended: it belongs to its timer again, or is freed.
inline void end_timer_wait(timer_wait& wait) noexcept {
  wait.set(timer_wait::waiting, false);
  if (!wait.is(timer_wait::owned)) free_timer_wait(wait);
}

template <class F>
struct timer_wait_callable {
  using place = callable_ops<F>;

  /// The callback, out of the wait, where setting or destroying the timer cannot touch it.
  class taken {
   public:
    explicit taken(event& e) : held_{take(e)} {}
    F& operator*() noexcept {
      if constexpr (fits_event<F>) {
        return held_;
      } else {
        return *held_;
      }
    }

   private:
    using holder = std::conditional_t<fits_event<F>, F, std::unique_ptr<F>>;
    static holder take(event& e) noexcept {
      if constexpr (fits_event<F>) {
        holder moved{std::move(place::callable(e))};
        place::drop(e);
        return moved;
      } else {
        return holder{&place::callable(e)};
      }
    }
    holder held_;
  };

  static void run(event& e) {
    timer_wait& wait = timer_wait::of(e);
    if (wait.is(timer_wait::abandoned)) return free_timer_wait(wait);
    taken callback{e};
    const bool canceled = wait.node.canceled_by_stop;
    end_timer_wait(wait);
    if constexpr (std::is_invocable_v<F&, result<void>>) {
      (*callback)(canceled ? result<void>{errc::canceled} : result<void>{});
    } else {
      if (!canceled) (*callback)();
    }
  }
  static void drop(event& e) noexcept {
    timer_wait& wait = timer_wait::of(e);
    if (wait.is(timer_wait::abandoned)) return free_timer_wait(wait);
    const taken callback{e};
    end_timer_wait(wait);
  }
  static constexpr timer_wait_ops ops{{&run, &drop, origin::timer, false, is_hinted<F>}, &place::drop};
};

/// Puts a callback into a wait that is not in use.
///
/// Errors: std::bad_alloc, and what the callback's constructor throws.
template <timer_callback F>
void fill_timer_wait(timer_wait& wait, F&& f, std::source_location site) {
  using callable = std::decay_t<F>;
  refuse_task<callable&>();
  refuse_task<callable&, result<void>>();
  event& e = wait.node.fired;
  if constexpr (fits_event<callable>) {
    ::new (static_cast<void*>(e.storage)) callable(std::forward<F>(f));
  } else {
    ::new (static_cast<void*>(e.storage)) callable*(new callable(std::forward<F>(f)));
  }
  e.ops = &timer_wait_callable<callable>::ops;
  e.site = site;
  wait.set(timer_wait::waiting, true);
}

}  // namespace tartan::detail
