#pragma once
/// What is shown while it runs.

#include <tartan/core/task.h>

#include "load/injector.h"

namespace load {

/// Writes a line on standard error each second, until it is canceled.
tartan::task<> show_progress(const injector& of);

}  // namespace load
