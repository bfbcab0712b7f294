#pragma once
/// State per key, without a lock: many T, each in a color of its own.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <tartan/core/awaited_callable.h>
#include <tartan/core/color.h>
#include <tartan/core/hints.h>
#include <tartan/core/in.h>
#include <tartan/core/on.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan {

/// How many parts a sharded object has. With eight for each worker, two keys in use at the same time seldom share one.
struct shards {
  std::size_t count = 64;
};

namespace detail {

/// Errors: std::invalid_argument for none, or more than 65536.
[[nodiscard]] std::size_t checked_shards(std::size_t count);
/// "name 7"; empty if the name is.
[[nodiscard]] std::string shard_name(std::string_view name, std::size_t number);

/// From a hash to one of `count` shards, by its upper half. Cost: a multiplication, for any count.
[[nodiscard]] constexpr std::size_t shard_of(std::uint64_t hashed, std::size_t count) noexcept {
  return static_cast<std::size_t>(((hashed >> 32) * count) >> 32);
}

/// Whether an R is known to refer to a T, or into it: other events of the shard's color may change that at any time.
template <class T, class R>
inline constexpr bool leads_into = std::is_reference_v<R> || std::is_same_v<R, T*> || std::is_same_v<R, const T*>;
template <class T, class R>
  requires requires {
    typename T::iterator;
    typename T::const_iterator;
  }
inline constexpr bool leads_into<T, R> = std::is_reference_v<R> || std::is_same_v<R, T*> ||
                                         std::is_same_v<R, const T*> || std::is_same_v<R, typename T::iterator> ||
                                         std::is_same_v<R, typename T::const_iterator>;
/// What insert and equal_range give.
template <class T, class A, class B>
inline constexpr bool leads_into<T, std::pair<A, B>> = leads_into<T, A> || leads_into<T, B>;
template <class T, class R>
inline constexpr bool leads_into<T, task<R>> = leads_into<T, R>;

/// A callable together with the shard that it is for.
template <class T, class F>
class shard_call {
 public:
  template <class G>
  shard_call(T& shard, G&& f) : shard_{&shard}, f_{std::forward<G>(f)} {}
  decltype(auto) operator()() && { return std::move(f_)(*shard_); }

 private:
  T* shard_;
  F f_;
};

template <class T, class F>
auto shard_task(color where, T& shard, F f) -> std::invoke_result_t<F, T&> {
  co_await on(where);
  co_return co_await std::move(f)(shard);
}

}  // namespace detail

/// Many T, each in a strand of its own, and a key that says which: `co_await counts.with(word, f)` calls f(T&) in the
/// color of the word's T.
///
/// A key always belongs to the same shard, so what is kept under it is used by one event at a time. Keys that share a
/// shard wait for each other; two shards never do. A key is hashed as in color::of, and neighbors spread evenly.
/// Color: f runs in its shard's. Each T is made by the thread that makes this object, and destroyed by the one that
/// destroys it.
/// Threads: with() and for_each() in coroutines of any color; post() on any thread.
/// Lifetime: must not outlive its runtime: that ends the program with the strand's name. Must outlive every function
/// that it was given and that has not run: destroy it when its users are done, or when the runtime no longer runs.
/// Limits: 65536 shards.
/// Cost: 64 bytes for each shard, its T, and its name if it has one.
template <class T>
class sharded {
 public:
  /// Each T is made from the same arguments, which are not moved from. The strands are named "name 0", "name 1" and on.
  ///
  /// Errors: std::invalid_argument for no shards, or too many; std::bad_alloc; what T's constructor throws.
  template <class... Args>
    requires std::is_constructible_v<T, const Args&...>
  explicit sharded(runtime& rt, std::string_view name = {}, shards how_many = {}, const Args&... args)
      : all_{how_many.count} {
    for (std::size_t n = 0; n < all_.count; ++n) {
      std::construct_at(all_.at + n, rt, detail::shard_name(name, n), args...);
      ++all_.made;
    }
  }
  sharded(const sharded&) = delete;
  sharded& operator=(const sharded&) = delete;

  /// `co_await s.with(key, f)`: calls f(T&) in the color of the key's shard and gives its result, or throws its
  /// exception, here.
  ///
  /// If f gives a task, that coroutine runs in the shard's color from beginning to end. At each of its co_awaits the
  /// shard is free, and others may change it.
  /// The result is a value. A reference, a pointer to the T or an iterator of it is refused at compile time, because it
  /// would be used in another color. A std::string_view and a pointer to an element are not recognized: copy instead.
  /// Color, Lifetime, Errors, Order: as `in` with the shard's color, so capture by reference. The key is used before
  /// this returns.
  /// Cost: as `in`, and the hash.
  template <class Key, class F>
    requires std::is_invocable_v<std::decay_t<F>, T&>
  [[nodiscard]] auto with(Key&& key, F&& f) {
    detail::check_awaited_value<Key>();
    detail::check_awaited_callable<F>();
    using call = std::decay_t<F>;
    using value = std::invoke_result_t<call, T&>;
    check_result<value>();
    shard& to = shard_of(key);
    if constexpr (detail::is_task<value>) {
      return detail::shard_task<T, call>(to.where, to.state, call(std::forward<F>(f)));
    } else {
      using bound = detail::shard_call<T, call>;
      return detail::in_operation<bound>{to.where, bound{to.state, std::forward<F>(f)}};
    }
  }

  /// Posts f to the color of the key's shard, to be called with its T; what it gives is dropped.
  ///
  /// Errors: as strand::post. An f that gives a task is refused at compile time: nobody would run it.
  /// Cost: as strand::post; no allocation for an f of up to 32 bytes.
  template <class Key, class F>
    requires std::is_invocable_v<std::decay_t<F>, T&>
  bool post(const Key& key, F&& f, std::source_location site = std::source_location::current()) {
    static_assert(!detail::makes_task<std::decay_t<F>, T&>,
                  "a task that is posted never runs: co_await with(key, f), or spawn a coroutine that does");
    shard& to = shard_of(key);
    if constexpr (detail::is_hinted<std::decay_t<F>>) {
      const detail::handler_hints own = f.own();
      return post_call(to, [&](auto call) { return detail::hinted<decltype(call)>{own, std::move(call)}; },
                       std::forward<F>(f), site);
    } else {
      return post_call(to, [](auto call) { return call; }, std::forward<F>(f), site);
    }
  }

  /// `co_await s.for_each(f)`: calls f(T&) in the color of each shard, in turn, and drops what it gives; a task it
  /// awaits.
  ///
  /// Not one moment of all: shards that it has visited, or will visit, may change meanwhile.
  /// Errors: the first exception of f's is thrown here; then the other shards are not visited. Cannot be cut short.
  template <class F>
    requires std::is_invocable_v<std::decay_t<F>&, T&>
  [[nodiscard]] task<> for_each(F&& f) {
    detail::check_awaited_callable<F>();
    return visit_all(std::decay_t<F>(std::forward<F>(f)));
  }

  /// The color of a key's shard: for coroutines and timers that are about that key.
  template <class Key>
  [[nodiscard]] color where(const Key& key) const {
    return all_.at[number_of(key)].where;
  }

  /// How many shards there are.
  [[nodiscard]] std::size_t size() const noexcept { return all_.count; }

 private:
  struct alignas(128) shard {
    template <class... Args>
    explicit shard(runtime& rt, const std::string& name, const Args&... args) : where{rt, name}, state(args...) {}
    strand where;
    T state;
  };
  /// So that what was made is destroyed if a constructor throws.
  struct storage {
    explicit storage(std::size_t wanted)
        : count{detail::checked_shards(wanted)}, at{std::allocator<shard>{}.allocate(count)} {}
    storage(const storage&) = delete;
    storage& operator=(const storage&) = delete;
    ~storage() {
      std::destroy_n(at, made);
      std::allocator<shard>{}.deallocate(at, count);
    }
    std::size_t count;
    shard* at;
    std::size_t made = 0;
  };

  template <class Value>
  static constexpr void check_result() noexcept {
    static_assert(!detail::leads_into<T, Value>,
                  "f gives what refers into the shard, which other events of its color may change: give a copy");
  }

  template <class Key>
  [[nodiscard]] std::size_t number_of(const Key& key) const {
    return detail::shard_of(detail::hash_of(key), all_.count);
  }
  template <class Key>
  [[nodiscard]] shard& shard_of(const Key& key) {
    return all_.at[number_of(key)];
  }

  /// `dress`: from the call to what is posted.
  template <class Dress, class F>
  static bool post_call(shard& to, const Dress& dress, F&& f, std::source_location site) {
    detail::shard_call<T, std::decay_t<F>> bound{to.state, std::forward<F>(f)};
    return to.where.post(dress([bound = std::move(bound)]() mutable { static_cast<void>(std::move(bound)()); }), site);
  }

  template <class F>
  task<> visit_all(F f) {
    for (std::size_t n = 0; n < all_.count; ++n) {
      shard& to = all_.at[n];
      if constexpr (detail::makes_task<F&, T&>) {
        static_cast<void>(co_await detail::shard_task(to.where, to.state, std::ref(f)));
      } else {
        co_await in(to.where, [&] { static_cast<void>(f(to.state)); });
      }
    }
  }

  storage all_;
};

}  // namespace tartan
