#pragma once
/// How much memory there is for this process.

#include <cstddef>
#include <string>

namespace web {

/// Bytes: the machine's, or what the process's control group (version 2), or one around it, leaves of that (memory.max, memory.high). What cannot be read
/// limits nothing.
///
/// Blocks for a few reads from files of the kernel. `groups`, `own_group`: for tests.
[[nodiscard]] std::size_t memory_here(const std::string& groups = "/sys/fs/cgroup", const std::string& own_group = "/proc/self/cgroup");

}  // namespace web
