#pragma once
/// What runtime::waiting() lists.

#include <source_location>
#include <string>
#include <tartan/core/color.h>

namespace tartan {

/// A spawned coroutine that is suspended, and what for.
struct waiting_coroutine {
  std::source_location spawned_at;
  color in;               ///< where it will go on
  std::string name;       ///< of the color, if it has one
  /// "a semaphore", "a value from a channel", "the end of a coroutine (main.cpp:12 in int main())", "a blocking job". What several
  /// branches wait for stands in brackets: "with_timeout (input of a descriptor)".
  std::string waits_for;
};

}  // namespace tartan
