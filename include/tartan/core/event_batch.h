#pragma once
/// Many posts in one call.

#include <cstddef>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <tartan/core/runtime.h>
#include <vector>

namespace tartan {

/// Events collected to be posted together, in order.
///
/// Threads: one at a time.
/// Lifetime: must not outlive its runtime, which ends the program with a message. Events that were never posted are
/// destroyed with it.
/// Limits: memory.
/// Order: as that of the posts, one by one; but the events of a batch may begin to run before all of it is posted.
/// Cost: from a foreign thread one read-modify-write for neighbors of one color together, and by value one more; one for each worker and
/// up to 128 colors, with one look for sleeping workers; and two for the batch itself.
/// From an event as posts, but again one read-modify-write and one look for each other
/// worker and up to 128 colors, and one look for up to 128 colors at home.
class event_batch {
 public:
  explicit event_batch(runtime& rt) noexcept;
  event_batch(event_batch&& other) noexcept;
  event_batch& operator=(event_batch&&) = delete;
  ~event_batch();

  /// Adds a callable.
  template <detail::callable_without_arguments F>
  void add(color c, F&& f, std::source_location site = std::source_location::current()) {
    items_.reserve(items_.size() + 1 > items_.capacity() ? 2 * items_.size() + 16 : 0);
    items_.push_back({c, detail::make_event(*state_, std::forward<F>(f), site)});
  }
  template <class... Args>
    requires detail::ends_in_no_event<Args...>
  detail::needs_a_callable_without_arguments add(Args&&... args) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }

  /// Destroys what was not posted.
  void clear() noexcept;

 private:
  friend class runtime;
  using item = detail::addressed_event;

  detail::runtime_state* state_;
  std::vector<item> items_;
};

}  // namespace tartan
