#pragma once
/// Files of /proc, which may go at any time.

#include <string>

namespace load {

/// Empty if it is gone; if it goes while it is read, what came before: then the read fails, not the opening.
[[nodiscard]] std::string content_of(const std::string& proc_file);

}  // namespace load
