#include "core/sched/annotation.h"

namespace tartan::detail {

void note_hints() noexcept {
  if (!hints_in_use.load(std::memory_order_relaxed)) hints_in_use.store(true, std::memory_order_relaxed);
}

}  // namespace tartan::detail
