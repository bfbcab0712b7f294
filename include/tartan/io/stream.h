#pragma once
/// The operations that all byte streams have: TCP, Unix sockets, simulated sockets, TLS, any_stream.

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <tartan/buf/chain.h>
#include <tartan/core/awaitable.h>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <type_traits>

namespace tartan {

namespace detail {

/// `co_await` of an A gives an R.
template <class A, class R>
concept awaits = awaitable<A> && std::same_as<std::remove_cvref_t<awaited_t<A>>, R>;

template <class S>
concept reads_bytes = requires(S& s, mutable_bytes into, std::string& text, buf::chain& chain, std::string_view delimiter, std::size_t most) {
  { s.read_some(into) } -> awaits<result<std::size_t>>;
  { s.read_exactly(into) } -> awaits<result<std::size_t>>;
  { s.read_until(text, delimiter, most) } -> awaits<result<std::size_t>>;
  { s.read_some(chain, most) } -> awaits<result<std::size_t>>;
  { s.read_line(chain, most) } -> awaits<result<buf::line>>;
  { s.read_until(chain, delimiter, most) } -> awaits<result<std::size_t>>;
  { s.readable() } -> awaits<result<>>;
  { s.try_read_some(into) } -> std::same_as<result<std::size_t>>;
};

template <class S>
concept writes_bytes = requires(S& s, const_bytes all, std::span<const std::span<const std::byte>> parts) {
  { s.write(all) } -> awaits<result<std::size_t>>;
  { s.write(parts) } -> awaits<result<std::size_t>>;
  { s.writable() } -> awaits<result<>>;
  { s.try_write(all) } -> std::same_as<result<std::size_t>>;
  { s.try_write(parts) } -> std::same_as<result<std::size_t>>;
  { s.shutdown_send() } -> awaits<result<>>;
};

}  // namespace detail

/// A stream of bytes in both directions: `template <stream_of_bytes S> task<> serve(S peer)` serves plain and TLS connections alike. byte_stream documents
/// the operations. Each can be awaited within with_timeout, and ends when its coroutine is canceled.
///
/// Operations of one kind of stream are not part of the concept: send_file and callbacks (sockets), the peer's certificate (TLS).
template <class S>
concept stream_of_bytes = detail::reads_bytes<S> && detail::writes_bytes<S> && requires(S& s, const S& fixed) {
  s.close();
  s.cancel();
  { fixed.is_open() } -> std::same_as<bool>;
  { fixed.color() } -> std::same_as<color>;
} && std::movable<S>;  // last: asking a class made from an any_stream whether it can be moved would ask this again

}  // namespace tartan
