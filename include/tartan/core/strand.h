#pragma once
/// A handle that owns a color of its own.

#include <source_location>
#include <string_view>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

namespace tartan {

class runtime;

/// A color that nobody else has, with a name, posted to without a look-up.
///
/// Two strands never serialize each other. Destroying a strand lets what was posted to it run first; its color value stays valid.
/// Threads: post from any thread; move and destroy like any object.
/// Lifetime: must not outlive its runtime: that ends the program with the strand's name.
/// Cost: 64 bytes while idle; the name lies in a side record.
class strand {
 public:
  /// Threads: any.
  /// Errors: std::bad_alloc.
  explicit strand(runtime& rt, std::string_view name = {});

  /// In the runtime of the running event.
  ///
  /// Errors: std::bad_alloc; outside of an event the program ends with a message.
  explicit strand(std::string_view name = {}, std::source_location site = std::source_location::current());

  strand(strand&& other) noexcept : state_{other.state_} { other.state_ = nullptr; }
  strand& operator=(strand&& other) noexcept;
  ~strand();

  /// Hands a callable to the runtime, to be run in this color.
  ///
  /// Threads: any, at any time.
  /// Errors: false, and the callable is destroyed here, after runtime::stop() from a foreign thread.
  /// Order: with all other posts to this color, as contract 2 says.
  /// Cost: no read-modify-write if the color lives on the calling worker, else 1 or 2; from a foreign thread as well, and a full fence if the
  /// color was idle; no allocation up to 40 bytes.
  template <detail::callable_without_arguments F>
  bool post(F&& f, std::source_location site = std::source_location::current()) {
    detail::strand_state& s = state(site);
    return detail::post_event(s, std::forward<F>(f), site);
  }
  template <class... Args>
    requires detail::ends_in_no_event<Args...>
  detail::needs_a_callable_without_arguments post(Args&&... args) = delete;

  /// The color, for every call that takes one.
  [[nodiscard]] color value(std::source_location site = std::source_location::current()) const noexcept;
  operator color() const noexcept { return value(); }

  /// Ends the program, with both colors and the place, unless the running event has this color.
  void assert_here(std::source_location site = std::source_location::current()) const noexcept {
    value(site).assert_here(site);
  }

 private:
  friend struct detail::strand_access;
  detail::strand_state& state(std::source_location site) const noexcept {
    if (state_ == nullptr) detail::moved_from_strand(site);
    return *state_;
  }

  detail::strand_state* state_;
};

}  // namespace tartan
