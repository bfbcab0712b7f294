#pragma once
/// Posting from within an event: into the runtime that runs it.

#include <functional>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <tartan/core/runtime.h>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tartan {

/// The color of the running event; the default color outside of events.
///
/// Cost: two loads.
[[nodiscard]] inline color current_color() noexcept {
  const detail::thread_context* context = detail::here_now();
  return context != nullptr ? context->running : color{};
}

/// Whether the calling thread is inside an event.
[[nodiscard]] inline bool in_event() noexcept {
  const detail::thread_context* context = detail::here_now();
  return context != nullptr && context->in_event;
}

/// Hands a callable to the runtime of the running event; without a color, in the default color (contract 5).
///
/// Errors: outside of an event the program ends with a message that names runtime::post.
template <detail::callable_without_arguments F>
bool post(color c, F&& f, std::source_location site = std::source_location::current()) {
  detail::runtime_state& rt = detail::required_runtime("tartan::post", site);
  return detail::post_event(rt, c, std::forward<F>(f), site);
}
template <detail::callable_without_arguments F>
bool post(F&& f, std::source_location site = std::source_location::current()) {
  return post(color{}, std::forward<F>(f), site);
}
template <class... Args>
  requires detail::ends_in_no_event<Args...>
detail::needs_a_callable_without_arguments post(Args&&... args) = delete;

/// Calls at once if the running event has this color, else posts.
///
/// Gives true if it was called or posted. An exception of a call at once reaches the caller.
template <detail::callable_without_arguments F>
bool dispatch(color c, F&& f, std::source_location site = std::source_location::current()) {
  detail::refuse_task<std::decay_t<F>&>();
  if (in_event() && current_color() == c && c != color::unordered) {
    std::forward<F>(f)();
    return true;
  }
  return post(c, std::forward<F>(f), site);
}
template <class... Args>
  requires detail::ends_in_no_event<Args...>
detail::needs_a_callable_without_arguments dispatch(Args&&... args) = delete;

namespace detail {

/// The runtime of the running event; ends the program, with the place where the callback was bound, outside of any event.
[[nodiscard]] runtime_state& runtime_of_callback(std::source_location bound_at) noexcept;

/// Has one signature, so that what it gives is known before it is called.
template <class F>
concept plainly_gives_task = requires(F f) { requires is_task<typename decltype(std::function{f})::result_type>; };

}  // namespace detail

/// A callback that brings its own color along: calling it posts it there, with its arguments.
///
/// Threads: with a runtime any; without one callable from any event, into that event's runtime, and outside the program ends.
/// Lifetime: with a runtime, not to be called when that is gone.
/// Errors: std::bad_alloc. After runtime::stop() a call from a foreign thread destroys what it would have posted.
/// Source: libasync-smp, section 3 (cwrap).
template <class F>
class bound {
 public:
  bound(detail::runtime_state* into, color c, F f, std::source_location site)
      : into_{into}, color_{c}, f_{std::move(f)}, site_{site} {}

  [[nodiscard]] color where() const noexcept { return color_; }

  template <class... Args>
    requires std::is_invocable_v<F&, std::decay_t<Args>...>
  void operator()(Args&&... args) const& {
    post_call(f_, std::forward<Args>(args)...);
  }
  template <class... Args>
    requires std::is_invocable_v<F&, std::decay_t<Args>...>
  void operator()(Args&&... args) && {
    post_call(std::move(f_), std::forward<Args>(args)...);
  }

 private:
  template <class G, class... Args>
  void post_call(G&& g, Args&&... args) const {
    detail::refuse_task<F&, std::decay_t<Args>...>();
    detail::runtime_state& rt = into_ != nullptr ? *into_ : detail::runtime_of_callback(site_);
    if constexpr (detail::is_hinted<F>) {
      const auto dress = [own = g.own()](auto call) { return detail::hinted<decltype(call)>{own, std::move(call)}; };
      submit_call(rt, dress, std::forward<G>(g), std::forward<Args>(args)...);
    } else {
      submit_call(rt, [](auto call) { return call; }, std::forward<G>(g), std::forward<Args>(args)...);
    }
  }
  /// `dress`: from the call to what is posted.
  template <class Dress, class G, class... Args>
  void submit_call(detail::runtime_state& rt, const Dress& dress, G&& g, Args&&... args) const {
    auto call = [f = F(std::forward<G>(g)), ... kept = std::decay_t<Args>(std::forward<Args>(args))]() mutable { f(std::move(kept)...); };
    detail::post_event(rt, color_, dress(std::move(call)), site_);
  }

  detail::runtime_state* into_;  ///< null: the running event's
  color color_;
  F f_;
  std::source_location site_;
};

/// Makes a callback that runs in a color, whoever calls it (contract 5); the binder's place is its post site.
template <class F>
[[nodiscard]] auto bind(color c, F&& f, std::source_location site = std::source_location::current()) {
  detail::refuse_task_if<detail::plainly_gives_task<std::decay_t<F>>>();
  return bound<std::decay_t<F>>{nullptr, c, std::forward<F>(f), site};
}

/// The same for callers outside of events, on any thread.
template <class F>
[[nodiscard]] auto bind(runtime& rt, color c, F&& f, std::source_location site = std::source_location::current()) {
  detail::refuse_task_if<detail::plainly_gives_task<std::decay_t<F>>>();
  return bound<std::decay_t<F>>{&rt.state(), c, std::forward<F>(f), site};
}

}  // namespace tartan
