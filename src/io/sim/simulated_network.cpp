// A call that moves less than it could promises an edge, for so does the kernel: a short write is a full buffer, a short read an empty
// one. So a part that chance has cut brings a late edge with it. Everything else follows the kernel as our operations know it.
#include "io/sim/simulated_network.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/readiness.h"

namespace tartan::detail {

namespace {

using bits = readiness<real_memory>;
/// No number of the kernel's, so that a stray system call fails.
constexpr int first_descriptor = 1'000'000'000;
constexpr std::uint64_t connect_again_ns = 1'000'000'000;  ///< what a full backlog costs: the first retransmission of a SYN

/// A number that nobody could tell from a random one.
std::uint64_t lot_of(std::uint64_t seed, const address& from, int descriptor) noexcept {
  std::uint64_t lot = seed ^ (static_cast<std::uint64_t>(descriptor) << 32);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(from.data());
  for (unsigned n = 0; n < from.size(); ++n) lot = mix(lot + bytes[n]);
  return mix(lot + from.size());
}

/// Whether the kernel takes this value.
bool may_be(int level, int name, int value) noexcept {
  if (level != IPPROTO_TCP) return true;
  if (name == TCP_KEEPIDLE || name == TCP_KEEPINTVL) return value >= 1 && value <= 32'767;
  return name != TCP_KEEPCNT || (value >= 1 && value <= 127);
}

bool is_readable(const simulated_socket& s) noexcept {
  return !s.arrived.empty() || !s.accepted.empty() || s.fin_arrived;
}

void put(const address& from, sockaddr* into, socklen_t* length) noexcept {
  if (into == nullptr || length == nullptr) return;
  std::memcpy(into, from.data(), std::min<std::size_t>(from.size(), *length));
  *length = from.size();
}

}  // namespace

address any_address(int family) { return *address::parse(family == AF_INET6 ? "[::]:0" : "0.0.0.0:0"); }

bool is_any_address(const address& a) { return a.is_ip() && a == any_address(a.family()).with_port(a.port()); }

address reachable_address(const address& to) {
  if (!is_any_address(to)) return to;
  return (to.family() == AF_INET6 ? *address::parse("[::1]:0") : address::loopback(0)).with_port(to.port());
}

bool reaches_socket(const address& at, const address& to) {
  return at == to || (at.port() == to.port() && at.family() == to.family() && is_any_address(at));
}

simulated_network::simulated_network(const simulation_options& with, std::function<std::uint64_t()> clock, std::function<void()> stir)
    : with_{with}, clock_{std::move(clock)}, stir_{std::move(stir)}, random_{with.seed}, next_descriptor_{first_descriptor} {}

/// What is on its way, and what nobody has read, may hold descriptors of the kernel's.
simulated_network::~simulated_network() {
  std::vector<socket_ref> left;
  for (const auto& [descriptor, s] : open_) left.push_back(s);
  for (const socket_ref& each : left) discard_arrived(*each);
  const auto on_their_way = std::exchange(due_, {});
}

void simulated_network::report_to(readiness_ledger& ledger) noexcept {
  const std::lock_guard hold{lock_};
  ledger_ = &ledger;
}

void simulated_network::forget_ledger() noexcept {
  const std::lock_guard hold{lock_};
  ledger_ = nullptr;
  edges_.clear();
}

std::uint64_t simulated_network::next_ns() {
  const std::lock_guard hold{lock_};
  if (!edges_.empty()) return 0;
  return due_.empty() ? ~std::uint64_t{0} : due_.begin()->first;
}

std::size_t simulated_network::size() {
  const std::lock_guard hold{lock_};
  return open_.size();
}

bool simulated_network::report() {
  std::vector<edge> edges;
  readiness_ledger* ledger = nullptr;
  {
    const std::lock_guard hold{lock_};
    const std::uint64_t now = clock_();
    while (!due_.empty() && due_.begin()->first <= now) {
      const arrival what = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      what();
    }
    ledger = ledger_;
    if (ledger == nullptr) return false;  // it comes in a moment: somebody watches already
    edges.swap(edges_);
  }
  bool posted = false;
  for (const edge& each : edges) posted = ledger->ready(each.mark, each.bits) || posted;
  return posted;
}

socket_ref simulated_network::find(int descriptor) const {
  const auto found = open_.find(descriptor);
  return found != open_.end() ? found->second : nullptr;
}

int simulated_network::add(socket_ref socket) {
  if (open_.size() >= with_.most_descriptors) return -EMFILE;
  open_.emplace(next_descriptor_, std::move(socket));
  return next_descriptor_++;
}

void simulated_network::tell(const simulated_socket& whom, std::uint32_t news) {
  for (const auto& [descriptor, mark] : whom.watchers) edges_.push_back({mark, news});
}

void simulated_network::later(std::uint64_t at_ns, arrival what) {
  const bool first = due_.empty() || at_ns < due_.begin()->first;
  due_.emplace(at_ns, std::move(what));
  if (first) stir_();
}

std::uint64_t simulated_network::latency() {
  const auto least = static_cast<std::uint64_t>(with_.least_latency.count());
  const auto most = static_cast<std::uint64_t>(with_.most_latency.count());
  return most > least ? least + random_() % (most - least + 1) : least;
}

/// When something that is sent now arrives, behind all that was sent before.
std::uint64_t simulated_network::in_order(simulated_socket& towards) {
  towards.last_arrival_ns = std::max(towards.last_arrival_ns, clock_() + latency());
  return towards.last_arrival_ns;
}

bool simulated_network::happens(unsigned percent) { return percent != 0 && random_() % 100 < percent; }

std::size_t simulated_network::part_of(std::size_t bytes) {
  return bytes > 1 && happens(with_.partial_percent) ? 1 + random_() % (bytes - 1) : bytes;
}

int simulated_network::open_socket(int domain, int type, int /*protocol*/) noexcept {
  const std::lock_guard hold{lock_};
  if (domain != AF_INET && domain != AF_INET6 && domain != AF_UNIX) return -EAFNOSUPPORT;
  auto made = std::make_shared<simulated_socket>();
  made->domain = domain;
  made->type = type == SOCK_DGRAM ? simulated_socket::kind::datagram : simulated_socket::kind::stream;
  return add(std::move(made));
}

void simulated_network::link(const socket_ref& a, const socket_ref& b) {
  a->peer = b;
  b->peer = a;
  a->connected = b->connected = true;
}

int simulated_network::open_pair(int domain, int type, int ends[2]) noexcept {
  const std::lock_guard hold{lock_};
  if (open_.size() + 2 > with_.most_descriptors) return -EMFILE;
  for (int n : {0, 1}) ends[n] = open_socket(domain, type, 0);
  link(find(ends[0]), find(ends[1]));
  return 0;
}

int simulated_network::open_pipe(int ends[2]) noexcept {
  const std::lock_guard hold{lock_};
  if (const int error = open_pair(AF_UNIX, SOCK_STREAM, ends); error < 0) return error;
  for (int n : {0, 1}) find(ends[n])->type = simulated_socket::kind::pipe;
  find(ends[0])->send_shut = true;
  find(ends[1])->receive_shut = true;
  return 0;
}

bool simulated_network::in_use(const address& at, const simulated_socket& by) const {
  return std::any_of(open_.begin(), open_.end(), [&](const auto& each) {
    const simulated_socket& other = *each.second;
    if (&other == &by || other.type != by.type || other.local.size() == 0) return false;
    if (other.connected && other.type != simulated_socket::kind::datagram) return false;
    return (reaches_socket(other.local, at) || reaches_socket(at, other.local)) && !(other.reuse_port && by.reuse_port);
  });
}

int simulated_network::bind(int descriptor, const sockaddr* at, socklen_t length) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  address wanted = address::from(at, length);
  if (wanted.family() != s->domain) return -EAFNOSUPPORT;
  if (wanted.is_ip() && wanted.port() == 0) return pick_port(*s, wanted) ? 0 : -EADDRINUSE;
  if (in_use(wanted, *s)) return -EADDRINUSE;
  name(*s, wanted);
  return 0;
}

int simulated_network::listen(int descriptor, int backlog) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  if (s->type != simulated_socket::kind::stream) return -EOPNOTSUPP;
  s->listening = true;
  s->backlog = std::max(1, std::min(backlog, SOMAXCONN));
  return 0;
}

void simulated_network::name(simulated_socket& s, const address& at) {
  s.local = at;
  if (at.is_ip()) ++names_at_[s.port = at.port()];
}

/// Names a socket by this address and the next port that no other has. False if there is none.
bool simulated_network::pick_port(simulated_socket& s, const address& at) {
  for (unsigned tries = first_port; tries <= 0xffff; ++tries) {
    last_port_ = last_port_ == 0xffff ? first_port : static_cast<std::uint16_t>(last_port_ + 1);
    if (names_at_.contains(last_port_)) continue;
    name(s, at.with_port(last_port_));
    return true;
  }
  return false;
}

/// Who gets what comes from a peer. Several that suit equally well, with SO_REUSEPORT, share the peers: each draws a lot for this
/// one, always the same, so that a peer's datagrams stay together, and nobody else's peers move when a socket is closed.
socket_ref simulated_network::best_for(const address& from, const suits& how_well) const {
  socket_ref best;
  std::pair<int, std::uint64_t> most{};
  for (const auto& [descriptor, s] : open_) {
    const int rank = how_well(*s);
    if (rank == 0) continue;
    const std::pair<int, std::uint64_t> its{rank, lot_of(with_.seed, from, descriptor)};
    if (best != nullptr && its <= most) continue;
    best = s;
    most = its;
  }
  return best;
}

socket_ref simulated_network::listener_at(const address& to, const address& from) const {
  return best_for(from, [&to](const simulated_socket& s) {
    if (!s.listening || !reaches_socket(s.local, to)) return 0;
    return s.local == to ? 2 : 1;
  });
}

int simulated_network::accept(int descriptor, sockaddr* peer, socklen_t* length) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  if (!s->listening) return -EINVAL;
  if (s->accepted.empty()) return -EAGAIN;
  if (open_.size() >= with_.most_descriptors) return -EMFILE;
  const socket_ref taken = std::move(s->accepted.front());
  s->accepted.pop_front();
  put(taken->remote, peer, length);
  return add(taken);
}

/// The listener's end of a new connection.
void simulated_network::connect_now(const socket_ref& from, const socket_ref& door, const address& to) {
  auto there = std::make_shared<simulated_socket>();
  there->domain = from->domain;
  there->local = to;
  there->remote = from->local;
  there->options = door->options;
  link(from, there);
  from->remote = to;
  door->accepted.push_back(std::move(there));
  tell(*door, bits::in);
}

/// Over TCP: the answer comes a round trip later.
int simulated_network::connect_stream(const socket_ref& from, const address& to) {
  from->connecting = true;
  const std::weak_ptr<simulated_socket> weak = from;
  later(clock_() + latency(), [this, weak, to] {
    const socket_ref s = weak.lock();
    if (s == nullptr || s->handles == 0) return;
    const socket_ref door = listener_at(to, s->local);
    if (door != nullptr && door->accepted.size() >= static_cast<std::size_t>(door->backlog)) {
      later(clock_() + connect_again_ns, [this, weak, to] {
        if (const socket_ref again = weak.lock()) static_cast<void>(connect_stream(again, to));
      });
      return;
    }
    if (door != nullptr) connect_now(s, door, to);
    s->connected = false;  // until the answer has come
    later(clock_() + latency(), [this, weak, refused = door == nullptr] {
      const socket_ref back = weak.lock();
      if (back == nullptr) return;
      back->connecting = false;
      back->connected = !refused;
      if (refused) back->error = ECONNREFUSED;
      tell(*back, refused ? bits::in | bits::out | bits::hung_up : bits::out);
    });
  });
  return -EINPROGRESS;
}

int simulated_network::connect(int descriptor, const sockaddr* to, socklen_t length) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  if (s->connecting) return -EALREADY;
  const address wanted = reachable_address(address::from(to, length));
  const bool is_datagram = s->type == simulated_socket::kind::datagram;
  if (!is_datagram && s->connected) return -EISCONN;
  if (wanted.is_ip()) {
    if (s->local.size() == 0 && !pick_port(*s, wanted)) return -EADDRNOTAVAIL;
    if (is_any_address(s->local)) s->local = wanted.with_port(s->local.port());
  }
  if (is_datagram) {
    s->remote = wanted;
    s->connected = true;
    return 0;
  }
  if (wanted.is_ip()) return connect_stream(s, wanted);
  const socket_ref door = listener_at(wanted, s->local);
  if (door == nullptr) return -ECONNREFUSED;
  if (door->accepted.size() >= static_cast<std::size_t>(door->backlog)) return -EAGAIN;
  connect_now(s, door, wanted);
  return 0;
}

/// The end of what one end sends, on its way; `gone`: the whole end is closed.
void simulated_network::finish(const socket_ref& from, bool gone) {
  const socket_ref to = from->peer.lock();
  if (to == nullptr) return;
  from->send_shut = true;
  const std::weak_ptr<simulated_socket> weak = to;
  later(in_order(*to), [this, weak, gone] {
    const socket_ref reader = weak.lock();
    if (reader == nullptr) return;
    reader->fin_arrived = true;
    reader->peer_gone = reader->peer_gone || gone;
    tell(*reader, bits::in | bits::hung_up | (gone ? bits::out : 0));
  });
}

int simulated_network::shut_down(int descriptor, int how) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  if (!s->connected) return -ENOTCONN;
  if (how != SHUT_RD && !s->send_shut) finish(s, false);
  if (how != SHUT_WR) s->receive_shut = true;
  return 0;
}

int simulated_network::set_option(int descriptor, int level, int name, const void* value, socklen_t length) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  int number = 0;
  std::memcpy(&number, value, std::min<std::size_t>(length, sizeof number));
  if (!may_be(level, name, number)) return -EINVAL;
  if (level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF)) number *= 2;  // the kernel's own needs
  if (level == SOL_SOCKET && name == SO_REUSEPORT) s->reuse_port = number != 0;
  s->options[{level, name}] = number;
  return 0;
}

int simulated_network::get_option(int descriptor, int level, int name, void* value, socklen_t* length) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  int number = 0;
  if (level == SOL_SOCKET && name == SO_ERROR) {
    number = std::exchange(s->error, 0);
  } else if (level == SOL_SOCKET && name == SO_TYPE) {
    number = s->type == simulated_socket::kind::datagram ? SOCK_DGRAM : SOCK_STREAM;
  } else if (level == SOL_SOCKET && name == SO_DOMAIN) {
    number = s->domain;
  } else if (level == SOL_SOCKET && name == SO_ACCEPTCONN) {
    number = s->listening ? 1 : 0;
  } else if (const auto found = s->options.find({level, name}); found != s->options.end()) {
    number = found->second;
  }
  std::memcpy(value, &number, std::min<std::size_t>(*length, sizeof number));
  *length = sizeof number;
  return 0;
}

int simulated_network::local_address(int descriptor, sockaddr* into, socklen_t* length) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  put(s->local, into, length);
  return 0;
}

int simulated_network::peer_address(int descriptor, sockaddr* into, socklen_t* length) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -EBADF;
  if (!s->connected) return -ENOTCONN;
  put(s->remote, into, length);
  return 0;
}

int simulated_network::unblock(int descriptor) noexcept {
  const std::lock_guard hold{lock_};
  return find(descriptor) != nullptr ? 0 : -EBADF;
}

int simulated_network::watch(int descriptor, std::uint64_t mark) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -ENOTSUP;  // one of the kernel's
  s->watchers.emplace_back(descriptor, mark);
  const std::uint32_t now =
      (is_readable(*s) ? bits::in : 0) | (s->connected ? bits::out : 0) | (s->fin_arrived ? bits::hung_up : 0);
  if (now != 0) {
    edges_.push_back({mark, now});
    stir_();
  }
  return 0;
}

int simulated_network::duplicate(int descriptor) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr) return -ENOTSUP;  // one of the kernel's
  const int made = add(s);
  if (made >= 0) ++s->handles;
  return made;
}

/// If it is not, an edge comes when it is.
bool simulated_network::is_writable(simulated_socket& s) const {
  if (s.error != 0 || s.peer_gone || s.type == simulated_socket::kind::datagram) return true;
  if (s.connecting || !s.connected) return false;
  const socket_ref to = s.peer.lock();
  const bool full = to != nullptr && to->arrived_bytes + to->flying_bytes >= with_.stream_buffer;
  if (full) s.wants_space = true;
  return !full;
}

int simulated_network::is_ready(int descriptor, flow way, int lent) noexcept {
  const std::lock_guard hold{lock_};
  const socket_ref s = find(descriptor);
  if (s == nullptr || find(lent) == nullptr) return -EBADF;
  const bool ready = way == flow::in ? is_readable(*s) || s->error != 0 : is_writable(*s);
  return ready ? 1 : 0;
}

void simulated_network::forget(int descriptor) noexcept {
  const std::lock_guard hold{lock_};
  if (const socket_ref s = find(descriptor)) {
    std::erase_if(s->watchers, [descriptor](const auto& each) { return each.first == descriptor; });
  }
}

/// No descriptor names it any more: its peer learns that.
void simulated_network::let_go(const socket_ref& last) {
  last->watchers.clear();
  last->listening = false;
  if (const auto named = names_at_.find(last->port); named != names_at_.end() && --named->second == 0) names_at_.erase(named);
  for (const socket_ref& waiting : last->accepted) {
    reset(waiting, ECONNRESET);  // gives their peers the error
    discard_arrived(*waiting);
  }
  last->accepted.clear();
  const bool unread = !last->arrived.empty();
  discard_arrived(*last);
  if (last->type == simulated_socket::kind::datagram) return;
  const auto linger = last->options.find({SOL_SOCKET, SO_LINGER});  // with a time, which nobody sets, close would wait
  const bool thrown_away = linger != last->options.end() && linger->second != 0;
  if ((unread && last->type == simulated_socket::kind::stream) || thrown_away) {
    reset(last, ECONNRESET);  // the peer is told that bytes were lost
  } else {
    finish(last, true);
  }
}

/// Breaks a connection: its other end gets an error.
void simulated_network::reset(const socket_ref& one, int error) {
  const socket_ref other = one->peer.lock();
  if (other == nullptr) return;
  const std::weak_ptr<simulated_socket> weak = other;
  later(in_order(*other), [this, weak, error] {
    const socket_ref s = weak.lock();
    if (s == nullptr) return;
    s->error = error;
    s->peer_gone = s->fin_arrived = true;
    discard_arrived(*s);
    tell(*s, bits::in | bits::out | bits::hung_up);
  });
}

void simulated_network::close(int descriptor) noexcept {
  const std::lock_guard hold{lock_};
  const auto found = open_.find(descriptor);
  if (found == open_.end()) {
    if (descriptor >= 0 && descriptor < first_descriptor) static_cast<void>(::close(descriptor));  // the kernel's, that was passed here
    return;
  }
  forget(descriptor);
  const socket_ref s = std::move(found->second);
  open_.erase(found);
  if (--s->handles == 0) let_go(s);
}

}  // namespace tartan::detail
