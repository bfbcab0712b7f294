#pragma once
/// What coroutines wait for, in words.

#include <string>
#include <tartan/core/chain.h>
#include <tartan/core/waiting.h>
#include <vector>

namespace tartan::detail {

class runtime_state;

/// Empty if it runs, is about to, or has ended.
///
/// Threads: any, while no worker runs. So is all that follows.
[[nodiscard]] std::string wait_text(chain& waiter);

[[nodiscard]] std::vector<waiting_coroutine> waiting_in(runtime_state& rt);

/// On stderr, as options.report_waiting says.
void report_waiting(runtime_state& rt);

}  // namespace tartan::detail
