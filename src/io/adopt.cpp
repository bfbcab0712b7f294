#include "io/adopt.h"

#include "core/runtime_state.h"
#include "io/service.h"

namespace tartan::detail {

result<slot_key> adopt(runtime_state& rt, int descriptor, color c) noexcept {
  const result<io_service*> service = io_service::find(rt);
  if (!service) return service.error();
  if (const int error = (*service)->system().unblock(descriptor); error < 0) return system_error(error);
  const result<slot_key> opened = (*service)->open(descriptor, c, std::nullopt);
  if (opened) opened->slot->known_outside.store(true, std::memory_order_relaxed);
  return opened;
}

}  // namespace tartan::detail
