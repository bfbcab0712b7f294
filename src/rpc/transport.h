#pragma once
/// What carries messages: a stream with record marks, or datagrams.

#include <cstddef>
#include <memory>
#include <tartan/buf/chain.h>
#include <tartan/buf/gate.h>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/address.h>
#include <tartan/io/any_stream.h>
#include <tartan/io/udp.h>
#include <tartan/rpc/call.h>
#include <tartan/rpc/settings.h>

namespace tartan::rpc::detail {

/// A message that came.
struct incoming {
  buf::chain message;
  address from;
  descriptors passed;
};

/// Color: one, where().
class transport {
 public:
  explicit transport(const buf::watermarks& queue) : queued_{queue} {}
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  [[nodiscard]] virtual color where() const noexcept = 0;
  /// Whether a message that was sent arrives unless the connection ends.
  [[nodiscard]] virtual bool is_reliable() const noexcept = 0;
  [[nodiscard]] virtual address peer() const = 0;
  [[nodiscard]] virtual bool passes_descriptors() const noexcept { return false; }
  /// Whether a reply from there may be one to a call that was sent there.
  [[nodiscard]] virtual bool may_answer(const address& /*called*/, const address& /*from*/) const { return true; }

  /// The next message of what was read. False: more must be read.
  [[nodiscard]] virtual result<bool> next(incoming& into) = 0;
  /// Reads something without waiting. False: there is nothing, or this kind cannot.
  [[nodiscard]] virtual result<bool> try_fill() { return false; }
  /// Reads something, and waits for it if need be.
  [[nodiscard]] virtual task<result<>> fill() = 0;

  /// Queues a message.
  virtual void send(buf::chain message, const address& to, descriptors passed) = 0;
  /// Queues a message of so many bytes, which the caller writes to the chain at once, and then calls end_place().
  /// Null: not here.
  [[nodiscard]] virtual buf::chain* begin_place(std::size_t bytes) = 0;
  virtual void end_place(std::size_t bytes) = 0;

  /// Sends what it can without waiting. True: nothing is left.
  [[nodiscard]] virtual result<bool> try_flush() = 0;
  /// Sends until nothing is left.
  [[nodiscard]] virtual task<result<>> flush() = 0;

  /// Goes on with what `how` makes of the stream. Nothing is queued, and nobody reads.
  ///
  /// Errors: what `how` gives; errc::malformed if bytes were read that no message has used up.
  [[nodiscard]] virtual task<result<>> replace(const stream_upgrade& how) = 0;

  /// Tells the peer that nothing more is sent, and drops what it still sends until it has closed its end. A stream that is
  /// closed while bytes are unread is reset, and the reset may overtake the last replies.
  [[nodiscard]] virtual task<> linger() = 0;

  virtual void close() = 0;

  /// Bytes that were queued and not sent.
  [[nodiscard]] buf::gate& queued() noexcept { return queued_; }

 private:
  buf::gate queued_;
};

/// Bytes up to which a copy costs less than one more part of a gathered write.
inline constexpr std::size_t most_copied_bytes = 4096;
/// Appends a short message by copy, a long one by reference.
void append_cheaply(buf::chain& out, buf::chain&& message);

[[nodiscard]] std::unique_ptr<transport> over_stream(any_stream from, const settings& with);
[[nodiscard]] std::unique_ptr<transport> over_datagrams(udp::socket from, const settings& with);

}  // namespace tartan::rpc::detail
