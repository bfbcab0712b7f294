#pragma once
/// A TLS connection: what its stream and the operations under way share.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <source_location>
#include <system_error>
#include <tartan/core/result.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/task.h>
#include <tartan/io/any_stream.h>

#include "tls/session.h"

namespace tartan::tls::detail {

using byte_parts = tartan::detail::byte_parts;

/// Color: the stream's under it. Operations hold it by shared pointer: it may outlive the stream that began them.
///
/// Who holds the permit to write sends all that the session has to send before it gives the permit back; a read that makes the session say something
/// leaves that to it. So what is sealed leaves in the order in which it was sealed.
class link : public std::enable_shared_from_this<link> {
 public:
  /// `keeps`: what the SSL object refers to. `check`: after a handshake that OpenSSL is content with.
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
  /// By the end of its stream: what waits for bytes, and what waits for those, ends.
  void abandon() noexcept;

  [[nodiscard]] any_stream& under() noexcept { return under_; }
  [[nodiscard]] SSL& ssl() const noexcept { return session_.ssl(); }

 private:
  [[nodiscard]] static task<result<>> shake_hands(link& on);
  [[nodiscard]] static task<result<>> send_all(link& on);
  [[nodiscard]] static task<result<std::size_t>> seal_and_send(link& on, byte_parts parts);
  [[nodiscard]] std::error_code receive();
  [[nodiscard]] result<std::size_t> opened(std::span<std::byte> into, bool& needs_input);
  [[nodiscard]] result<bool> send_now();
  void send_later(semaphore::permit held);
  void send_if_any();
  [[nodiscard]] std::error_code breaks(std::error_code why) noexcept;

  any_stream under_;
  session session_;
  const std::shared_ptr<const void> keeps_;
  const std::chrono::nanoseconds handshake_limit_;
  std::function<std::error_code(SSL&)> check_;
  semaphore reading_{1};
  semaphore writing_{1};
  std::optional<result<>> shaken_;  ///< what the handshake has given
  std::error_code broken_;          ///< nothing can be sent or received any more
};

}  // namespace tartan::tls::detail
