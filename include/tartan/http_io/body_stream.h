#pragma once
/// The body of a message that is being received.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <tartan/buf/bytes.h>
#include <tartan/buf/chain.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/http/body_reader.h>
#include <tartan/http_io/error.h>

namespace tartan::http {

namespace detail {
class wire;
}

/// Reads a body piece by piece, or all of it. Only its content: lengths and chunks are dealt with.
///
///     while (auto got = co_await body.read_some(buffer)) use(buffer, *got);
///
/// Color: any; the bytes are read in the connection's.
/// Threads: one operation at a time.
/// Lifetime: the exchange's or the answer's that it belongs to.
/// Errors: errc::end_of_stream behind the last byte. errc::timed_out if the next piece does not come in time;
/// http::errc::truncated, malformed; too_large for a body beyond the limit. After an error but errc::canceled each
/// further read gives the same.
/// Limits: a body that nobody reads stays at the peer.
/// Cost: content is copied once by read_some into bytes, and not at all into a chain.
class body_stream {
 public:
  body_stream(const body_stream&) = delete;
  body_stream& operator=(const body_stream&) = delete;

  /// Reads what there is, at least a byte.
  [[nodiscard]] task<result<std::size_t>> read_some(mutable_bytes into);
  [[nodiscard]] task<result<std::size_t>> read_some(buf::chain& into, std::size_t most);

  /// The rest of the body, as text.
  ///
  /// Errors: http::errc::too_large beyond `most` bytes.
  [[nodiscard]] task<result<std::string>> read_all(std::size_t most);

  /// Whether the last byte has been read from the connection, and given.
  [[nodiscard]] bool is_complete() const noexcept { return reader_.is_complete() && content_.empty(); }

  /// Library code.
  struct settings {
    body_reader reader;
    std::uint64_t most = 0;  ///< bytes of content
    std::chrono::nanoseconds piece_limit{};
    bool is_continue_wanted = false;  ///< "100 Continue" is sent before the first read
  };
  body_stream(detail::wire& from, settings with) noexcept
      : wire_{&from},
        reader_{with.reader},
        left_{with.most},
        piece_limit_{with.piece_limit},
        is_continue_wanted_{with.is_continue_wanted} {}
  [[nodiscard]] std::error_code error() const noexcept { return failed_; }
  /// False: the client may still wait for "100 Continue", and has perhaps sent no body.
  [[nodiscard]] bool is_continue_wanted() const noexcept { return is_continue_wanted_; }
  void set_answered() noexcept { is_answered_ = true; }

 private:
  [[nodiscard]] task<result<>> fill();
  [[nodiscard]] result<> take();
  [[nodiscard]] std::error_code fail(std::error_code why) noexcept;
  [[nodiscard]] task<result<>> send_continue();

  detail::wire* wire_;
  body_reader reader_;
  buf::chain content_;
  std::uint64_t left_;
  std::chrono::nanoseconds piece_limit_;
  std::error_code failed_;
  bool is_continue_wanted_;
  bool is_answered_ = false;
};

}  // namespace tartan::http
