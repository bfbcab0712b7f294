#include <tartan/core/await_blocking.h>

#include "core/blocking_pool.h"
#include "core/runtime_state.h"

namespace tartan::detail {

std::exception_ptr start_blocking_in_line(runtime_state& rt, blocking_job& job) noexcept {
  try {
    rt.blocking().submit_when_possible(job);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace tartan::detail
