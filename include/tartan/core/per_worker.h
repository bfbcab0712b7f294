#pragma once
/// One value for each worker: for what should not be shared at all.

#include <cstddef>
#include <memory>
#include <source_location>
#include <tartan/core/runtime.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

/// The number of the worker that runs the calling event; outside of this runtime's events the program ends with a message.
[[nodiscard]] unsigned required_worker(runtime_state& rt, std::source_location site) noexcept;

/// Ends the program inside an event of this runtime.
void require_outside(runtime_state& rt, std::source_location site) noexcept;

[[nodiscard]] unsigned workers_of(const runtime_state& rt) noexcept;

}  // namespace detail

/// One T per worker: counters, caches of immutable things. Events of any color use their own worker's without a lock.
///
/// Which events meet in one T is chance: a color's events may run on several workers, one after the other.
/// Threads: local() inside events; for_each and fold while the runtime does not run; made and destroyed on any thread, at any time.
/// Lifetime: a reference from local() must not be kept over a co_await, nor the object beyond its runtime.
/// Cost: local() is three loads; each T is alone on its cache lines.
template <class T>
class per_worker {
 public:
  /// Each T is made from the same arguments, which are not moved from.
  ///
  /// Errors: what T's constructor throws; std::bad_alloc.
  template <class... Args>
    requires std::is_constructible_v<T, const Args&...>
  explicit per_worker(runtime& rt, const Args&... args) : rt_{&rt.state()}, slots_{slots{detail::workers_of(rt.state())}} {
    while (slots_.made != slots_.count) {
      std::construct_at(slots_.at + slots_.made, args...);
      ++slots_.made;
    }
  }
  per_worker(const per_worker&) = delete;
  per_worker& operator=(const per_worker&) = delete;

  /// The T of the worker that runs this event.
  ///
  /// Errors: outside of an event of the runtime the program ends with a message.
  [[nodiscard]] T& local(std::source_location site = std::source_location::current()) noexcept {
    return slots_.at[detail::required_worker(*rt_, site)].value;
  }

  /// Calls f with each T, while the runtime does not run.
  ///
  /// Errors: inside an event of the runtime the program ends with a message.
  template <class F>
  void for_each(F&& f, std::source_location site = std::source_location::current()) {
    detail::require_outside(*rt_, site);
    for (std::size_t n = 0; n < slots_.count; ++n) f(slots_.at[n].value);
  }

  /// f(f(f(from, T), T), T) ... over all workers, while the runtime does not run.
  template <class U, class F>
  [[nodiscard]] U fold(U from, F&& f, std::source_location site = std::source_location::current()) {
    for_each([&](T& each) { from = f(std::move(from), each); }, site);
    return from;
  }

 private:
  struct alignas(128) slot {
    template <class... Args>
    explicit slot(const Args&... args) : value(make(args...)) {}
    template <class A>
    static T make(const A& from) {
      return static_cast<T>(from);
    }
    template <class... Args>
    static T make(const Args&... args) {
      return T(args...);
    }
    T value;
  };
  /// So that what was made is destroyed if a constructor throws.
  struct slots {
    explicit slots(std::size_t all) : at{std::allocator<slot>{}.allocate(all)}, count{all} {}
    slots(const slots&) = delete;
    slots& operator=(const slots&) = delete;
    ~slots() {
      std::destroy_n(at, made);
      std::allocator<slot>{}.deallocate(at, count);
    }
    slot* at;
    std::size_t count;
    std::size_t made = 0;
  };

  detail::runtime_state* rt_;
  slots slots_;
};

}  // namespace tartan
