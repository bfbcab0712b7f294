#pragma once
/// How much memory there is for this process.

#include <cstddef>
#include <string>

namespace tartan {

namespace detail {

/// `root`: put before /proc and before the mount points of control groups that it names.
[[nodiscard]] std::size_t usable_memory_below(const std::string& root);

}  // namespace detail

/// Bytes that this process may use: the machine's memory, or what its control group, or one around it, leaves of that (version 1 and 2; of version 2 also
/// memory.high, from which on the system slows it down). For who decides how large a cache is to be.
///
/// Threads: any.
/// Errors: std::bad_alloc. What cannot be read does not limit.
/// Cost: reads some files of the kernel's, as options.workers = 0 does.
[[nodiscard]] inline std::size_t usable_memory() { return detail::usable_memory_below({}); }

}  // namespace tartan
