#include <tartan/core/shutdown.h>

#include "core/runtime_state.h"

namespace tartan::detail {

bool is_closing(const runtime_state& rt) noexcept { return rt.closing(); }

void shutdown_branch::open(chain& parent) noexcept {
  branches::open(parent, &branch_, 1);
  begun_ = parent.runtime().closing();
  if (begun_) cancel_all();
}

void shutdown_branch::shutdown_begins(chain& /*waiter*/) noexcept {
  begun_ = true;
  cancel_all();
}

}  // namespace tartan::detail
