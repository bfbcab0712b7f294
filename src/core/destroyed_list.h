#pragma once
/// What a drain destroys, by kind and place, and the line that reports it.

#include <cstddef>
#include <source_location>
#include <string>
#include <tartan/core/drained.h>
#include <tartan/core/event.h>
#include <vector>

namespace tartan::detail {

class runtime_state;

/// Threads: the one that drains.
class destroyed_list {
 public:
  static constexpr std::size_t most_places = 64;

  /// Without memory it forgets the places; the drain's counts do not depend on it.
  void add(work_kind kind, std::source_location site, std::string waits_for = {}) noexcept;

  /// All that was added, by kind, each kind in the order of its places' first entries.
  [[nodiscard]] std::vector<destroyed_work> take() noexcept;

 private:
  std::vector<destroyed_work> all_;
};

/// Notes an event that was left over, then destroys it. Gives how many a drain counts for it: 1, or 0 for a part of a coroutine.
std::size_t destroy_left_event(runtime_state& rt, event& e) noexcept;

/// `2 events (posted at main.cpp:20 in int main()), 3 coroutines (2 spawned at ...; 1 spawned at ...)`
[[nodiscard]] std::string destroyed_text(const drained& outcome);

}  // namespace tartan::detail
