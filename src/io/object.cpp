#include <tartan/io/object.h>

#include <sys/socket.h>

#include <tartan/core/post.h>

#include "core/runtime_state.h"
#include "io/service.h"

namespace tartan {

using detail::system_error;

bool io_object::is_open() const noexcept { return key_.slot != nullptr && key_.slot->is_open(key_.generation); }

int io_object::native_handle() const noexcept { return is_open() ? key_.slot->descriptor() : -1; }

bool io_object::check(std::source_location site) const noexcept {
  if (!is_open()) return false;
  detail::require_color(*key_.slot, site);
  return true;
}

void io_object::close(std::source_location site) noexcept {
  if (!check(site)) return;
  detail::io_slot& slot = *std::exchange(key_.slot, nullptr);  // the slot may be another's from now on
  slot.service().close(slot);
}

void io_object::cancel(std::source_location site) noexcept {
  if (check(site)) key_.slot->cancel_all(make_error_code(errc::canceled));
}

void io_object::hint(const hints& h, std::source_location site) noexcept {
  if (!check(site)) return;
  const detail::handler_hints told = detail::packed(h);
  if (told != detail::handler_hints{}) detail::note_hints();  // who takes back what was told costs nobody a look
  key_.slot->tell(told);
}

int io_object::release(std::source_location site) noexcept {
  if (!check(site)) return -1;
  detail::io_slot& slot = *std::exchange(key_.slot, nullptr);
  return slot.service().release(slot);
}

void io_object::abandon() noexcept {
  if (key_.slot != nullptr) key_.slot->service().abandon(std::exchange(key_, {}));
}

result<> io_object::set_option(int level, int name, int value) noexcept {
  if (!is_open()) return errc::closed;
  const int error = key_.slot->service().system().set_option(native_handle(), level, name, &value, sizeof value);
  if (error < 0) return system_error(error);
  return {};
}

result<int> io_object::option(int level, int name) const noexcept {
  if (!is_open()) return errc::closed;
  int value = 0;
  socklen_t size = sizeof value;
  const int error = key_.slot->service().system().get_option(native_handle(), level, name, &value, &size);
  if (error < 0) return system_error(error);
  return value;
}

result<address> io_object::local_address() const noexcept {
  if (!is_open()) return errc::closed;
  sockaddr_storage native{};
  socklen_t size = sizeof native;
  const int error = key_.slot->service().system().local_address(native_handle(), reinterpret_cast<sockaddr*>(&native), &size);
  if (error < 0) return system_error(error);
  return address::from(reinterpret_cast<const sockaddr*>(&native), size);
}

result<address> io_object::peer_address() const noexcept {
  if (!is_open()) return errc::closed;
  sockaddr_storage native{};
  socklen_t size = sizeof native;
  const int error = key_.slot->service().system().peer_address(native_handle(), reinterpret_cast<sockaddr*>(&native), &size);
  if (error < 0) return system_error(error);
  return address::from(reinterpret_cast<const sockaddr*>(&native), size);
}

}  // namespace tartan
