#pragma once
/// What all streams of bytes can do: TCP, Unix sockets, pipes.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <tartan/io/chain_read.h>
#include <tartan/io/done_result.h>
#include <tartan/io/object.h>
#include <tartan/io/transfer.h>
#include <utility>

namespace tartan {

/// A stream of bytes in both directions, or in one.
///
/// Each operation comes in two forms: awaited, `auto got = co_await s.read_some(buffer)`, and with a callback that takes the same
/// result, `s.read_some(buffer, [](result<std::size_t> got) { ... })`, called later, never inside the call.
/// Color: see io_object. Cancel: with_timeout and join_handle::cancel for coroutines; cancel() for everything that waits.
/// Lifetime: what is read into or written from must live until the operation has ended.
/// Errors: errc::end_of_stream when the peer has finished; errc::canceled, errc::closed; else what the system says. A write to a
/// peer that is gone gives EPIPE; no signal is raised (of send_file see options::pipe_signal_ignored). On an accepted stream an operation that waits, or
/// takes more than one event, gives ENOSPC or ENOMEM if the system cannot watch one more (fs.epoll.max_user_watches); each asks again until it can. It
/// leaves behind what a canceled one leaves.
/// Limits: 65 536 operations wait in each direction, then errc::busy (of every object that waits for a descriptor). One event moves about a
/// megabyte, however many operations complete at once in it; a color's batch may be several events.
/// Cost: one system call if it completes at once; then, and if it has waited, no allocation for a coroutine, one for a callback. An accepted stream
/// costs no other call while no operation waits or takes more than one event; the first that does costs one, the first for room or for the disk one more,
/// and then the close, too.
class byte_stream : public io_object {
 public:
  byte_stream(byte_stream&&) noexcept = default;
  byte_stream& operator=(byte_stream&&) noexcept = default;
  ~byte_stream() = default;

  /// Reads what there is, at least a byte; 0 only into an empty buffer.
  [[nodiscard]] auto read_some(mutable_bytes into) noexcept {
    return detail::io_awaitable<detail::read_some_op>{std::in_place, key(), kind_, into};
  }
  template <detail::completion_of<detail::read_some_op> F>
  void read_some(mutable_bytes into, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::read_some_op>(std::forward<F>(f), site, key(), kind_, into);
  }

  /// Waits until a read is worth a try: there are bytes, or the end, or an error. It may be wrong, and say so though there is nothing. Together with
  /// try_read_some it lets who waits for long do so without a buffer:
  ///
  ///     while (co_await peer.readable()) {
  ///       const auto got = peer.try_read_some(a_buffer_of_this_worker);
  ///       if (!got && got.error() == std::errc::operation_would_block) continue;
  ///
  /// Errors: none of the peer's: those are for the read.
  [[nodiscard]] auto readable() noexcept { return detail::io_awaitable<detail::readable_op>{std::in_place, key()}; }
  template <detail::completion_of<detail::readable_op> F>
  void readable(F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::readable_op>(std::forward<F>(f), site, key());
  }

  /// Reads what there is, at least a byte, if that needs no waiting.
  ///
  /// Color: the stream's, within an event; ends the program elsewhere.
  /// Errors: std::errc::operation_would_block if it does, or if another read waits: then nothing was read.
  /// Limits: none of how often; who waits by readable() between is bounded as with read_some.
  /// Order: a read that is done, but whose coroutine or callback is still on its way, has taken its bytes before.
  /// Cost: one system call; none if the last read has taken all there was and nothing has come since, where somebody has waited before.
  [[nodiscard]] result<std::size_t> try_read_some(mutable_bytes into,
                                                  std::source_location site = std::source_location::current()) noexcept;

  /// Reads until the buffer is full. What was read before an error is in the buffer, but not counted.
  [[nodiscard]] auto read_exactly(mutable_bytes into) noexcept {
    return detail::io_awaitable<detail::read_exactly_op>{std::in_place, key(), kind_, into};
  }
  template <detail::completion_of<detail::read_exactly_op> F>
  void read_exactly(mutable_bytes into, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::read_exactly_op>(std::forward<F>(f), site, key(), kind_, into);
  }

  /// Appends to `into` until it holds the delimiter, and gives the length up to its end; more may have been read behind it. Looks first
  /// at what is there already.
  ///
  /// Errors: std::errc::message_size if the delimiter does not end within the first `most` bytes. What was read stays in `into`.
  [[nodiscard]] auto read_until(std::string& into, std::string_view delimiter, std::size_t most) noexcept {
    return detail::io_awaitable<detail::read_until_op>{std::in_place, key(), kind_, into, delimiter, most};
  }
  template <detail::completion_of<detail::read_until_op> F>
  void read_until(std::string& into, std::string_view delimiter, std::size_t most, F&& f,
                  std::source_location site = std::source_location::current()) {
    detail::start_io<detail::read_until_op>(std::forward<F>(f), site, key(), kind_, into, delimiter, most);
  }

  /// The same into a chain, in its own room: what there is, up to `most` bytes; up to the end of a line, LF or CRLF; up to the end of a
  /// delimiter. The chain's front may be used up while it is read into, but not when a delimiter is looked for.
  ///
  /// Errors: std::errc::message_size if what ends it does not end within the chain's first `most` bytes.
  [[nodiscard]] auto read_some(buf::chain& into, std::size_t most) noexcept {
    return detail::io_awaitable<detail::chain_read_some_op>{std::in_place, key(), kind_, into, most};
  }
  template <detail::completion_of<detail::chain_read_some_op> F>
  void read_some(buf::chain& into, std::size_t most, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::chain_read_some_op>(std::forward<F>(f), site, key(), kind_, into, most);
  }
  [[nodiscard]] auto read_line(buf::chain& into, std::size_t most) noexcept {
    return detail::io_awaitable<detail::chain_read_line_op>{std::in_place, key(), kind_, into, most};
  }
  template <detail::completion_of<detail::chain_read_line_op> F>
  void read_line(buf::chain& into, std::size_t most, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::chain_read_line_op>(std::forward<F>(f), site, key(), kind_, into, most);
  }
  [[nodiscard]] auto read_until(buf::chain& into, std::string_view delimiter, std::size_t most) noexcept {
    return detail::io_awaitable<detail::chain_read_until_op>{std::in_place, key(), kind_, into, delimiter, most};
  }
  template <detail::completion_of<detail::chain_read_until_op> F>
  void read_until(buf::chain& into, std::string_view delimiter, std::size_t most, F&& f,
                  std::source_location site = std::source_location::current()) {
    detail::start_io<detail::chain_read_until_op>(std::forward<F>(f), site, key(), kind_, into, delimiter, most);
  }

  /// Writes all of it; gives how much that was.
  [[nodiscard]] auto write(const_bytes all) noexcept {
    return detail::io_awaitable<detail::write_op>{std::in_place, key(), kind_, all};
  }
  template <detail::completion_of<detail::write_op> F>
  void write(const_bytes all, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::write_op>(std::forward<F>(f), site, key(), kind_, all);
  }

  /// Writes all parts, one after the other, with as few system calls as it takes: 64 parts each.
  [[nodiscard]] auto write(std::span<const std::span<const std::byte>> parts) noexcept {
    return detail::io_awaitable<detail::write_op>{std::in_place, key(), kind_, parts};
  }
  template <detail::completion_of<detail::write_op> F>
  void write(std::span<const std::span<const std::byte>> parts, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::write_op>(std::forward<F>(f), site, key(), kind_, parts);
  }

  /// Waits until a write is worth a try: there is room, or an error. It may be wrong, and say so though there is none. Together with try_write it lets who
  /// can make the bytes anew wait for a slow peer without keeping them.
  ///
  /// Errors: none of the peer's: those are for the write.
  /// Order: behind the writes that wait.
  [[nodiscard]] auto writable() noexcept { return detail::io_awaitable<detail::writable_op>{std::in_place, key()}; }
  template <detail::completion_of<detail::writable_op> F>
  void writable(F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::writable_op>(std::forward<F>(f), site, key());
  }

  /// Writes as much as goes without waiting, by one system call, and gives how much that was; the rest is for write.
  ///
  /// Color: the stream's, within an event; ends the program elsewhere.
  /// Errors: std::errc::operation_would_block if nothing goes, if another write waits, or if 64 operations were done at once in this event: then
  /// nothing was written.
  /// Limits: 64 parts; what is behind them is not written.
  /// Cost: one system call; none if the last write has found no room and there was none since, where somebody has waited before.
  [[nodiscard]] result<std::size_t> try_write(const_bytes all,
                                              std::source_location site = std::source_location::current()) noexcept;
  [[nodiscard]] result<std::size_t> try_write(std::span<const std::span<const std::byte>> parts,
                                              std::source_location site = std::source_location::current()) noexcept;

 protected:
  byte_stream() noexcept = default;
  byte_stream(detail::slot_key key, detail::channel_kind kind) noexcept : io_object{key}, kind_{kind} {}

  [[nodiscard]] detail::channel_kind kind() const noexcept { return kind_; }
  /// Null if it is closed; ends the program outside of its color's events.
  [[nodiscard]] detail::io_slot* slot_to_try(std::source_location site) const noexcept;

 private:
  friend class stream_writer;

  detail::channel_kind kind_ = detail::channel_kind::socket;
};

/// A stream over a socket.
class socket_stream : public byte_stream {
 public:
  socket_stream(socket_stream&&) noexcept = default;
  socket_stream& operator=(socket_stream&&) noexcept = default;
  ~socket_stream() = default;

  /// Tells the peer that nothing more will be sent; reading goes on. What waits to be written before it must have ended.
  ///
  /// There at once: co_await of it gives the same.
  /// Errors: what the system says; errc::closed.
  detail::done_result shutdown_send(std::source_location site = std::source_location::current()) noexcept;

  /// How much the system buffers (SO_RCVBUF, SO_SNDBUF); it keeps twice that, for what it needs besides. For a listener's
  /// connections it is set on the listener, with set_option.
  ///
  /// Errors: what the system says; errc::closed. More than net.core.rmem_max or wmem_max is cut to that.
  result<> set_receive_buffer(int bytes) noexcept;
  result<> set_send_buffer(int bytes) noexcept;

  /// Where the bytes of a file are.
  enum class file_place : std::uint8_t {
    disk,    ///< perhaps: so it is asked whether a worker would have to wait for them
    memory,  ///< the file is of memfd_create, or on tmpfs: not asked; for what is not there a worker waits itself (swapped out, or this is not true)
  };

  /// Sends `bytes` bytes of a file from `offset` on, without copying them through this program; before them `head`, in one packet with
  /// the first of them where both fit. Gives how much all that was.
  ///
  /// `file` may be any regular file's descriptor that can be read from; it must stay open until the operation has ended, and `head` must live so long.
  /// What is not in the system's cache is read by a blocking thread first, unless its place is memory, a megabyte at a time, while the stream's
  /// other writes wait behind it; the head leaves then by itself. Whether it is there, a byte at the end of each megabyte tells, and the very first one: the
  /// worker waits for the disk itself where the cache has lost only what lies between, or loses it while a slow peer is waited for; where the file
  /// system cannot tell; where no thread can be started; and after stop. That thread has a duplicate of `file`, with whose end the process loses its
  /// fcntl(F_SETLK) locks of this file; those of F_OFD_SETLK stay.
  /// It is sent as it is when the peer takes it: what somebody writes there before goes instead, and zeros, up to the length that was asked for, if the file
  /// is cut. A file that others may change is better read and written.
  /// Errors: errc::end_of_stream if the file is shorter. Whatever is wrong with the file, the head has left, or does, 200 ms later or more.
  /// Cost: one system call more for each megabyte, and one for the first, unless its place is memory; two around each that sends, and a third
  /// where only a part went, for sendfile knows no MSG_NOSIGNAL: they keep SIGPIPE away from this program, unless it has said that it ignores it
  /// (options::pipe_signal_ignored); and one for a head.
  [[nodiscard]] auto send_file(int file, std::int64_t offset, std::size_t bytes, const_bytes head = {},
                               file_place at = file_place::disk) noexcept {
    return detail::io_awaitable<detail::send_file_op>{std::in_place, key(), file,
                                                      offset,        bytes, head, at == file_place::memory};
  }
  template <detail::completion_of<detail::send_file_op> F>
  void send_file(int file, std::int64_t offset, std::size_t bytes, F&& f, std::source_location site = std::source_location::current()) {
    send_file(file, offset, bytes, const_bytes{}, std::forward<F>(f), site);
  }
  template <detail::completion_of<detail::send_file_op> F>
  void send_file(int file, std::int64_t offset, std::size_t bytes, const_bytes head, F&& f,
                 std::source_location site = std::source_location::current()) {
    send_file(file, offset, bytes, head, file_place::disk, std::forward<F>(f), site);
  }
  template <detail::completion_of<detail::send_file_op> F>
  void send_file(int file, std::int64_t offset, std::size_t bytes, const_bytes head, file_place at, F&& f,
                 std::source_location site = std::source_location::current()) {
    detail::start_io<detail::send_file_op>(std::forward<F>(f), site, key(), file, offset, bytes, head,
                                           at == file_place::memory);
  }

  /// Sends what there is room for, first of `head`, then of the file, and gives how much that was; the rest is for send_file. If the disk would have to be
  /// read first, nothing is sent: whether it would, two bytes tell, as for send_file, and where that may be wrong the worker waits here, too.
  ///
  /// Color: the stream's, within an event; ends the program elsewhere. `file` and `head` need not outlive the call.
  /// Errors: std::errc::operation_would_block if nothing goes, if another write waits, or if this event has done at once what it may: 64 operations, or about
  /// a megabyte. Others only if nothing was sent: what ends it behind a part is not told, and the next call meets it, or what follows from it. A file that
  /// cannot be sent, or has ended, is such a case if there is a head.
  /// Limits: a megabyte, with the head; only of so much is the disk asked for.
  /// Cost: send_file's where that is done at once; no system call if the last write has found no room and there was none since, where somebody has waited
  /// before.
  [[nodiscard]] result<std::size_t> try_send_file(int file, std::int64_t offset, std::size_t bytes,
                                                  const_bytes head = {},
                                                  file_place at = file_place::disk,
                                                  std::source_location site = std::source_location::current()) noexcept;

 protected:
  socket_stream() noexcept = default;
  explicit socket_stream(detail::slot_key key, detail::channel_kind kind = detail::channel_kind::socket) noexcept
      : byte_stream{key, kind} {}
};

}  // namespace tartan
