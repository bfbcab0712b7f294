#include <tartan/io/tcp.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tartan/core/runtime.h>

#include "core/runtime_state.h"
#include "io/adopt.h"
#include "io/listening.h"
#include "io/service.h"

namespace tartan::tcp {

namespace {

using detail::io_service;
using detail::io_system;
using detail::system_error;

/// Gives -errno, or 0.
int prepare(io_system& system, int descriptor, const address& at, const listen_options& with) noexcept {
  const int on = 1;
  const int ipv6_only = with.ipv6_only ? 1 : 0;
  const int no_delay = with.no_delay ? 1 : 0;
  if (const int e = system.set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); e < 0) return e;
  if (with.reuse_port) {
    if (const int e = system.set_option(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on); e < 0) return e;
  }
  if (at.family() == AF_INET6) {
    if (const int e = system.set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &ipv6_only, sizeof ipv6_only); e < 0) return e;
  }
  // Accepted sockets inherit it.
  if (const int e = system.set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay); e < 0) return e;
  if (const int e = system.bind(descriptor, at.data(), at.size()); e < 0) return e;
  return system.listen(descriptor, with.backlog > 0 ? with.backlog : SOMAXCONN);
}

}  // namespace

result<stream> stream::from_fd(int descriptor, tartan::color c, std::source_location site) {
  const result<detail::slot_key> key = detail::adopt(detail::required_runtime("tcp::stream::from_fd", site), descriptor, c);
  if (!key) return key.error();
  return stream{*key};
}

result<stream> stream::from_fd(runtime& rt, int descriptor, tartan::color c) {
  const result<detail::slot_key> key = detail::adopt(rt.state(), descriptor, c);
  if (!key) return key.error();
  return stream{*key};
}

result<> stream::set_no_delay(bool on) noexcept { return set_option(IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0); }

result<> stream::set_keep_alive(bool on) noexcept { return set_option(SOL_SOCKET, SO_KEEPALIVE, on ? 1 : 0); }

result<> stream::set_keep_alive(std::chrono::seconds idle, std::chrono::seconds interval, int probes) noexcept {
  const auto clamped = [](std::chrono::seconds s) { return static_cast<int>(std::clamp<std::int64_t>(s.count(), 0, 32768)); };
  if (const auto set = set_option(IPPROTO_TCP, TCP_KEEPIDLE, clamped(idle)); !set) return set;
  if (const auto set = set_option(IPPROTO_TCP, TCP_KEEPINTVL, clamped(interval)); !set) return set;
  if (const auto set = set_option(IPPROTO_TCP, TCP_KEEPCNT, probes); !set) return set;
  return set_keep_alive(true);
}

result<> stream::set_reset_on_close(bool on) noexcept {
  if (!is_open()) return errc::closed;
  const linger how{on ? 1 : 0, 0};
  const int error = key().slot->service().system().set_option(native_handle(), SOL_SOCKET, SO_LINGER, &how, sizeof how);
  if (error < 0) return system_error(error);
  return {};
}

result<listener> listener::from_fd(int descriptor, tartan::color c, unsigned batch, std::source_location site) {
  const result<detail::slot_key> key =
      detail::adopt_listener(detail::required_runtime("tcp::listener::from_fd", site), detail::transport::tcp, descriptor, c, batch);
  if (!key) return key.error();
  return listener{*key};
}

result<listener> listener::from_fd(runtime& rt, int descriptor, tartan::color c, unsigned batch) {
  const result<detail::slot_key> key = detail::adopt_listener(rt.state(), detail::transport::tcp, descriptor, c, batch);
  if (!key) return key.error();
  return listener{*key};
}

result<listener> try_listen(runtime& rt, const address& at, const listen_options& with) {
  if (!at.is_ip()) return std::make_error_code(std::errc::address_family_not_supported);
  const result<io_service*> found = io_service::find(rt.state());
  if (!found) return found.error();
  io_service& service = **found;
  io_system& system = service.system();
  auto extra = std::make_unique<detail::listening>();
  extra->take_in_turns(with.batch);
  const int descriptor = system.open_socket(at.family(), SOCK_STREAM, 0);
  if (descriptor < 0) return system_error(descriptor);
  if (const int error = prepare(system, descriptor, at, with); error < 0) {
    system.close(descriptor);
    return system_error(error);
  }
  const result<detail::slot_key> opened =
      service.open(descriptor, with.color, std::nullopt, std::move(extra), {.then = detail::at_end::closes});
  if (opened) return listener{*opened};
  system.close(descriptor);
  return opened.error();
}

listener listen(runtime& rt, const address& at, const listen_options& with) {
  result<listener> made = try_listen(rt, at, with);
  if (!made) throw std::system_error{made.error(), "cannot listen on " + at.to_string()};
  return std::move(*made);
}

listener listen(runtime& rt, std::string_view at, const listen_options& with) {
  const result<address> parsed = address::parse(at);
  if (!parsed) throw std::invalid_argument{"'" + std::string{at} + "' is no address: expected something like 127.0.0.1:80 or [::1]:80"};
  return listen(rt, *parsed, with);
}

}  // namespace tartan::tcp
