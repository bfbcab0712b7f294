#pragma once
// Included before everything else by sources that are simulated: the instruction by which a core pauses is no access to memory, so that the
// compiler does not show it (CMakeLists.txt).

void simulated_pause() noexcept;
