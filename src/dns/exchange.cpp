#include "dns/exchange.h"

#include <ares.h>
#include <netinet/in.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "io/system.h"

namespace tartan::detail {

namespace {

/// c-ares measures time by the kernel's clock, so its timeouts must never fire: with_timeout ends an exchange.
constexpr int never_ms = 24 * 60 * 60 * 1000;

/// Datagrams that one event looks at, so that a flood of forged ones does not hold the worker.
constexpr unsigned most_datagrams = 64;

/// c-ares wants this once in a process.
int begin_library() noexcept {
  static const int begun = ::ares_library_init(ARES_LIB_INIT_ALL);
  return begun;
}

/// Why c-ares could not make a channel.
std::error_code error_of(int status) noexcept {
  return std::make_error_code(status == ARES_ENOMEM ? std::errc::not_enough_memory : std::errc::io_error);
}

/// The server as c-ares knows it, to compare senders with. socket_calls::connect uses the exchange's own address, which
/// may have a scope.
ares_addr_port_node node_of(const address& server) noexcept {
  ares_addr_port_node node{};
  node.family = server.family();
  node.udp_port = node.tcp_port = server.port();
  if (server.family() == AF_INET6) {
    std::memcpy(&node.addr.addr6, &reinterpret_cast<const sockaddr_in6*>(server.data())->sin6_addr,
                sizeof node.addr.addr6);
  } else {
    node.addr.addr4 = reinterpret_cast<const sockaddr_in*>(server.data())->sin_addr;
  }
  return node;
}

}  // namespace

/// The socket functions that c-ares calls. On failure they give -1 and set errno.
struct exchange::socket_calls {
  static exchange& of(void* self) noexcept { return *static_cast<exchange*>(self); }

  static ares_ssize_t asked_of(const msghdr& message) noexcept {
    std::size_t bytes = 0;
    for (std::size_t n = 0; n < message.msg_iovlen; ++n) bytes += message.msg_iov[n].iov_len;
    return static_cast<ares_ssize_t>(bytes);
  }

  static ares_socket_t open(int domain, int type, int protocol, void* self) noexcept {
    exchange& e = of(self);
    const int descriptor = e.system_.open_socket(domain, type, protocol);
    if (descriptor < 0) return e.refuse(descriptor);
    e.watch_.close();
    e.socket_ = descriptor;
    e.is_datagram_ = type == SOCK_DGRAM;
    e.wants_room_ = false;
    return descriptor;
  }

  static int close(ares_socket_t descriptor, void* self) noexcept {
    of(self).let_go(descriptor);
    return 0;
  }

  static int connect(ares_socket_t descriptor, const sockaddr* /*to*/, ares_socklen_t /*length*/, void* self) noexcept {
    exchange& e = of(self);
    int got = 0;
    do {
      got = e.system_.connect(descriptor, e.server_.data(), e.server_.size());
    } while (got == -EINTR);
    if (got == -EINPROGRESS) {
      errno = EINPROGRESS;
      return -1;
    }
    return got < 0 ? e.refuse(got) : 0;
  }

  /// `from` is null for TCP.
  static ares_ssize_t receive(ares_socket_t descriptor, void* into, std::size_t bytes, int /*flags*/, sockaddr* from,
                              ares_socklen_t* length, void* self) noexcept {
    exchange& e = of(self);
    for (;;) {
      if (from != nullptr && e.datagrams_left_-- == 0) return e.refuse(-EAGAIN);  // others go first
      iovec part{into, bytes};
      msghdr message{};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_name = from;
      message.msg_namelen = length != nullptr ? *length : 0;
      const ssize_t got = e.system_.receive_message(descriptor, message);
      if (got == -EINTR) continue;
      if (got == 0 && from != nullptr) continue;  // an empty datagram is no answer, and no end
      if (got < 0) return e.refuse(got);
      if (length != nullptr) *length = message.msg_namelen;
      if (got == 0) e.error_ = std::make_error_code(std::errc::connection_reset);  // the end, and no answer yet
      return got;
    }
  }

  static ares_ssize_t send(ares_socket_t descriptor, const iovec* parts, int count, void* self) noexcept {
    exchange& e = of(self);
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts);
    message.msg_iovlen = static_cast<std::size_t>(count);
    ssize_t got = 0;
    do {
      got = e.system_.send_message(descriptor, message, 0);
    } while (got == -EINTR);
    if (got == -EAGAIN && e.is_datagram_) return asked_of(message);  // lost, as on any other way: c-ares would give up
    return got < 0 ? e.refuse(got) : got;
  }

  static void state(void* self, ares_socket_t descriptor, int /*wants_bytes*/, int wants_room) noexcept {
    if (descriptor == of(self).socket_) of(self).wants_room_ = wants_room != 0;
  }
};

exchange::~exchange() {
  if (channel_ != nullptr) ::ares_destroy(channel_);
}

int exchange::refuse(long negative) noexcept {
  const int error = static_cast<int>(-negative);
  if (error != EAGAIN && error != EWOULDBLOCK) error_ = std::error_code{error, std::system_category()};
  errno = error;
  return -1;
}

void exchange::let_go(int descriptor) noexcept {
  if (descriptor == socket_) {
    watch_.close();  // before the owner closes
    socket_ = -1;
  }
  system_.close_unwatched(descriptor);
}

void exchange::close() noexcept {
  is_closed_ = true;
  watch_.close();
}

std::error_code exchange::open() {
  if (const int begun = begin_library(); begun != ARES_SUCCESS) return error_of(begun);
  static char lookups[] = "b";  // name servers only
  ares_options with{};
  with.flags = ARES_FLAG_NOCHECKRESP | ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  with.timeout = never_ms;
  with.tries = 1;
  with.ndots = 1;
  with.lookups = lookups;
  with.sock_state_cb = &socket_calls::state;
  with.sock_state_cb_data = this;
  // All of it is given, so that c-ares reads no file.
  in_addr some{};
  with.servers = &some;
  with.nservers = 1;
  const int given = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_DOMAINS |
                    ARES_OPT_LOOKUPS | ARES_OPT_SERVERS | ARES_OPT_SORTLIST | ARES_OPT_NOROTATE |
                    ARES_OPT_SOCK_STATE_CB;
  if (const int got = ::ares_init_options(&channel_, &with, given); got != ARES_SUCCESS) {
    channel_ = nullptr;
    return error_of(got);
  }
  static constexpr ares_socket_functions calls{&socket_calls::open, &socket_calls::close, &socket_calls::connect,
                                               &socket_calls::receive, &socket_calls::send};
  ::ares_set_socket_functions(channel_, &calls, this);
  ares_addr_port_node server = node_of(server_);
  if (const int got = ::ares_set_servers_ports(channel_, &server); got != ARES_SUCCESS) return error_of(got);
  return {};
}

task<result<message_bytes>> exchange::run(const message_bytes& question) {
  if (const std::error_code error = open()) co_return error;
  ::ares_send(channel_, question.data(), static_cast<int>(question.size()), &answered, this);
  while (!is_done_) {
    if (is_closed_) co_return errc::closed;
    if (!watch_.is_open()) {
      auto watched = descriptor_watch::of(socket_);
      if (!watched) co_return watched.error();
      watch_ = std::move(*watched);
    }
    const int descriptor = socket_;
    const bool wanted_room = wants_room_;
    result<> ready;
    if (wanted_room) {
      ready = co_await watch_.writable();
    } else {
      ready = co_await watch_.readable();
    }
    if (!ready) co_return ready.error();
    datagrams_left_ = most_datagrams;
    ::ares_process_fd(channel_, wanted_room ? ARES_SOCKET_BAD : descriptor, wanted_room ? descriptor : ARES_SOCKET_BAD);
  }
  co_return take();
}

void exchange::answered(void* self, int status, int /*timeouts*/, unsigned char* bytes, int length) noexcept {
  auto& e = *static_cast<exchange*>(self);
  e.is_done_ = true;
  e.status_ = status;
  if (status != ARES_SUCCESS) return;
  try {
    e.answer_.assign(bytes, bytes + length);
  } catch (const std::bad_alloc&) {
    e.status_ = ARES_ENOMEM;
  }
}

result<message_bytes> exchange::take() {
  if (status_ == ARES_SUCCESS) return std::move(answer_);
  if (status_ == ARES_ENOMEM) throw std::bad_alloc{};
  return error_ ? error_ : std::make_error_code(std::errc::connection_refused);
}

}  // namespace tartan::detail
