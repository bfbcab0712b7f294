#pragma once
// Each run checks itself: a contender that loses events is no contender.

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace bench {

/// Ends the program if not all of what the workload started has ended.
inline void check_count(std::size_t found, std::size_t expected, const char* of_what) {
  if (found == expected) return;
  std::fprintf(stderr, "%zu %s, and not %zu\n", found, of_what, expected);
  std::exit(1);
}

/// Asks lanes that count how many events they have run.
template <class Lanes>
void check_all_ran(const Lanes& lanes, std::size_t expected) {
  if constexpr (requires { lanes.ran(); }) check_count(lanes.ran(), expected, "events ran");
}

}  // namespace bench
