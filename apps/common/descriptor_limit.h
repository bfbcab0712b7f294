#pragma once
/// How many descriptors this process may open, and has open.

#include <cstddef>

namespace tartan::apps {

/// Raises the limit (RLIMIT_NOFILE) to the greatest that the system allows this process, and gives the limit then. The
/// usual default, 1024, is made for programs that use select().
///
/// Threads: any.
std::size_t raise_descriptor_limit() noexcept;

/// The number of open descriptors; without /proc, the three standard streams are assumed.
///
/// Threads: any; others may open and close some meanwhile.
[[nodiscard]] std::size_t open_descriptors() noexcept;

}  // namespace tartan::apps
