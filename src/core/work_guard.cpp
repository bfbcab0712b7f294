// The thread that ends the last guard lets run_until_idle return, and the program may destroy the runtime at once. So
// the thread passes the same gate as a poster: the end of a runtime waits for the threads inside.

#include <tartan/core/work_guard.h>

#include <optional>

#include "core/guest.h"
#include "core/runtime_state.h"

namespace tartan::detail {

void open_guard(runtime_state& rt) noexcept { rt.guard_opened(); }

void close_guard(runtime_state& rt) noexcept {
  std::optional<guests::posting> in_gate;
  if (rt.worker_here() == nullptr) in_gate.emplace(rt.guests());
  rt.guard_closed();
}

}  // namespace tartan::detail
