#include "io/adopt.h"

#include <fcntl.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "core/runtime_state.h"
#include "io/service.h"

namespace tartan::detail {

result<slot_key> adopt(runtime_state& rt, int descriptor, color c) noexcept {
  try {
    io_service& service = io_service::of(rt);
    if (const int error = service.system().unblock(descriptor); error < 0) return system_error(error);
    return service.open(descriptor, c, std::nullopt);
  } catch (const std::system_error& e) {
    return e.code();
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  }
}

}  // namespace tartan::detail
