#pragma once
/// A runtime, and what the process needs around it.

#include <tartan/core/runtime.h>
#include <tartan/core/task.h>

#include <cstdint>

namespace load {

/// Lets the process open enough files. Errors: std::runtime_error if the system allows no such number of clients.
void raise_descriptor_limit(std::uint64_t clients);

/// How an injector's runtime is set up.
[[nodiscard]] tartan::options runtime_options(unsigned workers);

/// Runs it until nothing is left to be done. Errors: what the coroutine throws.
void run(tartan::runtime& rt, tartan::task<> what);

}  // namespace load
