// What one thread knows: of each atomic, the newest store that it has seen; of each other thread, how far it has come.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tartan::model {

/// Thread 0 sets up and checks the end; the threads of the test follow.
inline constexpr std::size_t max_threads = 8;
/// Atomics per execution, those made by threads included.
inline constexpr std::size_t max_locations = 64;

/// Numbers of threads and of atomics, in the order of their making.
using thread_id = std::uint8_t;
using location_id = std::uint16_t;

inline constexpr thread_id main_thread = 0;

/// A vector clock over threads: which of their steps happen before now.
struct vector_clock {
  std::array<std::uint16_t, max_threads> steps{};

  void join(const vector_clock& other) {
    for (std::size_t thread = 0; thread < max_threads; ++thread) {
      steps[thread] = std::max(steps[thread], other.steps[thread]);
    }
  }
  [[nodiscard]] bool covers(thread_id thread, std::uint16_t step) const { return steps[thread] >= step; }
};

/// Per atomic the number of the newest message seen (the initial value is message 0), and the happens-before clock.
struct view {
  std::array<std::uint16_t, max_locations> seen{};
  vector_clock clock;
};

/// The part of the past that every running thread knows: of each atomic the oldest message that somebody may still read, of
/// each thread the step that all others know of.
struct horizon {
  std::array<std::uint16_t, max_locations> oldest{};  // ranks in modification order
  vector_clock known;

  /// Steps relative to what is known anyway; 0 for all of those.
  [[nodiscard]] std::uint16_t beyond(thread_id thread, std::uint16_t step) const {
    return step <= known.steps[thread] ? std::uint16_t{0} : static_cast<std::uint16_t>(step - known.steps[thread]);
  }
};

}  // namespace tartan::model
