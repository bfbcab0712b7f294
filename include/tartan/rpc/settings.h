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
struct settings {
  std::size_t most_record_bytes = std::size_t{1} << 21;  ///< of a message; a longer one ends the connection: too_large
  std::size_t most_calls = 256;         ///< of the peer's, in progress; further ones are not read until one is answered
  std::size_t most_outstanding = 1024;  ///< own calls; coroutines wait for one to end, callbacks get errc::busy
  buf::watermarks queue{std::size_t{4} << 20,
                        std::size_t{1} << 20};  ///< bytes to be sent: no call is read above high_bytes
  std::chrono::nanoseconds call_timeout{};      ///< of calls that name none; 0: none. On datagrams see `resend`
  std::chrono::nanoseconds upgrade_limit = std::chrono::seconds{10};  ///< for a stream to be replaced
  std::chrono::nanoseconds
      idle_limit{};  ///< without a message and without a call in progress: errc::timed_out; 0: none
  std::chrono::nanoseconds linger_limit = std::chrono::seconds{2};  ///< for a peer to close its end after drain()
  retransmission resend;
  address peer{};  ///< for call_info, where the stream does not say: TLS
  xdr::limits decoding;
  /// Descriptors may be passed with calls and replies; Unix sockets only. Each read then takes one more system call's
  /// argument, and at most 16 descriptors come with a message.
  bool passes_descriptors = false;
  /// Remembers the replies of calls that a program marks as not idempotent. Shared by the connections that clients of one
  /// server may use for a call that they repeat. Null: none, except that a datagram socket gets one of its own.
  std::shared_ptr<duplicate_cache> duplicates;
  /// Empty: every call is accepted.
  authenticate_function authenticate;
};

}  // namespace tartan::rpc
