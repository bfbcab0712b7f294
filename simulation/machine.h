#pragma once
// The machine that is simulated: how many cores, how far from each other, and what things cost there.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace simulation {

/// Virtual time: 1 ns is 1000 of it.
using picoseconds = std::uint64_t;

/// A flat table of named numbers, as simulation/constants holds them.
class constants {
 public:
  /// Errors: ends the program if the file cannot be read.
  explicit constants(const std::string& file);

  /// Errors: ends the program if there is none of that name.
  [[nodiscard]] double at(std::string_view name) const;
  [[nodiscard]] picoseconds ps(std::string_view name) const { return static_cast<picoseconds>(at(name) * 1000 + 0.5); }
  void set(const std::string& name, double value) { values_[name] = value; }

 private:
  std::map<std::string, double, std::less<>> values_;
};

/// Distances: in the core's own cache; in a cache that some neighbors share, or in a neighbor's own; beyond.
struct machine {
  machine() = default;
  explicit machine(const constants& from);

  unsigned cores = 1;
  unsigned cores_per_group = 1;    ///< neighbors: those that share a cache
  std::uint32_t own_lines = 0;     ///< that the cache of one core holds
  std::uint32_t group_lines = 0;   ///< that the shared one holds

  picoseconds hit = 0;             ///< an access that finds its line in the core's own cache, with the instructions around it
  picoseconds near_cache_load = 0;     ///< from the shared cache
  picoseconds near_cache_stream = 0;   ///< the same, if the line before was loaded before
  picoseconds near_core_load = 0;      ///< from a neighbor's own cache
  picoseconds far_load = 0;            ///< from behind another shared cache
  picoseconds memory_load = 0;
  picoseconds memory_stream = 0;
  picoseconds near_store = 0;          ///< a store waits in a buffer while the line comes
  picoseconds far_store = 0;
  picoseconds rmw = 0;                 ///< besides the access
  picoseconds fence = 0;
  picoseconds pause = 0;
  picoseconds clock = 0;
  picoseconds allocation = 0;          ///< half of what new and delete cost together
  picoseconds barrier_alone = 0;       ///< membarrier while all others sleep
  picoseconds barrier = 0;             ///< while some run
  picoseconds wake = 0;                ///< what a wake-up costs the waker
  picoseconds wake_to_run = 0;         ///< and how long after it has begun the sleeper runs
  picoseconds sleep = 0;               ///< the way to sleep, before nothing happens
  picoseconds yield = 0;

  [[nodiscard]] unsigned groups() const { return (cores + cores_per_group - 1) / cores_per_group; }
  [[nodiscard]] unsigned group_of(unsigned core) const { return core / cores_per_group; }
};

}  // namespace simulation
