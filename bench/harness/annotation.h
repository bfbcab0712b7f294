#pragma once
// What a programmer would say of a handler, for contenders that know what to do with it.

#include <cstdint>
#include <string_view>

namespace bench {

/// An event tells it by `annotation told() const`.
struct annotation {
  std::uint64_t cost_ns = 0;
  unsigned penalty = 1;
};

/// Whether a scheduler, as TARTAN_SCHEDULER names it (null: the default), goes by what events are told to cost. Of the papers' only Mely's
/// time-left and penalty do; the others would pay for it in vain.
[[nodiscard]] inline bool asks_for_costs(const char* scheduler) {
  const std::string_view name = scheduler == nullptr ? "" : scheduler;
  const auto has = [name](std::string_view word) { return name.find(word) != name.npos; };
  if (!name.starts_with("color_queues")) return false;
  return has("time-left") || has("penalty") || !(has("base") || has("no-stealing") || has("locality"));
}

}  // namespace bench
