/// From a runtime's choice to its policy.

#include "core/sched/default_policy.h"
#include "core/sched/papers/color_queues_policy.h"
#include "core/sched/papers/per_worker_policy.h"
#include "core/sched/papers/serial_policy.h"
#include "core/sched/papers/shared_queue_policy.h"
#include "core/sched/scheduled.h"

namespace tartan::detail {

std::unique_ptr<scheduler> make_scheduler(runtime_state& rt) {
  const scheduler_choice& choice = rt.choice();
  switch (choice.kind) {
    case scheduler_kind::serial: return std::make_unique<scheduled<serial_policy>>(rt, choice);
    case scheduler_kind::shared_queue: return std::make_unique<scheduled<shared_queue_policy>>(rt, choice);
    case scheduler_kind::per_worker: return std::make_unique<scheduled<per_worker_policy>>(rt, choice);
    case scheduler_kind::color_queues: return std::make_unique<scheduled<color_queues_policy>>(rt, choice);
    case scheduler_kind::standard: break;
  }
  return std::make_unique<scheduled<default_policy>>(rt);
}

}  // namespace tartan::detail
