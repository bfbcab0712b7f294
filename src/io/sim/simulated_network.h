#pragma once
/// Sockets in memory.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <span>
#include <string_view>
#include <tartan/io/simulation.h>
#include <unordered_map>
#include <vector>

#include "io/sim/simulated_socket.h"
#include "io/system.h"

namespace tartan::detail {

/// Every address of a family, port 0.
[[nodiscard]] address any_address(int family);
[[nodiscard]] bool is_any_address(const address& a);
/// Where what is sent there goes: to the loopback if that is every address.
[[nodiscard]] address reachable_address(const address& to);

/// Whether a socket bound to `at` gets what is sent to `to`.
[[nodiscard]] bool reaches_socket(const address& at, const address& to);

/// The system calls of sockets and pipes over a network that has latency, small buffers and accidents, all from one seed.
///
/// What takes time is an arrival: a step that is due at some time of the clock. Edges are kept until a worker collects them.
/// Threads: any; one lock.
class simulated_network final : public io_system {
 public:
  /// `clock` gives the time; `stir` is called, with the lock held, when something is due earlier than before: it may tell others to look,
  /// and not look itself.
  simulated_network(const simulation_options& with, std::function<std::uint64_t()> clock, std::function<void()> stir);
  ~simulated_network() override;

  /// When the next arrival is due; ~0: none. 0 if edges wait to be collected.
  [[nodiscard]] std::uint64_t next_ns();
  /// Lets everything arrive that is due, and reports all edges. Gives whether an event was posted.
  bool report();
  [[nodiscard]] std::size_t size();

  void report_to(readiness_ledger& ledger) noexcept override;
  /// The runtime that it reported to is gone, and what it was not told is nobody's any more.
  void forget_ledger() noexcept;
  int open_socket(int domain, int type, int protocol) noexcept override;
  int open_pair(int domain, int type, int ends[2]) noexcept override;
  int open_pipe(int ends[2]) noexcept override;
  int bind(int descriptor, const sockaddr* at, socklen_t length) noexcept override;
  int listen(int descriptor, int backlog) noexcept override;
  int accept(int descriptor, sockaddr* peer, socklen_t* length) noexcept override;
  int connect(int descriptor, const sockaddr* to, socklen_t length) noexcept override;
  int shut_down(int descriptor, int how) noexcept override;
  int set_option(int descriptor, int level, int name, const void* value, socklen_t length) noexcept override;
  int get_option(int descriptor, int level, int name, void* value, socklen_t* length) noexcept override;
  int local_address(int descriptor, sockaddr* into, socklen_t* length) noexcept override;
  int peer_address(int descriptor, sockaddr* into, socklen_t* length) noexcept override;
  ssize_t read(int descriptor, void* into, std::size_t bytes) noexcept override;
  ssize_t receive(int descriptor, void* into, std::size_t bytes) noexcept override;
  ssize_t receive_message(int descriptor, msghdr& message) noexcept override;
  ssize_t write(int descriptor, const iovec* parts, std::size_t count) noexcept override;
  ssize_t send(int descriptor, const void* from, std::size_t bytes) noexcept override;
  ssize_t send_message(int descriptor, const msghdr& message, int flags) noexcept override;
  int receive_messages(int descriptor, mmsghdr* messages, unsigned count) noexcept override;
  int send_messages(int descriptor, mmsghdr* messages, unsigned count) noexcept override;
  ssize_t send_file(int descriptor, int file, std::int64_t* offset, std::size_t bytes) noexcept override;
  int unblock(int descriptor) noexcept override;
  int duplicate(int descriptor) noexcept override;
  int is_ready(int descriptor, flow way, int lent) noexcept override;
  void close(int descriptor) noexcept override;
  int watch(int descriptor, std::uint64_t mark) noexcept override;
  void forget(int descriptor) noexcept override;

 private:
  static constexpr std::uint16_t first_port = 40'000;  ///< of those that are picked

  struct edge {
    std::uint64_t mark;
    std::uint32_t bits;
  };
  using arrival = std::function<void()>;

  [[nodiscard]] socket_ref find(int descriptor) const;
  int add(socket_ref socket);
  void tell(const simulated_socket& whom, std::uint32_t bits);
  [[nodiscard]] bool is_writable(simulated_socket& s) const;
  void later(std::uint64_t at_ns, arrival what);
  [[nodiscard]] std::uint64_t latency();
  [[nodiscard]] std::uint64_t in_order(simulated_socket& towards);
  [[nodiscard]] bool happens(unsigned percent);
  [[nodiscard]] std::size_t part_of(std::size_t bytes);

  /// How well a socket suits; 0: not at all.
  using suits = std::function<int(const simulated_socket&)>;
  [[nodiscard]] socket_ref best_for(const address& from, const suits& how_well) const;
  [[nodiscard]] socket_ref listener_at(const address& to, const address& from) const;
  [[nodiscard]] socket_ref receiver_at(const address& to, const address& from) const;
  [[nodiscard]] bool in_use(const address& at, const simulated_socket& by) const;
  void link(const socket_ref& a, const socket_ref& b);
  void connect_now(const socket_ref& from, const socket_ref& door, const address& to);
  int connect_stream(const socket_ref& from, const address& to);
  ssize_t send_bytes(const socket_ref& from, std::string_view bytes, std::vector<int> passed);
  void refuse_datagram(const socket_ref& from);
  ssize_t send_datagram(const socket_ref& from, std::string_view bytes, const address& to);
  void fly(const socket_ref& from, const socket_ref& to, parcel&& what);
  ssize_t receive_bytes(const socket_ref& into, std::span<std::byte> room, parcel* taken);
  ssize_t receive_datagram(const socket_ref& into, std::span<std::byte> room, parcel& taken);
  void give_space(const simulated_socket& reader, bool now_has);
  void finish(const socket_ref& from, bool gone);
  void reset(const socket_ref& one, int error);
  void let_go(const socket_ref& last);
  void name(simulated_socket& s, const address& at);
  [[nodiscard]] bool pick_port(simulated_socket& s, const address& at);
  [[nodiscard]] int pass(int descriptor);
  void discard(parcel& unread);
  void discard_arrived(simulated_socket& reader);

  const simulation_options with_;
  const std::function<std::uint64_t()> clock_;
  const std::function<void()> stir_;
  readiness_ledger* ledger_ = nullptr;
  std::recursive_mutex lock_;
  std::mt19937_64 random_;
  std::unordered_map<int, socket_ref> open_;
  std::multimap<std::uint64_t, arrival> due_;
  std::vector<edge> edges_;
  int next_descriptor_;
  std::uint16_t last_port_ = first_port;
  std::unordered_map<std::uint16_t, unsigned> names_at_;  ///< how many sockets were named by a port
};

}  // namespace tartan::detail
