#include "colorings/common/handle_table.h"

namespace colorings {

known_way handle_table::longest(const path_prefixes& of, const handle& root) {
  for (std::size_t steps = of.all().size(); steps != 0; --steps) {
    const auto found = by_hash_.find(of.all()[steps - 1].hash);
    if (found == by_hash_.end() || found->second->path != of.path(steps - 1)) continue;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return {steps, found->second->what};
  }
  return {0, root};
}

void handle_table::put(const path_prefixes& of, const std::vector<opened_handle>& opened) {
  for (const opened_handle& each : opened) {
    const std::uint64_t hash = of.all()[each.step].hash;
    if (const auto old = by_hash_.find(hash); old != by_hash_.end()) {  // of the same path, or of another with this hash
      by_use_.erase(old->second);
      by_hash_.erase(old);
    }
    by_use_.push_front({hash, std::string{of.path(each.step)}, each.what});
    by_hash_.emplace(hash, by_use_.begin());
    if (by_hash_.size() <= most_) continue;
    by_hash_.erase(by_use_.back().hash);
    by_use_.pop_back();
  }
}

}  // namespace colorings
