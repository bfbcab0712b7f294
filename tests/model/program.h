// What the code of a model test says besides its accesses to memory. Call only from a thread of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <utility>

#include "explorer.h"
#include "hashing.h"

namespace tartan::model {

/// The invariant of that name holds here, or the exploration ends with the steps that broke it.
inline void check(bool holds, const char* invariant) {
  explorer::here().check(holds, invariant);
}

/// Makes an object that other threads may get to know; the address depends on this thread's doings alone.
template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
  return explorer::here().objects().make<T>(explorer::here().current(), std::forward<Arguments>(arguments)...);
}

/// Frees what make() made: every later use is a fault, and so is every earlier one that nothing orders before this.
template <class T>
void destroy(T* object) {
  explorer::here().objects().destroy(object);
}

/// As destroy(), for objects that the protocol frees by putting them away.
template <class T>
void poison(const T& object) {
  explorer::here().poison(&object, sizeof(T));
}

/// One of `count` values; some execution gets each.
inline unsigned choose(unsigned count) {
  return explorer::here().choose_value(count);
}

/// A step that does nothing: others may run here.
inline void yield_point() {
  explorer::here().yield_point();
}

/// What this thread read so far no longer matters: from here on it depends on `still_known` alone, so that states which differ
/// only in its past may merge. Say it where a loop starts again.
inline void forget(std::uint64_t still_known, std::source_location where = std::source_location::current()) {
  explorer::here().forget(mix(still_known, where.line()));
}

/// A line in the trace of a failure.
inline void note(const std::string& text) {
  explorer::here().note(text);
}

}  // namespace tartan::model
