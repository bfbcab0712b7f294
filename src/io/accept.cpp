#include <tartan/io/accept.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <system_error>
#include <tartan/core/post.h>
#include <tartan/core/strand.h>
#include <tartan/time/post_after.h>
#include <utility>

#include "core/runtime_state.h"
#include "io/listening.h"
#include "io/service.h"

namespace tartan::detail {

namespace {

using namespace std::chrono_literals;

/// What accept4 gives because of one connection, not because of the listener (accept(2), "Error handling").
bool concerns_the_peer(int error) noexcept {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ETIMEDOUT:
      return true;
    default:
      return false;
  }
}

/// Failures in a row that concern a peer each, until one no longer believes it: a filter that forbids the call says EPERM for ever.
constexpr int most_refused = 64;

bool is_shortage(int error) noexcept { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

/// Tries again later: no edge will come for connections that are there already. `why`: the shortage; success: it is
/// none.
void pause(io_slot& on, listening& state, std::error_code why) noexcept {
  const slot_key key{&on, on.generation(), on.where()};
  on.service().retry_after_close(key);  // each time: a close that has let one connection in has taken it off the list
  if (std::exchange(state.paused, true)) return;
  try {
    if (why && state.on_shortage != nullptr) post(on.where(), [told = state.on_shortage, why] { (*told)(why); });
  } catch (...) {  // no memory to tell of it
  }
  try {
    post_after(on.where(), 100ms, [key] {
      if (!key.slot->is_open(key.generation)) return;
      listening::of(*key.slot).paused = false;
      key.slot->retry(flow::in);
    });
  } catch (...) {
    state.paused = false;  // no memory for a timer either: the next close tries again
  }
}

}  // namespace

accept_base::~accept_base() {
  if (accepted_.slot != nullptr) accepted_.slot->service().abandon(accepted_);
}

io_wait::step accept_base::attempt(io_slot& on) noexcept {
  listening& state = listening::of(on);
  if (state.left == 0) {
    state.left = state.batch;
    return step::goes_on;
  }
  for (int refused = 0;;) {
    const int got = on.service().system().accept(on.descriptor(), nullptr, nullptr);
    if (got >= 0) {
      --state.left;
      return take_over(on, got);
    }
    const int error = -got;
    if (error == EAGAIN || error == EWOULDBLOCK) {
      state.left = state.batch;
      return step::would_block;
    }
    if (concerns_the_peer(error) && ++refused < most_refused) continue;
    if (!concerns_the_peer(error) && !is_shortage(error)) return fail(error);
    pause(on, state, is_shortage(error) ? std::error_code{error, std::system_category()} : std::error_code{});
    return step::elsewhere;  // not a wait for readiness: that there are connections is known
  }
}

/// Without memory for it, the connection is closed: its peer sees that at once, and may come again.
io_wait::step accept_base::take_over(io_slot& on, int descriptor) noexcept {
  io_service& service = on.service();
  result<slot_key> opened{std::make_error_code(std::errc::not_enough_memory)};
  try {
    std::optional<strand> own;
    if (!into_) own.emplace();
    const color where = own ? own->value() : *into_;
    // Where the system may have no room to watch it, as select has not for a high number, it must not be taken in.
    const auto from = service.system().tells_levels() ? io_service::watched::at_once : io_service::watched::from_first_wait;
    opened = service.open(descriptor, where, std::move(own), nullptr, {}, from);
  } catch (const std::bad_alloc&) {
  }
  if (opened) {
    accepted_ = *opened;
    return step::done;
  }
  service.system().close_unwatched(descriptor);
  pause(on, listening::of(on), opened.error());
  return step::elsewhere;
}

void tell_of_shortages(slot_key of, std::function<void(std::error_code)>&& f) {
  auto told = f ? std::make_shared<const std::function<void(std::error_code)>>(std::move(f)) : nullptr;
  listening::of(*of.slot).on_shortage = std::move(told);
}

begun_connection::~begun_connection() {
  if (key_.slot != nullptr) key_.slot->service().abandon(key_);
}

namespace {

/// Binds a socket that is about to connect. Gives -errno, or 0.
int bind_first(io_system& system, int descriptor, const address& from) noexcept {
  const int on = 1;
  // A port in TIME_WAIT is free only if the earlier connection allowed that too.
  if (const int e = system.set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); e < 0) return e;
  // The choice of a port waits until the peer is known, so that one address has all ports for each peer.
  if (from.port() == 0) {
    const int e = system.set_option(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (e < 0) return e;
  }
  return system.bind(descriptor, from.data(), from.size());
}

}  // namespace

begun_connection begin_connection(transport over, const address& to, const address& from,
                                  std::source_location site) noexcept {
  runtime_state& rt = required_runtime("tartan::connect", site);
  const bool is_tcp = over == transport::tcp;
  const bool fits = is_tcp ? to.is_ip() : to.is_unix();
  if (!fits || (from.size() != 0 && from.family() != to.family())) {
    return begun_connection{std::make_error_code(std::errc::address_family_not_supported)};
  }
  const result<io_service*> service = io_service::find(rt);
  if (!service) return begun_connection{service.error()};
  io_system& system = (*service)->system();
  const int descriptor = system.open_socket(to.family(), SOCK_STREAM, 0);
  if (descriptor < 0) return begun_connection{system_error(descriptor)};
  const int on = 1;
  int begun = is_tcp ? system.set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) : 0;
  if (begun >= 0 && from.size() != 0) begun = bind_first(system, descriptor, from);
  if (begun >= 0) {
    do {
      begun = system.connect(descriptor, to.data(), to.size());
    } while (begun == -EINTR);
  }
  if (begun < 0 && begun != -EINPROGRESS) {
    system.close(descriptor);
    return begun_connection{system_error(begun)};
  }
  // Watched only now: a socket that is not connected is hung up.
  const result<slot_key> opened = (*service)->open(descriptor, here_now()->running, std::nullopt);
  if (opened) return begun_connection{*opened, begun >= 0 ? connect_state::made : connect_state::begun};
  system.close(descriptor);
  return begun_connection{opened.error()};
}

io_wait::step connect_base::attempt(io_slot& on) noexcept {
  const connect_state was = std::exchange(at_, connect_state::awaited);
  if (was == connect_state::made) return step::done;
  io_system& system = on.service().system();
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  const int got = system.peer_address(on.descriptor(), reinterpret_cast<sockaddr*>(&peer), &length);
  if (got != -ENOTCONN) return got < 0 ? fail(-got) : step::done;
  // Within a machine it has most often succeeded by now. If it has failed, an edge is on its way.
  if (was == connect_state::begun) return step::would_block;
  int error = 0;
  socklen_t size = sizeof error;
  if (const int asked = system.get_option(on.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size); asked < 0) error = -asked;
  return error != 0 ? fail(error) : step::would_block;
}

}  // namespace tartan::detail
