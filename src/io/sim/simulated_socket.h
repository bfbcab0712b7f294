#pragma once
/// One end of a simulated connection.

#include <sys/socket.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tartan/io/address.h>
#include <utility>
#include <vector>

namespace tartan::detail {

struct simulated_socket;
using socket_ref = std::shared_ptr<simulated_socket>;

/// Bytes, or a datagram, on the way or arrived.
struct parcel {
  std::string bytes;
  address from;
  std::vector<int> descriptors;  ///< passed along with the first byte
  bool ends_read = false;        ///< it has brought descriptors: a read goes no further
};

/// Everything is guarded by the network's lock.
struct simulated_socket {
  enum class kind : std::uint8_t { stream, datagram, pipe };

  int domain = 0;
  kind type = kind::stream;
  bool listening = false;
  bool connecting = false;
  bool connected = false;
  bool send_shut = false;     ///< by this end
  bool receive_shut = false;  ///< by this end
  bool fin_arrived = false;   ///< the peer sends no more
  bool peer_gone = false;     ///< the peer is closed: what is sent comes back as a reset
  bool wants_space = false;   ///< a write found the buffer full
  bool reuse_port = false;
  int error = 0;  ///< SO_ERROR
  int backlog = 0;
  address local;
  std::uint16_t port = 0;  ///< that it was named by; 0 for who was accepted
  address remote;
  std::weak_ptr<simulated_socket> peer;
  std::deque<socket_ref> accepted;  ///< connections that wait for accept
  std::deque<parcel> arrived;
  std::size_t arrived_bytes = 0;
  std::size_t flying_bytes = 0;    ///< towards this end
  std::uint64_t last_arrival_ns = 0;
  std::vector<std::pair<int, std::uint64_t>> watchers;  ///< descriptors whose edges are reported, and with which mark
  unsigned handles = 1;  ///< descriptors that name it
  std::map<std::pair<int, int>, int> options;
};

}  // namespace tartan::detail
