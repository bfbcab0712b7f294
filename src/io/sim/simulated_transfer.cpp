/// The simulated network's calls that move bytes.

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/readiness.h"
#include "io/sim/simulated_network.h"

namespace tartan::detail {

namespace {

using bits = readiness<real_memory>;
constexpr std::size_t most_datagram = 65'507;

std::string gathered(const iovec* parts, std::size_t count) {
  std::string all;
  for (std::size_t n = 0; n < count; ++n) all.append(static_cast<const char*>(parts[n].iov_base), parts[n].iov_len);
  return all;
}

/// Into the parts, in order. Gives how much fitted.
std::size_t scatter(std::string_view bytes, const msghdr& into) noexcept {
  std::size_t done = 0;
  for (std::size_t n = 0; n < into.msg_iovlen && done < bytes.size(); ++n) {
    const std::size_t piece = std::min(into.msg_iov[n].iov_len, bytes.size() - done);
    std::memcpy(into.msg_iov[n].iov_base, bytes.data() + done, piece);
    done += piece;
  }
  return done;
}

std::vector<int> passed_in(const msghdr& message) {
  std::vector<int> all;
  auto& readable = const_cast<msghdr&>(message);
  for (cmsghdr* c = CMSG_FIRSTHDR(&readable); c != nullptr; c = CMSG_NXTHDR(&readable, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    const std::size_t before = all.size();
    all.resize(before + count);
    std::memcpy(all.data() + before, CMSG_DATA(c), count * sizeof(int));
  }
  return all;
}

/// Gives how many fitted; the caller drops the rest.
std::size_t put_passed(msghdr& message, const std::vector<int>& all) noexcept {
  const std::size_t room = message.msg_controllen >= CMSG_LEN(0) ? (message.msg_controllen - CMSG_LEN(0)) / sizeof(int) : 0;
  const std::size_t count = std::min(room, all.size());
  if (count < all.size()) message.msg_flags |= MSG_CTRUNC;
  if (count == 0) {
    message.msg_controllen = 0;
    return 0;
  }
  cmsghdr* const c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(count * sizeof(int));
  std::memcpy(CMSG_DATA(c), all.data(), count * sizeof(int));
  message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  return count;
}

}  // namespace

/// A new descriptor for the same thing: one of this world, or of the kernel.
int simulated_network::pass(int descriptor) {
  if (const socket_ref s = find(descriptor)) {
    const int made = add(s);
    if (made >= 0) ++s->handles;
    return made;
  }
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return copy >= 0 ? copy : -errno;
}

/// Nobody will read it.
void simulated_network::discard(parcel& unread) {
  for (const int each : std::exchange(unread.descriptors, {})) close(each);
}

void simulated_network::discard_arrived(simulated_socket& reader) {
  reader.arrived_bytes = 0;
  for (parcel& each : std::exchange(reader.arrived, {})) discard(each);
}

void simulated_network::fly(const socket_ref& /*from*/, const socket_ref& to, parcel&& what) {
  to->flying_bytes += what.bytes.size();
  const std::weak_ptr<simulated_socket> weak = to;
  const std::uint64_t at_ns = to->type == simulated_socket::kind::datagram ? clock_() + latency() : in_order(*to);
  const std::shared_ptr<parcel> arriving{new parcel{std::move(what)}, [this](parcel* gone) {
                                           discard(*gone);
                                           delete gone;
                                         }};
  later(at_ns, [this, weak, arriving] {
    const socket_ref s = weak.lock();
    if (s == nullptr) return;
    s->flying_bytes -= arriving->bytes.size();
    if (s->handles == 0 || s->peer_gone) return;
    s->arrived_bytes += arriving->bytes.size();
    s->arrived.push_back(std::move(*arriving));
    tell(*s, bits::in);
  });
}

ssize_t simulated_network::send_bytes(const socket_ref& from, std::string_view bytes, std::vector<int> passed) {
  if (from->error != 0) return -std::exchange(from->error, 0);
  if (from->connecting) return -EAGAIN;
  if (!from->connected) return -ENOTCONN;
  const socket_ref to = from->peer.lock();
  if (from->send_shut || from->peer_gone) return -EPIPE;
  if (to == nullptr || to->handles == 0) return -EAGAIN;  // it is gone, and word of that is on its way
  if (happens(with_.reset_percent)) {
    reset(from, ECONNRESET);
    reset(to, ECONNRESET);
    from->peer_gone = true;  // who has seen it writes no more, before word of it has come to who reads there
    return -ECONNRESET;
  }
  const std::size_t full = to->arrived_bytes + to->flying_bytes;
  const std::size_t space = full < with_.stream_buffer ? with_.stream_buffer - full : 0;
  if (space == 0) {
    from->wants_space = true;
    return -EAGAIN;
  }
  const std::size_t count = part_of(std::min(space, bytes.size()));
  if (count < bytes.size()) {
    from->wants_space = true;
    if (count < space) {  // chance has cut it: as a buffer that was full and is emptied soon
      const std::weak_ptr<simulated_socket> weak = from;
      later(clock_() + latency(), [this, weak] {
        if (const socket_ref s = weak.lock()) tell(*s, bits::out);
      });
    }
  }
  parcel sent{std::string{bytes.substr(0, count)}, {}, {}, !passed.empty()};
  for (const int each : passed) {
    const int copy = pass(each);
    if (copy >= 0) {
      sent.descriptors.push_back(copy);
      continue;
    }
    discard(sent);
    return copy;
  }
  fly(from, to, std::move(sent));
  return static_cast<ssize_t>(count);
}

/// Its writer has waited for that.
void simulated_network::give_space(const simulated_socket& reader, bool now_has) {
  const socket_ref writer = reader.peer.lock();
  if (!now_has || writer == nullptr || !std::exchange(writer->wants_space, false)) return;
  const std::weak_ptr<simulated_socket> weak = writer;
  later(clock_() + latency(), [this, weak] {
    if (const socket_ref s = weak.lock()) tell(*s, bits::out);
  });
}

ssize_t simulated_network::receive_bytes(const socket_ref& from, std::span<std::byte> room, parcel* taken) {
  if (from->error != 0) return -std::exchange(from->error, 0);
  if (from->connecting) return -EAGAIN;
  if (!from->connected) return -ENOTCONN;
  if (room.empty()) return 0;
  if (from->arrived.empty()) return from->fin_arrived || from->receive_shut ? 0 : -EAGAIN;
  const std::size_t most = part_of(std::min(room.size(), from->arrived_bytes));
  std::size_t done = 0;
  while (done < most) {
    parcel& first = from->arrived.front();
    if (first.ends_read && done != 0) break;  // what is passed comes with its own first byte
    const bool last = first.ends_read;
    if (taken != nullptr) taken->descriptors = std::exchange(first.descriptors, {});
    const std::size_t piece = std::min(most - done, first.bytes.size());
    std::memcpy(room.data() + done, first.bytes.data(), piece);
    done += piece;
    first.bytes.erase(0, piece);
    if (first.bytes.empty()) from->arrived.pop_front();
    if (last) break;
  }
  from->arrived_bytes -= done;
  if (!from->arrived.empty() && done < room.size()) {  // chance has cut it: there is more, which needs an edge
    const std::weak_ptr<simulated_socket> weak = from;
    later(clock_() + latency(), [this, weak] {
      if (const socket_ref s = weak.lock()) tell(*s, bits::in);
    });
  }
  give_space(*from, done != 0);
  return static_cast<ssize_t>(done);
}

/// A connected socket gets what its peer sends, before all others, and nothing else.
socket_ref simulated_network::receiver_at(const address& to, const address& from) const {
  return best_for(from, [&](const simulated_socket& s) {
    if (s.type != simulated_socket::kind::datagram || !reaches_socket(s.local, to)) return 0;
    if (s.connected) return s.remote == from ? 3 : 0;
    return s.local == to ? 2 : 1;
  });
}

/// Nobody is there: what the sender is told by a later call.
void simulated_network::refuse_datagram(const socket_ref& from) {
  const std::weak_ptr<simulated_socket> weak = from;
  later(clock_() + latency(), [this, weak] {
    const socket_ref s = weak.lock();
    if (s == nullptr) return;
    s->error = ECONNREFUSED;
    tell(*s, bits::in | bits::out);
  });
}

ssize_t simulated_network::send_datagram(const socket_ref& from, std::string_view bytes, const address& to) {
  if (from->error != 0) return -std::exchange(from->error, 0);
  if (bytes.size() > most_datagram) return -EMSGSIZE;
  if (to.size() == 0 && !from->connected) return -EDESTADDRREQ;
  if (from->local.size() == 0 && from->domain != AF_UNIX && !pick_port(*from, any_address(from->domain))) return -EAGAIN;
  const address wanted = to.size() != 0 ? reachable_address(to) : from->remote;
  // Who is asked at one of all its addresses answers from there.
  const address source = is_any_address(from->local) ? wanted.with_port(from->local.port()) : from->local;
  const socket_ref there = wanted.size() != 0 ? receiver_at(wanted, source) : from->peer.lock();
  if (there == nullptr && to.size() == 0 && wanted.size() != 0) refuse_datagram(from);
  const bool full = there != nullptr && there->arrived_bytes + there->flying_bytes + bytes.size() > with_.stream_buffer;
  if (there == nullptr || full || happens(with_.loss_percent)) return static_cast<ssize_t>(bytes.size());  // lost
  fly(from, there, {std::string{bytes}, source, {}});
  return static_cast<ssize_t>(bytes.size());
}

/// The datagram that came first; what does not fit is lost.
ssize_t simulated_network::receive_datagram(const socket_ref& into, std::span<std::byte> room, parcel& taken) {
  if (into->error != 0) return -std::exchange(into->error, 0);
  if (into->arrived.empty()) return -EAGAIN;
  taken = std::move(into->arrived.front());
  into->arrived.pop_front();
  into->arrived_bytes -= taken.bytes.size();
  const std::size_t count = std::min(room.size(), taken.bytes.size());
  std::memcpy(room.data(), taken.bytes.data(), count);
  return static_cast<ssize_t>(count);
}

ssize_t simulated_network::read(int descriptor, void* into, std::size_t bytes) noexcept { return receive(descriptor, into, bytes); }

ssize_t simulated_network::receive(int descriptor, void* into, std::size_t bytes) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  const std::span<std::byte> room{static_cast<std::byte*>(into), bytes};
  parcel taken;
  if (s->type == simulated_socket::kind::datagram) return receive_datagram(s, room, taken);
  const ssize_t got = receive_bytes(s, room, &taken);
  for (const int each : taken.descriptors) close(each);  // passed to a reader who has not asked for them
  return got;
}

ssize_t simulated_network::receive_message(int descriptor, msghdr& message) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  std::size_t size = 0;
  for (std::size_t n = 0; n < message.msg_iovlen; ++n) size += message.msg_iov[n].iov_len;
  std::string room(size, '\0');
  parcel taken;
  message.msg_flags = 0;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span{room});
  const bool datagram = s->type == simulated_socket::kind::datagram;
  const ssize_t got = datagram ? receive_datagram(s, bytes, taken) : receive_bytes(s, bytes, &taken);
  if (got < 0) return got;
  scatter(std::string_view{room}.substr(0, static_cast<std::size_t>(got)), message);
  if (datagram && taken.bytes.size() > size) message.msg_flags |= MSG_TRUNC;
  if (message.msg_name != nullptr) {
    std::memcpy(message.msg_name, taken.from.data(), std::min<std::size_t>(taken.from.size(), message.msg_namelen));
    message.msg_namelen = taken.from.size();
  }
  const std::size_t put = put_passed(message, taken.descriptors);
  for (std::size_t n = put; n < taken.descriptors.size(); ++n) close(taken.descriptors[n]);
  return got;
}

ssize_t simulated_network::write(int descriptor, const iovec* parts, std::size_t count) noexcept {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts);
  message.msg_iovlen = count;
  return send_message(descriptor, message, 0);
}

ssize_t simulated_network::send(int descriptor, const void* from, std::size_t bytes) noexcept {
  const iovec part{const_cast<void*>(from), bytes};
  return write(descriptor, &part, 1);
}

ssize_t simulated_network::send_message(int descriptor, const msghdr& message, int /*flags*/) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  const std::string bytes = gathered(message.msg_iov, message.msg_iovlen);
  if (s->type != simulated_socket::kind::datagram) return bytes.empty() ? 0 : send_bytes(s, bytes, passed_in(message));
  const address to = message.msg_name != nullptr ? address::from(static_cast<const sockaddr*>(message.msg_name), message.msg_namelen) : address{};
  return send_datagram(s, bytes, to);
}

// The lock is held throughout, so an error can only be that of the first datagram, or the next call's.
int simulated_network::receive_messages(int descriptor, mmsghdr* messages, unsigned count) noexcept {
  const std::lock_guard hold{lock_};
  for (unsigned n = 0; n < count; ++n) {
    const ssize_t got = receive_message(descriptor, messages[n].msg_hdr);
    if (got < 0) return n != 0 ? static_cast<int>(n) : static_cast<int>(got);
    messages[n].msg_len = static_cast<unsigned>(got);
  }
  return static_cast<int>(count);
}

int simulated_network::send_messages(int descriptor, mmsghdr* messages, unsigned count) noexcept {
  const std::lock_guard hold{lock_};
  for (unsigned n = 0; n < count; ++n) {
    const ssize_t sent = send_message(descriptor, messages[n].msg_hdr, 0);
    if (sent < 0) return n != 0 ? static_cast<int>(n) : static_cast<int>(sent);
    messages[n].msg_len = static_cast<unsigned>(sent);
  }
  return static_cast<int>(count);
}

ssize_t simulated_network::send_file(int descriptor, int file, std::int64_t* offset, std::size_t bytes) noexcept {
  std::array<char, 16 * 1024> room;
  const ssize_t got = ::pread(file, room.data(), std::min(bytes, room.size()), *offset);
  if (got < 0) return -errno;
  const ssize_t sent = got == 0 ? 0 : send(descriptor, room.data(), static_cast<std::size_t>(got));
  if (sent > 0) *offset += sent;
  return sent;
}

}  // namespace tartan::detail
