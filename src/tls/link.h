#pragma once
/// A TLS connection's state, shared by its stream and the operations in progress.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <system_error>
#include <tartan/buf/bytes.h>
#include <tartan/core/result.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/task.h>
#include <tartan/io/any_stream.h>

#include "tls/session.h"

namespace tartan::tls::detail {

using byte_parts = tartan::detail::byte_parts;

/// Color: that of the underlying stream. Operations share its ownership: it may outlive the stream that began them.
///
/// Three permits order the coroutines of a connection; docs/design/tls.md. The holder of `writing_` sends all that the session has to send before it gives
/// the permit back; a read that makes the session say something leaves that to it. So records leave in the order in which they were sealed.
class link : public std::enable_shared_from_this<link> {
 public:
  /// `keeps`: what the SSL object refers to. `check`: after a handshake that OpenSSL accepts.
  link(any_stream under, owned<SSL> of, std::shared_ptr<const void> keeps, std::chrono::nanoseconds handshake_limit,
       std::function<std::error_code(SSL&)> check);

  static task<result<>> handshake(std::shared_ptr<link> of);
  static task<result<std::size_t>> read_some(std::shared_ptr<link> of, std::span<std::byte> into);
  static task<result<>> readable(std::shared_ptr<link> of);
  static task<result<std::size_t>> write(std::shared_ptr<link> of, const_bytes all);
  static task<result<std::size_t>> write_parts(std::shared_ptr<link> of, byte_parts parts);
  static task<result<>> writable(std::shared_ptr<link> of);
  static task<result<>> shutdown_send(std::shared_ptr<link> of);

  [[nodiscard]] result<std::size_t> try_read_some(std::span<std::byte> into);
  [[nodiscard]] result<std::size_t> try_write(byte_parts parts);

  void close(std::source_location site);
  void cancel(std::source_location site);
  /// When its stream is destroyed: operations in progress end. In an event of another color this happens in the connection's color, a moment later.
  static void abandon(std::shared_ptr<link> of) noexcept;

  [[nodiscard]] any_stream& under() noexcept { return under_; }
  [[nodiscard]] SSL& ssl() const noexcept { return session_.ssl(); }

 private:
  struct held;

  [[nodiscard]] std::error_code not_usable() const noexcept;
  [[nodiscard]] std::error_code breaks(std::error_code why) noexcept;
  [[nodiscard]] static task<result<semaphore::permit>> enter(link& on, semaphore& one);

  [[nodiscard]] static task<result<>> shake_hands(link& on);
  [[nodiscard]] std::error_code check();

  [[nodiscard]] std::error_code receive();
  [[nodiscard]] static task<result<>> receive_more(link& on);
  [[nodiscard]] result<std::size_t> opened(std::span<std::byte> into, bool& needs_input);

  [[nodiscard]] static task<result<>> send_all(link& on);
  [[nodiscard]] static task<result<>> settle(link& on);
  [[nodiscard]] static task<result<std::size_t>> seal_and_send(link& on, byte_parts parts);
  [[nodiscard]] result<bool> send_now();
  void send_later(semaphore::permit writes);
  void send_if_any();

  any_stream under_;
  session session_;
  const std::shared_ptr<const void> keeps_;
  const std::chrono::nanoseconds handshake_limit_;
  std::function<std::error_code(SSL&)> check_;
  semaphore reading_{1};    ///< opens records
  semaphore writing_{1};    ///< seals records, and sends
  semaphore receiving_{1};  ///< waits for the peer, for a reader or for a writer; taken last
  std::uint64_t received_ = 0;      ///< how often something has come
  std::uint64_t cancels_ = 0;       ///< calls of cancel()
  std::optional<result<>> shaken_;  ///< the result of the handshake
  std::error_code broken_;          ///< nothing can be sent or received any more
};

/// What stream_reads reads from.
struct link_handle {
  std::shared_ptr<link> of;

  [[nodiscard]] task<result<std::size_t>> read_some(mutable_bytes into) const { return link::read_some(of, into); }
};

}  // namespace tartan::tls::detail
