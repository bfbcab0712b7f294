#pragma once
/// A call of spawn: where it stands, and whether its arguments fit. Library code; programs use spawn.h.

#include <concepts>
#include <cstddef>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tartan {

class runtime;

namespace detail {

/// A color, and the place of the call that it was given to.
struct placed_color {
  template <std::convertible_to<color> C>
  placed_color(const C& c, std::source_location at = std::source_location::current()) : where{c}, site{at} {}

  color where;
  std::source_location site;
};

/// The same for a runtime.
struct placed_runtime {
  placed_runtime(runtime& rt, std::source_location at = std::source_location::current()) noexcept
      : into{&rt}, site{at} {}

  runtime* into;
  std::source_location site;
};

/// f(args...) gives a task: what spawn starts. A function that gives none is posted.
template <class F, class... Args>
concept gives_task_for = makes_task<std::decay_t<F>, std::decay_t<Args>...>;

/// That, or a task to be moved.
template <class F, class... Args>
concept spawnable = gives_task_for<F, Args...> || (is_task<F> && sizeof...(Args) == 0);

/// What stands in the place of an argument that a call does not have.
struct no_argument {};

/// The arguments of a call without a color or a runtime in front. C++ has no place of the call behind a pack, and no
/// conversion that
/// deduces a type; so the parameters are counted, and those behind the last argument have a default.
template <class... Args>
struct spawn_arguments {
  static constexpr std::size_t count =
      (std::size_t{0} + ... + std::size_t{!std::is_same_v<std::remove_cvref_t<Args>, no_argument>});

  template <class F>
  static constexpr bool fit = []<std::size_t... I>(std::index_sequence<I...>) {
    return spawnable<F, std::tuple_element_t<I, std::tuple<Args...>>...>;
  }(std::make_index_sequence<count>{});

  /// start(arguments that were given...).
  template <class Start>
  static auto pass(Start start, Args&&... args) {
    std::tuple<Args&&...> all{std::forward<Args>(args)...};
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return start(std::forward<std::tuple_element_t<I, std::tuple<Args...>>>(std::get<I>(all))...);
    }(std::make_index_sequence<count>{});
  }
};

/// As spawnable, without the arguments that were not given.
template <class F, class... Args>
concept spawnable_with = spawn_arguments<Args...>::template fit<F>;

}  // namespace detail

}  // namespace tartan
