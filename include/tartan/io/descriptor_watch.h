#pragma once
/// Waiting for a descriptor that another library owns.

#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/io/object.h>
#include <tartan/io/wait.h>
#include <utility>

namespace tartan {

namespace detail {

/// Waits until poll() says that the descriptor is ready.
class watched_op : public io_wait {
 public:
  using value_type = void;
  watched_op(slot_key on, flow way) noexcept : io_wait{on, way}, way_{way} {}
  [[nodiscard]] result<> take() const noexcept { return error(); }

 private:
  step attempt(io_slot& on) noexcept final;
  flow way_;
};

}  // namespace detail

/// Waits until a descriptor that another library owns (libpq, libcurl, inotify, a driver) is readable or writable. It
/// never reads, writes or closes the descriptor, and leaves its flags alone.
///
///     auto watch = tartan::descriptor_watch::of(PQsocket(connection));
///     while (watch && PQisBusy(connection)) {
///       if (!co_await watch->readable()) break;
///       PQconsumeInput(connection);
///     }
///
/// Color: see io_object. Each operation comes in two forms: awaited, and with a callback. with_timeout and
/// join_handle::cancel end one wait, cancel() ends all.
/// Lifetime: close the watch before the owner closes the descriptor. The watch holds a duplicate. If the owner closes
/// first, a pending wait goes on, and a later one gives std::errc::bad_file_descriptor, or waits if the number names
/// another file by then. The open file stays open until the watch is closed: the peer of a socket sees its end only
/// then.
/// Cost: one descriptor. A wait costs one system call to ask, and the usual ones if it has to wait.
/// Several watches, and objects of this library, may use one descriptor at a time.
class descriptor_watch : private io_object {
 public:
  /// Closed.
  descriptor_watch() noexcept = default;

  /// Watches a descriptor, in the running color or in `c`.
  ///
  /// Errors: what the system says: std::errc::bad_file_descriptor; std::errc::operation_not_permitted for a regular
  /// file or a directory, which are always ready. std::errc::not_supported in a simulation for a descriptor of the
  /// kernel.
  [[nodiscard]] static result<descriptor_watch> of(int descriptor,
                                                   std::source_location site = std::source_location::current());
  [[nodiscard]] static result<descriptor_watch> of(runtime& rt, int descriptor, tartan::color c = {});

  /// Waits until a read would not block: there are bytes, an end or an error. Completes at once if so already.
  ///
  /// Errors: errc::canceled, errc::closed; std::errc::bad_file_descriptor if the owner has closed it. None of the
  /// peer's.
  /// Order: waits complete in the order in which they were begun; the first may have read what woke the second.
  [[nodiscard]] auto readable() noexcept {
    return detail::io_awaitable<detail::watched_op>{std::in_place, key(), detail::flow::in};
  }
  template <detail::completion_of<detail::watched_op> F>
  void readable(F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::watched_op>(std::forward<F>(f), site, key(), detail::flow::in);
  }

  /// Waits until a write would not block: there is room or an error, or connect has ended. Completes at once if so
  /// already.
  ///
  /// Errors: as readable.
  [[nodiscard]] auto writable() noexcept {
    return detail::io_awaitable<detail::watched_op>{std::in_place, key(), detail::flow::out};
  }
  template <detail::completion_of<detail::watched_op> F>
  void writable(F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::watched_op>(std::forward<F>(f), site, key(), detail::flow::out);
  }

  /// The watched descriptor, as given; -1 if closed.
  [[nodiscard]] int descriptor() const noexcept;

  using io_object::cancel;
  using io_object::close;
  using io_object::color;
  using io_object::hint;
  using io_object::is_open;

 private:
  explicit descriptor_watch(detail::slot_key key) noexcept : io_object{key} {}
  [[nodiscard]] static result<descriptor_watch> open_in(detail::runtime_state& rt, int descriptor, tartan::color c);
};

}  // namespace tartan
