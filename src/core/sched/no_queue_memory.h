#pragma once
/// What happens if an event cannot be queued.

#include <tartan/core/color.h>
#include <tartan/core/event.h>

namespace tartan::detail {

/// Ends the program, naming color and post site: the poster has given its event away, nobody is left who could be told of an error.
[[noreturn]] void no_queue_memory(color where, const event& e) noexcept;

}  // namespace tartan::detail
