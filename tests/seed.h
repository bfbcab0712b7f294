#pragma once
/// The seed of a random test.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace tartan::test {

/// A new seed, printed, or the one of TARTAN_SEED.
inline std::uint64_t seed() {
  const char* const given = std::getenv("TARTAN_SEED");
  const std::uint64_t value =
      given != nullptr ? std::stoull(given) : std::random_device{}() * 4'294'967'296u + std::random_device{}();
  std::cout << "seed " << value << " (TARTAN_SEED=" << value << " replays it)\n";
  return value;
}

}  // namespace tartan::test
