#pragma once
/// TLS 1.2 and 1.3 over a connection. The work is OpenSSL's, in the connection's color; reading and writing are the runtime's.

#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/tcp.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "web/ticket_keys.h"

struct ssl_ctx_st;
struct ssl_st;
struct bio_st;

namespace web {

/// Files in PEM.
struct tls_files {
  std::vector<std::string> names;  ///< of the host, in small letters
  std::string certificate;         ///< with those that vouch for it behind it
  std::string key;
  std::string said_at;             ///< in front of what is wrong with them
};

/// The certificates of all hosts. Never changes: after a reload, new connections get new ones.
///
/// Threads: any. Clients resume with tickets, see ticket_keys: nothing of a session is kept here.
class tls_certificates {
 public:
  /// The first also answers whoever names no host.
  ///
  /// Errors: std::runtime_error, with the file and OpenSSL's reason. Blocks as long as the disk takes.
  explicit tls_certificates(const std::vector<tls_files>& files);
  tls_certificates(const tls_certificates&) = delete;
  tls_certificates& operator=(const tls_certificates&) = delete;

  /// Whether the first certificate is the same: then tickets of those others may be resumed with these. After a change
  /// of the certificate sessions begin anew, for it may have been changed because somebody else had its key.
  [[nodiscard]] bool has_same_first(const tls_certificates& others) const noexcept;

  [[nodiscard]] ssl_ctx_st* first() const noexcept { return all_.front().get(); }
  /// As a client names it; null: no host has that name.
  [[nodiscard]] ssl_ctx_st* find(std::string_view name) const noexcept;

 private:
  struct release {
    void operator()(ssl_ctx_st* of) const noexcept;
  };
  std::vector<std::unique_ptr<ssl_ctx_st, release>> all_;
  std::map<std::string, ssl_ctx_st*, std::less<>> by_name_;
};

/// One connection's.
///
/// Color, lifetime: the stream's. One operation at a time.
/// Errors: as the stream's; std::errc::protocol_error for what is no TLS, or not from who began. After an error only the stream is left to be closed.
/// Limits: 4 KB are read, and 16 KB sealed, at a time.
class tls_stream {
 public:
  /// `tickets`: null: its client gets none. Errors: std::bad_alloc.
  tls_stream(std::shared_ptr<const tls_certificates> with, std::shared_ptr<const ticket_keys> tickets,
             tartan::tcp::stream& under);

  /// First of all.
  [[nodiscard]] tartan::task<tartan::result<>> handshake();

  /// errc::end_of_stream: the peer has finished, and said so.
  [[nodiscard]] tartan::task<tartan::result<std::size_t>> read_some(std::span<std::byte> into);

  /// The same of what has been received by now. What it makes OpenSSL say is sent with the next write.
  ///
  /// Errors: also std::errc::operation_would_block.
  [[nodiscard]] tartan::result<std::size_t> read_at_hand(std::span<std::byte> into) noexcept;

  [[nodiscard]] tartan::task<tartan::result<>> write(std::string_view all);

  /// Tells the peer that nothing more will be sent.
  [[nodiscard]] tartan::task<tartan::result<>> finish();

 private:
  struct release {
    void operator()(ssl_st* of) const noexcept;
  };
  /// What has to happen before an operation of OpenSSL can go on, by what it gave.
  enum class need { nothing, input, end, error };
  [[nodiscard]] need need_after(int result) const noexcept;
  [[nodiscard]] tartan::task<tartan::result<>> send_sealed();
  [[nodiscard]] tartan::task<tartan::result<>> receive_sealed();
  void drop_large_buffer() noexcept;

  std::shared_ptr<const tls_certificates> with_;
  std::shared_ptr<const ticket_keys> tickets_;  ///< null behind the handshake: a download keeps no old key alive
  tartan::tcp::stream& under_;
  std::unique_ptr<std::byte[]> buffer_;
  std::unique_ptr<ssl_st, release> ssl_;
  bio_st* came_ = nullptr;   ///< ssl_'s: what was received, and not opened yet
  bio_st* leaves_ = nullptr; ///< ssl_'s: what is sealed, and not sent yet; empty between operations
  std::size_t most_left_ = 0;  ///< bytes that leaves_ has held
};

}  // namespace web
