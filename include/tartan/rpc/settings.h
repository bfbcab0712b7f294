#pragma once
/// The limits of an RPC connection, and what it is told about its peer.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <tartan/buf/gate.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/address.h>
#include <tartan/io/any_stream.h>
#include <tartan/rpc/auth.h>
#include <tartan/xdr/decoder.h>

namespace tartan::rpc {

class duplicate_cache;

namespace detail {
class connection_owner;
}  // namespace detail

/// What a call says about itself.
struct call_info {
  std::uint32_t xid = 0;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  opaque_auth credentials;
  opaque_auth verifier;
  address peer;  ///< as the socket has it; empty for a Unix socket without a name
  bool is_datagram = false;
  std::weak_ptr<detail::connection_owner> over{};  ///< for connection_of()
};

/// Turns the stream under a live connection into another one, usually by a TLS handshake.
using stream_upgrade = std::function<task<result<any_stream>>(any_stream)>;

/// The answer of an authenticate_function.
struct authentication {
  /// Other than ok: the call is answered with this, and its procedure does not run.
  auth_status status = auth_status::ok;
  /// The verifier of the reply.
  opaque_auth verifier;
  /// If set, the call is answered with success and no result, its procedure does not run, and the stream is replaced by
  /// what this gives before the next byte is read: RFC 9289's AUTH_TLS. Bytes that came before the reply was sent end the
  /// connection with errc::malformed. Streams only: a datagram's call is denied.
  stream_upgrade upgrade;
};

/// Called for each call, in the connection's color, before its procedure.
using authenticate_function = std::function<authentication(const call_info&)>;

/// How a call is sent again over datagrams: first after `first`, then after twice as long, and so on.
struct retransmission {
  std::chrono::nanoseconds first = std::chrono::seconds{2};
  unsigned sends = 5;  ///< the first one included; after the last one's time the call ends with errc::timed_out
};

/// The settings of a connection.
///
/// Errors: connection and server throw std::invalid_argument for a most_calls that is not from 1 to 65536, and for a
/// most_outstanding of 0.
struct settings {
  /// Bytes of a message. A peer that announces a longer one is disconnected: errc::too_large.
  std::size_t most_record_bytes = std::size_t{1} << 21;
  /// Calls of the peer in progress. Further calls begin when one of these is answered.
  std::size_t most_calls = 256;
  /// Own calls in progress. Further coroutines wait for one of these to end, further callbacks get errc::busy.
  std::size_t most_outstanding = 1024;
  /// Bytes to be sent. Above high_bytes no call of the peer begins, and own calls wait.
  buf::watermarks queue{std::size_t{4} << 20, std::size_t{1} << 20};

  /// For calls whose call_options name no timeout. 0: a call on a stream waits for the connection's end, one on datagrams
  /// as `resend` says.
  std::chrono::nanoseconds call_timeout{};
  /// For a stream to be replaced, or sealed by a server: errc::timed_out.
  std::chrono::nanoseconds upgrade_limit = std::chrono::seconds{10};
  /// Without a message and without a call in progress: the connection ends with errc::timed_out. 0: no limit.
  std::chrono::nanoseconds idle_limit{};
  /// For a peer to close its end after drain().
  std::chrono::nanoseconds linger_limit = std::chrono::seconds{2};
  retransmission resend;

  /// The peer's address, for call_info, where the stream does not know it (TLS). A server fills it in.
  address peer{};
  xdr::limits decoding;
  /// Lets descriptors travel with calls and replies, at most 16 with each. Unix sockets only.
  bool passes_descriptors = false;
  /// Remembers replies, so that a repeated call does not run again. Share one among the connections of a server. Null:
  /// none on streams, a cache of its own on a datagram socket.
  std::shared_ptr<duplicate_cache> duplicates;
  /// Null: every call is accepted.
  authenticate_function authenticate;
};

}  // namespace tartan::rpc
