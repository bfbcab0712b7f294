#pragma once
/// A connection, and what has come on it and is not used yet.

#include <chrono>
#include <cstddef>
#include <tartan/buf/chain.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/any_stream.h>
#include <utility>

namespace tartan::http::detail {

/// Color: the stream's.
/// Threads: one read and one write at a time.
class wire {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  wire() noexcept = default;
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;

  /// Once. No constructor takes a stream: any_stream would ask whether this is one, and so on.
  void open(any_stream peer) noexcept { peer_ = std::move(peer); }

  [[nodiscard]] any_stream& peer() noexcept { return peer_; }
  [[nodiscard]] tartan::color color() const noexcept { return peer_.color(); }
  [[nodiscard]] buf::chain& received() noexcept { return received_; }

  /// Appends what comes next to `received`, at least a byte. A connection that waits holds no buffer if `received` is empty.
  ///
  /// Errors: the stream's; errc::timed_out.
  [[nodiscard]] task<result<>> fill(time_point until);
  [[nodiscard]] task<result<>> fill(std::chrono::nanoseconds limit) { return fill(in(limit)); }
  /// The same without waiting.
  ///
  /// Errors: the stream's; std::errc::operation_would_block.
  [[nodiscard]] result<> try_fill();

  /// Writes everything; each 256 KB may take as long as the limit says.
  ///
  /// Errors: the stream's; errc::timed_out. Then a part may have been sent.
  [[nodiscard]] task<result<>> send(buf::chain all, std::chrono::nanoseconds limit);

  /// Tells the peer that nothing more comes, which may take as long as a write, and drops what it still sends, for a while. A
  /// connection that is closed while bytes are unread is reset, and the peer loses the answer that it has not read yet.
  [[nodiscard]] task<> linger(std::chrono::nanoseconds write_limit, std::chrono::nanoseconds limit);
  /// The same for a peer that is owed nothing and says nothing: without waiting for it.
  [[nodiscard]] task<> leave(std::chrono::nanoseconds write_limit);

  [[nodiscard]] static time_point now() noexcept;
  /// Saturates: a limit may be as long as it likes.
  [[nodiscard]] static time_point in(std::chrono::nanoseconds limit) noexcept;

 private:
  any_stream peer_;
  buf::chain received_;
};

}  // namespace tartan::http::detail
