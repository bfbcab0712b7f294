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
  explicit machine(const constants& from);

  unsigned cores;
  unsigned cores_per_group;        ///< neighbors: those that share a cache
  std::uint32_t own_lines;         ///< that the cache of one core holds
  std::uint32_t group_lines;       ///< that the shared one holds

  picoseconds hit = 0;             ///< an access that finds its line in the core's own cache, with the instructions around it
  picoseconds near_cache_load;     ///< from the shared cache
  picoseconds near_cache_stream;   ///< the same, if the line before was loaded before
  picoseconds near_core_load;      ///< from a neighbor's own cache
  picoseconds far_load;            ///< from behind another shared cache
  picoseconds memory_load;
  picoseconds memory_stream;
  picoseconds near_store;          ///< a store waits in a buffer while the line comes
  picoseconds far_store;
  picoseconds rmw;                 ///< besides the access
  picoseconds fence;
  picoseconds pause;
  picoseconds clock;
  picoseconds allocation;          ///< half of what new and delete cost together
  picoseconds barrier_alone;       ///< membarrier while all others sleep
  picoseconds barrier;             ///< while some run
  picoseconds wake;                ///< what a wake-up costs the waker
  picoseconds wake_to_run;         ///< and how long after it has begun the sleeper runs
  picoseconds sleep;               ///< the way to sleep, before nothing happens
  picoseconds yield;

  [[nodiscard]] unsigned groups() const { return (cores + cores_per_group - 1) / cores_per_group; }
  [[nodiscard]] unsigned group_of(unsigned core) const { return core / cores_per_group; }
};

}  // namespace simulation
