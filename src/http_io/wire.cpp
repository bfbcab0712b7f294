#include "http_io/wire.h"

#include <algorithm>
#include <array>
#include <span>
#include <system_error>
#include <tartan/core/runtime.h>
#include <tartan/time/with_timeout.h>
#include <utility>

#include "core/runtime_state.h"

namespace tartan::http::detail {

namespace {

constexpr std::size_t least_room_bytes = 512;
constexpr std::size_t most_read_bytes = std::size_t{64} * 1024;
constexpr std::size_t most_written_bytes = std::size_t{256} * 1024;
constexpr std::size_t most_parts = 64;
constexpr std::size_t most_dropped_bytes = std::size_t{1} << 20;

}  // namespace

wire::time_point wire::now() noexcept {
  return time_point{
      std::chrono::nanoseconds{tartan::detail::required_runtime("http", std::source_location::current()).now_ns()}};
}

wire::time_point wire::in(std::chrono::nanoseconds limit) noexcept {
  const time_point here = now();
  return limit < time_point::max() - here ? here + limit : time_point::max();
}

result<> wire::try_fill() {
  const std::span<std::byte> room = received_.prepare(least_room_bytes);
  const result<std::size_t> got = peer_.try_read_some(room.first(std::min(room.size(), most_read_bytes)));
  if (!got) return got.error();
  received_.commit(*got);
  return {};
}

task<result<>> wire::fill(time_point until) {
  for (;;) {
    const result<> got = try_fill();
    if (got || got.error() != std::errc::operation_would_block) co_return got;
    if (received_.empty()) received_.release_room();
    const result<> ready = co_await with_deadline(until, peer_.readable());
    if (!ready) co_return ready;
  }
}

task<result<>> wire::send(buf::chain all, std::chrono::nanoseconds limit) {
  std::array<std::span<const std::byte>, most_parts> parts;
  while (!all.empty()) {
    const std::size_t count = all.gather(parts, most_written_bytes);
    const std::span<const std::span<const std::byte>> some{parts.data(), count};
    result<std::size_t> went = peer_.try_write(some);
    if (!went && went.error() == std::errc::operation_would_block)
      went = co_await with_timeout(limit, peer_.write(some));
    if (!went) co_return went.error();
    all.drop(*went);
  }
  co_return result<>{};
}

task<> wire::linger(std::chrono::nanoseconds write_limit, std::chrono::nanoseconds limit) {
  const result<> told = co_await with_timeout(write_limit, peer_.shutdown_send());  // TLS may have bytes of the answer left
  const time_point until = in(limit);
  std::size_t dropped = received_.size();
  received_.drop(received_.size());
  while (told && dropped < most_dropped_bytes) {
    const result<> more = co_await fill(until);
    if (!more) break;
    dropped += received_.size();
    received_.drop(received_.size());
  }
  peer_.close();
}

task<> wire::leave(std::chrono::nanoseconds write_limit) {
  static_cast<void>(co_await with_timeout(write_limit, peer_.shutdown_send()));
  for (std::size_t dropped = 0; dropped < most_dropped_bytes && try_fill();) {
    dropped += received_.size();
    received_.drop(received_.size());
  }
  peer_.close();
}

}  // namespace tartan::http::detail
