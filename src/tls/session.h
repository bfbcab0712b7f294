#pragma once
/// The cryptography of one connection: sealed bytes in and plain ones out, and the other way. No I/O.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>

#include "tls/openssl.h"

namespace tartan::tls::detail {

/// Color: one at a time.
class session {
 public:
  /// What has to happen before an operation can go on, or is over.
  enum class need : std::uint8_t { nothing, input, end, error };  ///< a write may need input too: the rest of a message that has come in part

  /// Errors: std::bad_alloc.
  explicit session(owned<SSL> of);
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session();

  [[nodiscard]] need handshake() noexcept;
  /// Gives in `got` how many plain bytes there were; one or more, where nothing is needed.
  [[nodiscard]] need open(std::span<std::byte> into, std::size_t& got) noexcept;
  /// Takes a record's worth of plain bytes, and says how many that was.
  [[nodiscard]] need seal(std::span<const std::byte> plain, std::size_t& taken) noexcept;
  /// The closing alert; once. Not while a message has come in part, which handshake() tells.
  void finish() noexcept;
  /// Whether finish() was called: nothing can be sealed any more.
  [[nodiscard]] bool is_finished() const noexcept;

  /// What has come from the peer. False: there is no memory.
  [[nodiscard]] bool receive(std::span<const std::byte> sealed) noexcept;
  /// Whether open() has something that it has not looked at yet.
  [[nodiscard]] bool has_received() const noexcept;
  /// What is to go to the peer, until the next operation; and it has gone.
  [[nodiscard]] std::span<const std::byte> to_send() const noexcept;
  void sent() noexcept;
  /// All but the last bytes of it have gone. False: there is no memory.
  [[nodiscard]] bool sent_all_but(std::size_t last) noexcept;

  /// Of need::error.
  [[nodiscard]] std::error_code error() const noexcept { return error_; }

  [[nodiscard]] SSL& ssl() const noexcept { return *ssl_; }

 private:
  [[nodiscard]] need after(int result) noexcept;
  void drop_large_buffers() noexcept;

  owned<SSL> ssl_;
  BIO* came_;    ///< ssl_'s: what was received, and not opened yet
  BIO* leaves_;  ///< ssl_'s: what is sealed, and not sent yet
  std::error_code error_;
};

}  // namespace tartan::tls::detail
