#pragma once
/// An RPC connection: calls in both directions over one stream or one datagram socket.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <system_error>
#include <tartan/buf/chain.h>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task.h>
#include <tartan/io/address.h>
#include <tartan/io/any_stream.h>
#include <tartan/io/udp.h>
#include <tartan/rpc/auth.h>
#include <tartan/rpc/call.h>
#include <tartan/rpc/error.h>
#include <tartan/rpc/programs.h>
#include <tartan/rpc/settings.h>
#include <tartan/xdr/codec.h>
#include <type_traits>
#include <utility>

namespace tartan::rpc {

/// Why a server refused a call, beyond the error code.
struct refusal {
  std::uint32_t low = 0;  ///< errc::program_mismatch, version_mismatch: the versions that there are
  std::uint32_t high = 0;
  auth_status status = auth_status::ok;  ///< errc::authentication
};

/// How one call is made. Pointers must be valid until the call has ended.
struct call_options {
  std::chrono::nanoseconds timeout{};  ///< 0: settings::call_timeout
  opaque_auth credentials;
  opaque_auth verifier;
  descriptors passed;                     ///< travel with the call; see settings::passes_descriptors
  address to;                             ///< of a datagram; empty: the peer that the socket is connected to
  refusal* why = nullptr;                 ///< filled in if the server refuses the call
  descriptors* returned = nullptr;        ///< gets those that come with the reply
  opaque_auth* reply_verifier = nullptr;  ///< gets the reply's
};

namespace detail {

class connection_state;
class connection_owner;
/// Calls f, in the connection's color, when it has ended and no coroutine of its procedures is left.
void when_gone(const connection& of, std::function<void()> f);

/// A call: encoded, then sent, then answered. Made by new_call().
struct prepared_call {
  prepared_call() = default;
  prepared_call(const prepared_call&) = delete;
  prepared_call& operator=(const prepared_call&) = delete;

  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::error_code error;  ///< why it cannot be encoded
  buf::chain arguments;
  call_options with;
  buf::chain result;  ///< once it is answered

 protected:
  ~prepared_call() = default;
};

[[nodiscard]] std::shared_ptr<prepared_call> new_call(call_options&& with);

template <class P>
concept procedure = requires {
  typename P::of;
  typename P::argument;
  typename P::result;
  { P::number } -> std::convertible_to<std::uint32_t>;
};

/// Sends the call and waits for the reply. Gives why there is no result.
[[nodiscard]] task<std::error_code> exchange(std::shared_ptr<connection_owner> over,
                                             std::shared_ptr<prepared_call> made);
[[nodiscard]] const settings& settings_of(const connection_owner& of) noexcept;
/// Whether the call may begin at once; then it has its place.
[[nodiscard]] bool take_place(connection_owner& of, prepared_call& made) noexcept;

template <class P, class... A>
std::shared_ptr<prepared_call> prepare(call_options&& with, const A&... arguments) {
  auto made = new_call(std::move(with));
  made->program = P::of::program;
  made->version = P::of::version;
  made->procedure = P::number;
  result<> encoded;
  ((encoded = encoded ? xdr::encode(made->arguments, arguments) : encoded), ...);
  made->error = encoded.error();
  return made;
}

template <class R>
task<result<R>> exchange_for(std::shared_ptr<connection_owner> over, std::shared_ptr<prepared_call> made) {
  const std::error_code failed = co_await exchange(over, made);
  if (failed) co_return failed;
  if constexpr (std::is_void_v<R>) {
    if (!made->result.empty()) co_return make_error_code(errc::bad_result);
    co_return result<>{};
  } else {
    result<R> value = xdr::decode<R>(made->result, settings_of(*over).decoding);
    if (!value) co_return make_error_code(errc::bad_result);
    co_return value;
  }
}

}  // namespace detail

/// Calls that go out and calls that come in, over one stream or datagram socket. A handle: copies mean the same connection.
///
///     auto peer = co_await tcp::connect(where);
///     rpc::connection c{*std::move(peer)};
///     const auto found = co_await KIOSK_V1::client{c}.kiosk_ask("bob");
///
/// Color: that of the stream; programs are served and the end handler runs there. Calls may be made in any color; results
/// arrive in the caller's.
/// Threads: any, within events.
/// Lifetime: the connection closes when the last handle is destroyed, or by close(). Calls in progress keep it open. Must
/// not outlive its runtime.
/// Errors: of a call: errc of rpc (the server refuses it, or the reply makes no sense), errc::disconnected if the connection
/// ends before the reply, tartan::errc::timed_out, canceled, busy (callbacks, settings::most_outstanding), and xdr::errc if
/// the arguments break the bounds of their types; then nothing was sent.
/// Limits: settings. Calls of the peer that may not begin yet are not read; while own calls are outstanding, as many as
/// settings::most_calls are, and beyond that the connection ends with errc::busy.
/// Order: calls are sent in the order in which they reach the connection's color; replies come in any order.
/// Cost: many calls and replies share one system call each way.
/// Source: RFC 5531.
class connection {
 public:
  /// None: every call ends with errc::disconnected.
  connection() noexcept = default;

  /// Begins to read. Within events; the runtime is that of the running event.
  explicit connection(any_stream over, settings with = {}, std::shared_ptr<const programs> serves = nullptr,
                      std::source_location site = std::source_location::current());
  /// Over datagrams: calls are sent again until a reply comes. The socket may be connected, or each call says where it goes.
  explicit connection(udp::socket over, settings with = {}, std::shared_ptr<const programs> serves = nullptr,
                      std::source_location site = std::source_location::current());

  /// Calls procedure P, a struct as tartan-xdr generates it, with its arguments. They are encoded before this returns.
  template <detail::procedure P, class... A>
  [[nodiscard]] task<tartan::result<typename P::result>> call(const A&... arguments) const {
    return call_with<P>({}, arguments...);
  }
  template <detail::procedure P, class... A>
  [[nodiscard]] task<tartan::result<typename P::result>> call_with(call_options with, const A&... arguments) const {
    return detail::exchange_for<typename P::result>(owner_, detail::prepare<P>(std::move(with), arguments...));
  }
  /// The same with a callback, which gets the result, later, in the connection's color, or in its own if bind made it.
  template <detail::procedure P, class F, class... A>
  void call_back(F&& done, call_options with, const A&... arguments) const {
    begin<typename P::result>(detail::prepare<P>(std::move(with), arguments...), std::forward<F>(done));
  }

  /// A call without types: the arguments and the result are XDR.
  [[nodiscard]] task<tartan::result<buf::chain>> call_raw(std::uint32_t program, std::uint32_t version,
                                                          std::uint32_t procedure, buf::chain arguments,
                                                          call_options with = {}) const;

  /// Waits until the connection has ended, and gives why: errc::disconnected if the peer has closed it, errc::closed after
  /// close(). By then every call has failed.
  [[nodiscard]] task<std::error_code> ended() const;
  /// Calls f(std::error_code) once, in the connection's color, when the connection has ended and every call has failed.
  void on_end(std::function<void(std::error_code)> f) const;

  /// Replaces the stream between two messages, as by a TLS handshake, once everything queued has been sent; what is called
  /// meanwhile is sent on the new one. To be used when the peer sends nothing that it was not asked for.
  ///
  /// Errors: what `how` gives; errc::malformed if bytes came that belong to the old stream. Then the connection ends.
  [[nodiscard]] task<tartan::result<>> replace_stream(stream_upgrade how) const;

  /// Reads no further call. The connection ends when those in progress are answered and the answers are sent.
  void drain() const;
  /// Ends it: what is queued is not sent, own calls end with errc::closed, and procedures' coroutines are asked to end. If
  /// the peer ends it, they go on: what has begun shall complete.
  void close() const;
  [[nodiscard]] color where() const noexcept;
  explicit operator bool() const noexcept { return owner_ != nullptr; }

 private:
  friend connection connection_of(const call_info& of);
  friend void detail::when_gone(const connection& of, std::function<void()> f);
  explicit connection(std::shared_ptr<detail::connection_owner> owner) noexcept : owner_{std::move(owner)} {}

  template <class R, class F>
  void begin(std::shared_ptr<detail::prepared_call> made, F&& done) const;

  std::shared_ptr<detail::connection_owner> owner_;
};

/// The connection that a call came on, for calls in the other direction: `co_await connection_of(info).call<P>(...)`. Empty if
/// no handle of it is left.
[[nodiscard]] connection connection_of(const call_info& of);

namespace detail {

template <class R, class F>
task<> exchange_and_call(std::shared_ptr<connection_owner> over, std::shared_ptr<prepared_call> made, bool may_begin,
                         F done) {
  result<R> got{tartan::errc::busy};
  if (may_begin) got = co_await exchange_for<R>(std::move(over), std::move(made));
  done(std::move(got));
}

}  // namespace detail

template <class R, class F>
void connection::begin(std::shared_ptr<detail::prepared_call> made, F&& done) const {
  const bool may_begin = owner_ == nullptr || detail::take_place(*owner_, *made);
  spawn_in(where(), &detail::exchange_and_call<R, std::decay_t<F>>, owner_, std::move(made), may_begin,
           std::forward<F>(done))
      .detach();
}

}  // namespace tartan::rpc
