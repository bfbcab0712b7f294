#include <tartan/io/udp.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tartan/core/runtime.h>

#include "core/inline_budget.h"
#include "core/runtime_state.h"
#include "io/adopt.h"
#include "io/service.h"

namespace tartan {

namespace detail {

io_wait::step receive_datagram::attempt(io_slot& on) noexcept {
  io_system& system = on.service().system();
  iovec part{into_.data(), into_.size()};
  sockaddr_storage sender{};
  msghdr message{};
  ssize_t got = 0;
  do {
    message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_name = &sender;
    message.msg_namelen = sizeof sender;
    got = system.receive_message(on.descriptor(), message);
  } while (got == -EINTR);
  if (got == -EAGAIN || got == -EWOULDBLOCK) return step::would_block;
  if (got < 0) return fail(static_cast<int>(-got));
  got_.bytes = static_cast<std::size_t>(got);
  got_.truncated = (message.msg_flags & MSG_TRUNC) != 0;
  got_.from = address::from(reinterpret_cast<const sockaddr*>(&sender), message.msg_namelen);
  return step::done;
}

io_wait::step send_datagram_op::attempt(io_slot& on) noexcept {
  io_system& system = on.service().system();
  iovec part{const_cast<std::byte*>(all_.data()), all_.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (to_.size() != 0) {
    message.msg_name = const_cast<sockaddr*>(to_.data());
    message.msg_namelen = to_.size();
  }
  ssize_t got = 0;
  do {
    got = system.send_message(on.descriptor(), message, 0);
  } while (got == -EINTR);
  if (got == -EAGAIN || got == -EWOULDBLOCK) return step::would_block;
  return got < 0 ? fail(static_cast<int>(-got)) : step::done;
}

namespace {

using udp::max_datagrams_per_call;

/// Bytes that one attempt sends, at most.
constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// The arguments of a call for several datagrams.
struct batch {
  std::array<mmsghdr, max_datagrams_per_call> messages{};
  std::array<iovec, max_datagrams_per_call> parts;

  [[nodiscard]] msghdr& add(std::size_t at, void* data, std::size_t bytes) noexcept {
    parts[at] = {data, bytes};
    msghdr& head = messages[at].msg_hdr;
    head.msg_iov = &parts[at];
    head.msg_iovlen = 1;
    return head;
  }
};

}  // namespace

io_wait::step receive_many_op::attempt(io_slot& on) noexcept {
  if (into_.empty()) return step::done;
  io_system& system = on.service().system();
  const std::span<udp::incoming> places = into_.first(std::min(into_.size(), max_datagrams_per_call));
  batch all;
  std::array<sockaddr_storage, max_datagrams_per_call> senders;
  for (std::size_t n = 0; n < places.size(); ++n) {
    msghdr& head = all.add(n, places[n].room.data(), places[n].room.size());
    head.msg_name = &senders[n];
    head.msg_namelen = sizeof senders[n];
  }
  int got = 0;
  do {
    got = system.receive_messages(on.descriptor(), all.messages.data(), static_cast<unsigned>(places.size()));
  } while (got == -EINTR);
  if (got == -EAGAIN || got == -EWOULDBLOCK) return step::would_block;
  if (got < 0) return fail(-got);
  // A short count does not mean that the socket is empty: it may have ended at an error, which the next call tells.
  got_ = static_cast<std::size_t>(got);
  for (std::size_t n = 0; n < got_; ++n) {
    const mmsghdr& each = all.messages[n];
    places[n].bytes = each.msg_len;
    places[n].truncated = (each.msg_hdr.msg_flags & MSG_TRUNC) != 0;
    places[n].from = address::from(reinterpret_cast<const sockaddr*>(&senders[n]), each.msg_hdr.msg_namelen);
    charge_inline(each.msg_len);
  }
  return step::done;
}

io_wait::step send_many_op::attempt(io_slot& on) noexcept {
  io_system& system = on.service().system();
  for (std::size_t moved = 0; done_ < all_.size();) {
    if (moved >= most_bytes) return step::goes_on;
    const auto next = all_.subspan(done_, std::min(all_.size() - done_, max_datagrams_per_call));
    batch all;
    for (std::size_t n = 0; n < next.size(); ++n) {
      msghdr& head = all.add(n, const_cast<std::byte*>(next[n].bytes.data()), next[n].bytes.size());
      if (next[n].to.size() == 0) continue;
      head.msg_name = const_cast<sockaddr*>(next[n].to.data());
      head.msg_namelen = next[n].to.size();
    }
    const int got = system.send_messages(on.descriptor(), all.messages.data(), static_cast<unsigned>(next.size()));
    if (got == -EINTR) continue;
    if (got == -EAGAIN || got == -EWOULDBLOCK) return step::would_block;
    if (got < 0) return done_ != 0 ? step::done : fail(-got);
    for (const udp::outgoing& each : next.first(static_cast<std::size_t>(got))) {
      charge_inline(each.bytes.size());
      moved += each.bytes.size() + 1;  // an empty one costs as well
    }
    done_ += static_cast<std::size_t>(got);
  }
  return step::done;
}

}  // namespace detail

namespace udp {

namespace {

using detail::io_service;
using detail::io_system;
using detail::slot_key;
using detail::system_error;

/// Gives -errno, or 0.
int prepare(io_system& system, int descriptor, const address& at, const options& with) noexcept {
  const int on = 1;
  if (with.reuse_port) {
    if (const int e = system.set_option(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on); e < 0) return e;
  }
  if (with.broadcast) {
    if (const int e = system.set_option(descriptor, SOL_SOCKET, SO_BROADCAST, &on, sizeof on); e < 0) return e;
  }
  return system.bind(descriptor, at.data(), at.size());
}

}  // namespace

result<socket> socket::from_fd(int descriptor, tartan::color c, std::source_location site) {
  const result<slot_key> key = detail::adopt(detail::required_runtime("udp::socket::from_fd", site), descriptor, c);
  if (!key) return key.error();
  return socket{*key};
}

result<socket> socket::from_fd(runtime& rt, int descriptor, tartan::color c) {
  const result<slot_key> key = detail::adopt(rt.state(), descriptor, c);
  if (!key) return key.error();
  return socket{*key};
}

result<> socket::connect(const address& peer, std::source_location site) noexcept {
  if (!check(site)) return errc::closed;
  const int error = key().slot->service().system().connect(native_handle(), peer.data(), peer.size());
  if (error < 0) return system_error(error);
  return {};
}

result<> socket::set_receive_buffer(int bytes) noexcept { return set_option(SOL_SOCKET, SO_RCVBUF, bytes); }
result<> socket::set_send_buffer(int bytes) noexcept { return set_option(SOL_SOCKET, SO_SNDBUF, bytes); }

result<socket> try_bind(runtime& rt, const address& at, const options& with) {
  if (!at.is_ip()) return std::make_error_code(std::errc::address_family_not_supported);
  const result<io_service*> found = io_service::find(rt.state());
  if (!found) return found.error();
  io_service& service = **found;
  io_system& system = service.system();
  const int descriptor = system.open_socket(at.family(), SOCK_DGRAM, 0);
  if (descriptor < 0) return system_error(descriptor);
  if (const int error = prepare(system, descriptor, at, with); error < 0) {
    system.close(descriptor);
    return system_error(error);
  }
  const result<slot_key> opened = service.open(descriptor, with.color, std::nullopt);
  if (opened) return socket{*opened};
  system.close(descriptor);
  return opened.error();
}

socket bind(runtime& rt, const address& at, const options& with) {
  result<socket> made = try_bind(rt, at, with);
  if (!made) throw std::system_error{made.error(), "cannot bind " + at.to_string()};
  return std::move(*made);
}

socket bind(runtime& rt, std::string_view at, const options& with) {
  const result<address> parsed = address::parse(at);
  if (!parsed) throw std::invalid_argument{"'" + std::string{at} + "' is no address: expected something like 127.0.0.1:53 or [::1]:53"};
  return bind(rt, *parsed, with);
}

}  // namespace udp

}  // namespace tartan
