#pragma once
/// What a programmer knows of a handler, and a scheduler may use. Of objects with a descriptor: io_object::hint.

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <limits>
#include <memory>
#include <tartan/core/event.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan {

/// Annotations of a handler. They change when it runs and where, never what it sees: exclusion and the order of a color stay as they are.
///
/// The default scheduler measures what events cost, and needs none of them; but where a cost is told, a thief need not measure first. Its levels are the
/// priorities 0, 1, 2 and 3, and what is above 3 counts as 3. A color has the level of the event that makes it runnable, or comes next in it, of those
/// from other threads the last; a higher level goes first, but for one color in 16, when the lower ones have their turn. Of the papers' schedulers
/// (options.scheduler), Mely's uses cost and penalty (with measured-penalty, only the cost), libasync-mp's and libasync-smp's the priority. The
/// first annotation makes each color that becomes runnable in this process cost a look at its next event; before, nothing.
/// Limits: what lies beyond a field's limit counts as the limit.
/// Source: cpwrap of libasync-mp and libasync-smp; cost and penalty of Mely, III.
struct hints {
  /// How long it usually takes; zero: not told. Limit: 4.29 s.
  std::chrono::nanoseconds cost{};
  /// By how much it suffers if its color moves to another worker: a thief sees cost / penalty. Limit: 1 to 65 535.
  unsigned penalty = 1;
  /// Higher goes first, between colors only (contract 8). Limit: 255.
  unsigned priority = 0;
};

namespace detail {

[[nodiscard]] constexpr handler_hints packed(const hints& h) noexcept {
  constexpr std::int64_t most_cost = std::numeric_limits<std::uint32_t>::max();
  constexpr unsigned most_penalty = std::numeric_limits<std::uint16_t>::max();
  constexpr unsigned most_priority = std::numeric_limits<std::uint8_t>::max();
  return {.cost_ns = static_cast<std::uint32_t>(std::clamp<std::int64_t>(h.cost.count(), 0, most_cost)),
          .penalty = static_cast<std::uint16_t>(std::clamp(h.penalty, 1u, most_penalty)),
          .priority = static_cast<std::uint8_t>(std::min(h.priority, most_priority))};
}

inline constexpr std::size_t hinted_capacity_bytes = event::capacity_bytes - sizeof(handler_hints);

/// A callable with its annotations in front, where a scheduler finds them. What is larger than 32 bytes lies on the heap.
template <class F>
class hinted {
  static constexpr bool in_place = sizeof(F) <= hinted_capacity_bytes && fits_event<F>;

 public:
  template <class G>
  hinted(handler_hints own, G&& f) : own_{own}, f_{hold(std::forward<G>(f))} {}

  template <class... Args>
    requires std::is_invocable_v<F&, Args...>
  decltype(auto) operator()(Args&&... args) {
    return callable()(std::forward<Args>(args)...);
  }
  template <class... Args>
    requires std::is_invocable_v<const F&, Args...>
  decltype(auto) operator()(Args&&... args) const {
    return std::as_const(const_cast<hinted&>(*this).callable())(std::forward<Args>(args)...);
  }

  [[nodiscard]] handler_hints own() const noexcept { return own_; }
  [[nodiscard]] F& callable() noexcept {
    if constexpr (in_place) {
      return f_;
    } else {
      return *f_;
    }
  }

 private:
  using holder = std::conditional_t<in_place, F, std::unique_ptr<F>>;
  template <class G>
  static holder hold(G&& f) {
    if constexpr (in_place) {
      return F(std::forward<G>(f));
    } else {
      return std::make_unique<F>(std::forward<G>(f));
    }
  }

  handler_hints own_;  ///< first: read from the event's storage
  holder f_;
};

template <class F>
inline constexpr bool is_hinted<hinted<F>> = true;

/// Sets the hints of the coroutine's own events.
class hint_operation {
 public:
  explicit hint_operation(handler_hints wanted) noexcept : wanted_{wanted} {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) const noexcept {
    self.promise().in().set_hints(wanted_);
    return false;
  }
  void await_resume() const noexcept {}

 private:
  handler_hints wanted_;
};

}  // namespace detail

/// A callable with annotations, for everything that takes one: `rt.post(c, with_hints({.cost = 12us}, parse))`,
/// `bind(c, with_hints({.priority = 2}, on_done))`, timers, strands, batches, operations on descriptors and files. With spawn it is
/// `co_await hint(...)` instead.
///
/// Errors: what the callable's constructor throws; std::bad_alloc.
/// Cost: eight bytes of the event's forty; a callable of more than 32 bytes needs an allocation.
template <class F>
[[nodiscard]] auto with_hints(const hints& h, F&& f) {
  detail::note_hints();
  return detail::hinted<std::decay_t<F>>{detail::packed(h), std::forward<F>(f)};
}

/// `co_await hint({.cost = 2ms})`: what this coroutine does from its next resumption on, and the tasks that it awaits. Never suspends.
[[nodiscard]] inline detail::hint_operation hint(const hints& h) noexcept {
  detail::note_hints();
  return detail::hint_operation{detail::packed(h)};
}

}  // namespace tartan
