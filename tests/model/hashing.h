// Mixing of words for the set of states seen. Not for untrusted keys.
#pragma once

#include <cstdint>

namespace tartan::model {

/// One word that depends on every bit of both, and on their order.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t left, std::uint64_t right) noexcept {
  std::uint64_t word = left * 0x9e3779b97f4a7c15U + right + 0x632be59bd9b4e019U;
  word ^= word >> 29;
  word *= 0xbf58476d1ce4e5b9U;
  word ^= word >> 32;
  return word;
}

}  // namespace tartan::model
