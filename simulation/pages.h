#pragma once
// Zero memory of the simulation's own, from the real system.

#include <cstddef>

namespace simulation {

/// Costs nothing until it is touched; never given back. Errors: ends the program if the system refuses.
[[nodiscard]] void* map_pages(std::size_t bytes) noexcept;

}  // namespace simulation
