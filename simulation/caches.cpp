#include "simulation/caches.h"

#include <algorithm>

#include "simulation/pages.h"

namespace simulation {

// Nothing was ever used: all stamps are 0, and no cache is a holder.
caches::caches(const machine& on, std::size_t lines)
    : on_{on},
      stride_{(sizeof(record) + sizeof(std::uint32_t) * (on.cores + on.groups()) + 7) / 8 * 8},
      own_fills_(on.cores),
      group_fills_(on.groups()),
      recent_(on.cores) {
  records_ = static_cast<std::byte*>(map_pages(lines * stride_));
}

/// A core that has loaded a neighbor of the line before is given it ahead.
bool caches::streams_to(unsigned core, std::size_t line) noexcept {
  recent& seen = recent_[core];
  for (std::size_t& last : seen.line) {
    if (line == last + 1 || line + 1 == last) {
      last = line;
      return true;
    }
  }
  seen.line[seen.next++ % streams] = line;
  return false;
}

delay caches::load_delay(unsigned core, const record& r, bool streamed) const noexcept {
  const unsigned group = on_.group_of(core);
  if (r.written && r.writer != core && in_core(r, r.writer)) {
    const picoseconds from = on_.group_of(r.writer) == group ? on_.near_core_load : on_.far_load;
    return {from, from};
  }
  if (in_group(r, group)) {
    const picoseconds from = streamed ? on_.near_cache_stream : on_.near_cache_load;
    return {from, 0};
  }
  for (unsigned other = 0; r.groups >> other != 0; ++other) {
    if (in_group(r, other)) return {on_.far_load, 0};
  }
  const picoseconds from = streamed ? on_.memory_stream : on_.memory_load;
  return {from, 0};
}

/// Whether another core or group has it, and has to give it up.
bool caches::held_elsewhere(unsigned core, const record& r, bool& far) const noexcept {
  const unsigned group = on_.group_of(core);
  bool any = false;
  for (unsigned other = 0; r.groups >> other != 0; ++other) far = far || (other != group && in_group(r, other));
  for (unsigned other = group * on_.cores_per_group; other < std::min(on_.cores, (group + 1) * on_.cores_per_group); ++other) {
    any = any || (other != core && in_core(r, other));
  }
  for (unsigned other = 0; !far && other < on_.cores; ++other) far = on_.group_of(other) != group && in_core(r, other);
  return any || far;
}

/// `alone`: all others lose it.
void caches::enter(unsigned core, record& r, bool alone) noexcept {
  const unsigned group = on_.group_of(core);
  if (!in_core(r, core)) ++own_fills_[core];
  if (!in_group(r, group)) ++group_fills_[group];
  if (alone) r.holders[0] = r.holders[1] = r.groups = 0;
  r.holders[core / 64] |= std::uint64_t{1} << core % 64;
  r.groups |= std::uint64_t{1} << group;
  r.stamps[core] = own_fills_[core];
  r.stamps[on_.cores + group] = group_fills_[group];
}

delay caches::fetch(unsigned core, std::size_t line, touch_kind how) noexcept {
  record& r = at(line);
  const bool here = in_core(r, core);
  const bool streamed = !here && streams_to(core, line);
  if (how == touch_kind::load) {
    const delay waits = load_delay(core, r, streamed);
    if (r.written && r.writer != core) r.written = false;  // from now on the shared cache has it, too
    r.exclusive = false;
    enter(core, r, false);
    bool far = false;
    r.exclusive = !held_elsewhere(core, r, far);
    return waits;
  }
  bool far = false;
  const bool held = held_elsewhere(core, r, far);
  const picoseconds transfer = far ? on_.far_load : on_.near_core_load;
  delay waits = held ? delay{transfer, transfer} : here ? delay{} : load_delay(core, r, streamed);
  if (how == touch_kind::store) waits.core = std::min(waits.core, far ? on_.far_store : on_.near_store);
  enter(core, r, true);
  r.writer = static_cast<std::uint16_t>(core);
  r.exclusive = r.written = true;
  return waits;
}

}  // namespace simulation
