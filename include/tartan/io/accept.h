#pragma once
/// Operations that make connections. Library code; programs use tcp.h and local.h.

#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <system_error>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/address.h>
#include <tartan/io/object.h>
#include <tartan/io/wait.h>
#include <tartan/time/with_timeout.h>
#include <utility>

namespace tartan::detail {

/// Takes one connection from a listener.
class accept_base : public io_wait {
 public:
  [[nodiscard]] const char* name() const noexcept final { return "a client of a listener"; }

 protected:
  accept_base(slot_key on, std::optional<color> into) noexcept : io_wait{on, flow::in}, into_{into} {}
  accept_base(accept_base&& before_it_begins) noexcept = default;
  ~accept_base();

  /// The connection, once.
  [[nodiscard]] slot_key take_key() noexcept { return std::exchange(accepted_, {}); }

 private:
  step attempt(io_slot& on) noexcept final;
  step take_over(io_slot& on, int descriptor) noexcept;

  std::optional<color> into_;
  slot_key accepted_;
};

template <class Stream>
class accept_op : public accept_base {
 public:
  using value_type = Stream;
  accept_op(slot_key on, std::optional<color> into) noexcept : accept_base{on, into} {}
  [[nodiscard]] result<Stream> take() noexcept {
    if (error()) return error();
    return Stream{take_key()};
  }
};

void tell_of_shortages(slot_key of, std::function<void(std::error_code)>&& f);

/// What a listener can do.
template <class Stream>
class listener_of : public io_object {
 public:
  /// The next connection, in a color of its own, or in `c`. Retries what can be retried: connections that are gone before they are
  /// taken, 64 in a row; and beyond that, or when the process or the system has no more descriptors or memory, again after 100 ms or
  /// when an io_object of this runtime is closed. Files and what the program closes itself are not noticed. Whether the system can watch a connection is
  /// asked only when an operation waits on it, which then ends with the error (see byte_stream); with select at once: one that cannot be watched is closed, and
  /// the listener pauses as well.
  ///
  /// Errors: errc::closed, errc::canceled.
  [[nodiscard]] auto accept() noexcept { return io_awaitable<accept_op<Stream>>{std::in_place, key(), std::nullopt}; }
  [[nodiscard]] auto accept(tartan::color c) noexcept { return io_awaitable<accept_op<Stream>>{std::in_place, key(), c}; }
  template <completion_of<accept_op<Stream>> F>
  void accept(F&& f, std::source_location site = std::source_location::current()) {
    start_io<accept_op<Stream>>(std::forward<F>(f), site, key(), std::nullopt);
  }
  template <completion_of<accept_op<Stream>> F>
  void accept(tartan::color c, F&& f, std::source_location site = std::source_location::current()) {
    start_io<accept_op<Stream>>(std::forward<F>(f), site, key(), c);
  }

  /// Calls `f` with the error each time accept pauses because the process or the system has no more descriptors or
  /// memory: up to ten times a second while that lasts. Replaces the last such function; an empty one ends it. Does
  /// nothing on a closed listener.
  ///
  /// Color: called in the listener's; set in it, or while nothing runs.
  /// Lifetime: f is kept until the listener is closed; a call that was posted before may still come.
  /// Errors: std::bad_alloc. A call that lacks memory is left out.
  void on_shortage(std::function<void(std::error_code)> f,
                   std::source_location site = std::source_location::current()) {
    if (check(site)) tell_of_shortages(key(), std::move(f));
  }

 protected:
  listener_of() noexcept = default;
  explicit listener_of(slot_key key) noexcept : io_object{key} {}
};

/// What a connection goes over.
enum class transport : std::uint8_t { tcp, local };

/// How far a connection is.
enum class connect_state : std::uint8_t {
  made,
  begun,    ///< just now: how it has failed, if it has, an edge will tell
  awaited,  ///< since then an edge may have come
};

/// Waits for a connection that is being made.
class connect_base : public io_wait {
 public:
  [[nodiscard]] const char* name() const noexcept final { return "a connection to a server"; }

 protected:
  connect_base(slot_key on, connect_state at) noexcept : io_wait{on, flow::out}, at_{at} {}
  connect_base(connect_base&& before_it_begins) noexcept = default;
  ~connect_base() = default;

 private:
  step attempt(io_slot& on) noexcept final;

  connect_state at_;
};

/// A socket on which a connection was begun, in the running color; an error if not even that went well. Closed if nobody takes it.
class begun_connection {
 public:
  begun_connection(slot_key key, connect_state at) noexcept : key_{key}, at_{at} {}
  explicit begun_connection(std::error_code error) noexcept : error_{error} {}
  begun_connection(begun_connection&& other) noexcept : key_{other.take()}, error_{other.error_}, at_{other.at_} {}
  begun_connection& operator=(begun_connection&&) = delete;
  ~begun_connection();

  [[nodiscard]] slot_key key() const noexcept { return key_; }
  [[nodiscard]] std::error_code error() const noexcept { return error_; }
  [[nodiscard]] connect_state at() const noexcept { return at_; }
  [[nodiscard]] slot_key take() noexcept { return std::exchange(key_, {}); }

 private:
  slot_key key_;
  std::error_code error_;
  connect_state at_ = connect_state::made;
};
/// `from`: the local address; if empty, the system chooses.
[[nodiscard]] begun_connection begin_connection(transport over, const address& to, const address& from,
                                                std::source_location site) noexcept;

template <class Stream>
class connect_op : public connect_base {
 public:
  using value_type = Stream;
  explicit connect_op(begun_connection begun) noexcept
      : connect_base{begun.key(), begun.at()}, made_{begun.take()}, failed_{begun.error()} {}
  [[nodiscard]] result<Stream> take() noexcept {
    if (failed_) return failed_;
    if (error()) return error();
    return std::move(made_);
  }

 private:
  Stream made_;
  std::error_code failed_;
};

/// Connects, for so long at most, and calls back.
template <class Stream, class Limit, class F>
task<> connect_then_call(transport over, address to, address from, Limit limit, F f, std::source_location site) {
  refuse_task<F&, result<Stream>>();
  io_awaitable<connect_op<Stream>> connecting{std::in_place, begin_connection(over, to, from, site)};
  f(co_await with_timeout(limit, std::move(connecting)));
}

}  // namespace tartan::detail
