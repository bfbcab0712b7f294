#include "io/adopt.h"

#include <sys/socket.h>

#include <memory>
#include <optional>
#include <utility>

#include "core/runtime_state.h"
#include "io/listening.h"
#include "io/service.h"

namespace tartan::detail {

namespace {

result<slot_key> take_over(io_service& service, int descriptor, color c, std::unique_ptr<slot_extra> more,
                           at_end then) noexcept {
  const int was_blocking = service.unblock(descriptor);
  if (was_blocking < 0) return system_error(was_blocking);
  const slot_manner how{.then = then, .was_blocking = was_blocking != 0};
  const result<slot_key> opened = service.open(descriptor, c, std::nullopt, std::move(more), how);
  if (!opened && how.was_blocking) service.block_again(descriptor);
  return opened;
}

/// An error if it is not what it has to be: an accept would tell so too late.
std::error_code refuse_as_listener(io_system& system, transport over, int descriptor) noexcept {
  int domain = 0;
  int type = 0;
  int listens = 0;
  for (const auto& [name, value] : {std::pair{SO_DOMAIN, &domain}, std::pair{SO_TYPE, &type}, std::pair{SO_ACCEPTCONN, &listens}}) {
    socklen_t size = sizeof *value;
    if (const int error = system.get_option(descriptor, SOL_SOCKET, name, value, &size); error < 0) return system_error(error);
  }
  const bool fits = over == transport::tcp ? domain == AF_INET || domain == AF_INET6 : domain == AF_UNIX;
  if (!fits) return std::make_error_code(std::errc::address_family_not_supported);
  return type == SOCK_STREAM && listens != 0 ? std::error_code{} : std::make_error_code(std::errc::invalid_argument);
}

}  // namespace

result<slot_key> adopt(runtime_state& rt, int descriptor, color c) noexcept {
  const result<io_service*> service = io_service::find(rt);
  if (!service) return service.error();
  return take_over(**service, descriptor, c, nullptr, at_end::goes_on);
}

result<slot_key> adopt_listener(runtime_state& rt, transport over, int descriptor, color c, unsigned batch) {
  const result<io_service*> service = io_service::find(rt);
  if (!service) return service.error();
  if (const std::error_code refused = refuse_as_listener((*service)->system(), over, descriptor)) return refused;
  auto extra = std::make_unique<listening>();
  extra->take_in_turns(batch);
  return take_over(**service, descriptor, c, std::move(extra), at_end::closes);
}

}  // namespace tartan::detail
