#pragma once
/// A queue of bytes in front of a stream.

#include <concepts>
#include <cstddef>
#include <memory>
#include <source_location>
#include <span>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <system_error>
#include <tartan/buf/chain.h>
#include <tartan/buf/gate.h>
#include <tartan/buf/slice.h>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task.h>
#include <tartan/io/byte_stream.h>
#include <tartan/io/pipe.h>
#include <type_traits>
#include <utility>

namespace tartan {

/// How much a stream_writer queues.
struct writer_limits {
  buf::watermarks marks{};                         ///< between these its queue is kept by who asks
  std::size_t most_bytes = 64 * 1024 * 1024;       ///< more than this fails
};

namespace detail {

class outgoing;  // what a writer and its write in flight share
[[nodiscard]] std::shared_ptr<outgoing> make_outgoing(slot_key on, channel_kind kind, color where, const writer_limits& limits,
                                                      std::source_location site);
/// Ends what waits; the write in flight goes on.
void abandon(outgoing& of) noexcept;
[[nodiscard]] buf::chain& queue_of(outgoing& of) noexcept;
[[nodiscard]] buf::gate& gate_of(outgoing& of) noexcept;
[[nodiscard]] const buf::gate& gate_of(const outgoing& of) noexcept;
[[nodiscard]] color color_of(const outgoing& of) noexcept;
/// The queue has become longer, or has a new mark.
void queued(outgoing& of);

}  // namespace detail

/// Queues what is to be written and writes it, many pieces with one system call; the caller does not wait.
///
/// What an event queues is written together, in an event of its own behind it: a write is begun at the back of the color, and again
/// when it is done and something was queued meanwhile. One write is in flight at a time. A producer that may be faster than the
/// peer asks above_high(), or waits for ready().
/// Color: the stream's, also for its end; everything that calls back does so there.
/// Lifetime: the stream may move, and may be closed: then this fails with errc::closed. When the writer is destroyed, what it has
/// not begun to write is dropped (flush before), and what waits ends with errc::closed.
/// Errors: the first one is kept; with it the queue is emptied, what waits ends, and what is queued later is dropped.
/// Limits: most_bytes queued; beyond that it fails with std::errc::no_buffer_space: a producer that does not ask loses its stream, and
/// not the program its memory. 64 pieces and 256 KiB in a write.
/// Order: as queued. Other writes to the stream may come between any two of its pieces.
/// Cost: besides the system call two events a write, and one allocation from the worker's pool.
class stream_writer {
 public:
  static constexpr std::size_t most_parts_per_write = 64;
  static constexpr std::size_t most_bytes_per_write = 256 * 1024;

  /// Errors: std::bad_alloc; std::invalid_argument for marks in the wrong order.
  explicit stream_writer(const byte_stream& to, const writer_limits& limits = {},
                         std::source_location site = std::source_location::current());
  /// The same in front of a pipe, as a child's standard input.
  explicit stream_writer(const pipe::write_end& to, const writer_limits& limits = {},
                         std::source_location site = std::source_location::current());
  stream_writer(stream_writer&&) noexcept = default;
  stream_writer& operator=(stream_writer&& other) noexcept {
    if (this != &other) {
      if (state_ != nullptr) detail::abandon(*state_);
      state_ = std::move(other.state_);
    }
    return *this;
  }
  ~stream_writer() {
    if (state_ != nullptr) detail::abandon(*state_);
  }

  /// Queue bytes: as buf::chain does.
  ///
  /// Errors: see the class; std::bad_alloc.
  void append(const_bytes copied) { extend(copied); }
  void append(buf::slice piece) { extend(std::move(piece)); }
  void append(buf::chain&& all) { extend(std::move(all)); }
  template <buf::printable... Values>
  stream_writer& print(const Values&... values) {
    detail::queue_of(*state_).print(values...);
    detail::queued(*state_);
    return *this;
  }

  /// Calls f when the system has taken everything that is queued now; later, even if that is nothing. Not if the write fails.
  template <std::invocable F>
  void mark(F&& f) {
    detail::queue_of(*state_).mark(std::forward<F>(f));
    detail::queued(*state_);
  }

  /// Bytes that the system has not taken yet.
  [[nodiscard]] std::size_t size() const noexcept { return detail::gate_of(*state_).level(); }

  /// Whether more is queued than the high mark says, and since then it has not fallen to the low one.
  [[nodiscard]] bool above_high() const noexcept { return detail::gate_of(*state_).above_high(); }

  /// Why it has failed, if it has.
  [[nodiscard]] std::error_code error() const noexcept { return detail::gate_of(*state_).error(); }

  /// Waits while above_high(): `co_await out.ready()`, or with a callback that takes the result<>.
  ///
  /// Errors: error(); errc::closed if the writer is destroyed; errc::canceled.
  [[nodiscard]] buf::gate::wait ready() noexcept { return detail::gate_of(*state_).ready(); }
  template <std::invocable<result<>> F>
  void ready(F&& f, std::source_location site = std::source_location::current()) {
    call_back(true, std::forward<F>(f), site);
  }

  /// Waits until the system has taken everything that is queued now.
  ///
  /// Errors: as of ready().
  [[nodiscard]] buf::gate::wait flush() noexcept { return detail::gate_of(*state_).flushed(); }
  template <std::invocable<result<>> F>
  void flush(F&& f, std::source_location site = std::source_location::current()) {
    call_back(false, std::forward<F>(f), site);
  }

 private:
  template <class What>
  void extend(What&& what) {
    detail::queue_of(*state_).append(std::forward<What>(what));
    detail::queued(*state_);
  }

  template <class F>
  void call_back(bool ready, F&& f, std::source_location site) {
    spawn_in(detail::placed_color{detail::color_of(*state_), site}, &await_then_call<std::decay_t<F>>, state_, ready, std::forward<F>(f)).detach();
  }
  /// The state is kept: the writer may be gone when this begins.
  template <class F>
  static task<> await_then_call(std::shared_ptr<detail::outgoing> of, bool ready, F f) {
    detail::refuse_task<F&, result<>>();
    buf::gate& level = detail::gate_of(*of);
    const result<> ended = co_await (ready ? level.ready() : level.flushed());
    f(ended);
  }

  std::shared_ptr<detail::outgoing> state_;
};

}  // namespace tartan
