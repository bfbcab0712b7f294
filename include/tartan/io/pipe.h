#pragma once
/// Pipes, and what behaves as one: FIFOs, terminals.

#include <cstddef>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/io/byte_stream.h>

namespace tartan {
class process;
class stream_writer;
}  // namespace tartan

namespace tartan::pipe {

struct ends;

/// What both ends have.
class end : protected byte_stream {
 public:
  using io_object::cancel;
  using io_object::close;
  using io_object::color;
  using io_object::hint;
  using io_object::is_open;
  using io_object::native_handle;
  using io_object::release;

 protected:
  friend class tartan::stream_writer;
  end() noexcept = default;
  explicit end(detail::slot_key key) noexcept : byte_stream{key, detail::channel_kind::file} {}
};

/// Where bytes come out: byte_stream's reading half.
///
/// Errors: errc::end_of_stream when nobody has the other end open any more.
class read_end : public end {
 public:
  /// Closed.
  read_end() noexcept = default;

  /// Takes over a pipe, a FIFO or a terminal, for example standard input, in a color.
  ///
  /// The open file becomes non-blocking, for every descriptor that shares it, in other processes too. When the last
  /// object that uses it is closed or released, it is as it was found. Child processes get blocking standard streams
  /// meanwhile (process::spawn).
  /// Errors: what the system says; then the descriptor is still the caller's. std::errc::operation_not_permitted for a
  /// regular file: that is always ready, see file.h.
  [[nodiscard]] static result<read_end> from_fd(int descriptor, tartan::color c,
                                                std::source_location site = std::source_location::current());
  [[nodiscard]] static result<read_end> from_fd(runtime& rt, int descriptor, tartan::color c);

  using byte_stream::read_exactly;
  using byte_stream::read_line;
  using byte_stream::read_some;
  using byte_stream::read_until;
  using byte_stream::readable;
  using byte_stream::try_read_some;

 private:
  friend class tartan::process;
  friend struct ends;
  explicit read_end(detail::slot_key key) noexcept : end{key} {}
};

/// Where bytes go in: byte_stream's writing half. A stream_writer may stand in front of it.
///
/// Errors: std::errc::broken_pipe when nobody reads any more; no signal is raised (but see options::pipe_signal_ignored).
/// Cost: a write is three system calls, and one more where only a part went: they keep SIGPIPE away from this program. One, if it has said that it
/// ignores it.
class write_end : public end {
 public:
  /// Closed.
  write_end() noexcept = default;

  /// As read_end::from_fd; standard output for one.
  [[nodiscard]] static result<write_end> from_fd(int descriptor, tartan::color c,
                                                 std::source_location site = std::source_location::current());
  [[nodiscard]] static result<write_end> from_fd(runtime& rt, int descriptor, tartan::color c);

  using byte_stream::try_write;
  using byte_stream::writable;
  using byte_stream::write;

 private:
  friend class tartan::process;
  friend struct ends;
  explicit write_end(detail::slot_key key) noexcept : end{key} {}
};

/// Both ends of a pipe.
struct ends {
  read_end read;
  write_end write;

  /// Library code.
  [[nodiscard]] static result<ends> open(detail::runtime_state& rt, tartan::color reads, tartan::color writes);
};

/// A new pipe, each end in a color.
///
/// Threads: any, before or during a run; without a runtime inside an event, and both in its color.
[[nodiscard]] result<ends> open(runtime& rt, tartan::color reads, tartan::color writes);
[[nodiscard]] result<ends> open(std::source_location site = std::source_location::current());

}  // namespace tartan::pipe
