#pragma once
/// Tells threads apart, roughly, for spreading them over a few locks.

#include <cstdint>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

namespace tartan::detail {

/// A number that is the same for each call of one thread, and well spread: a hash of the address of a thread-local.
[[nodiscard]] inline std::uint64_t thread_mark() noexcept {
  // volatile: gcc 12 would fold the hash's constants into the relocation of the address, where they do not fit
  thread_context** volatile address = &here;
  return mix(reinterpret_cast<std::uintptr_t>(address));
}

}  // namespace tartan::detail
