#include <tartan/io/byte_stream.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "core/inline_budget.h"
#include "io/read_now.h"
#include "io/service.h"

namespace tartan {

namespace {

using detail::channel_kind;
using detail::flow;
using detail::io_slot;
using detail::io_system;

constexpr std::size_t most_parts = 64;

/// What a call that would have to wait gives.
std::error_code would_block() noexcept { return std::make_error_code(std::errc::operation_would_block); }

/// Whether a call in this direction may be made now: nobody waits who began before, and it may find something. Where the last one has found nothing there
/// is news to wait for only if somebody has waited before: who never does has to ask the system each time.
bool may_try(const io_slot& on, flow way) noexcept { return on.nobody_waits(way) && (on.may_try(way) || !on.is_told_of(way)); }

/// What is tried counts among the operations of an event that are done at once (contract 12). Gives whether there was one left.
bool take_inline() noexcept {
  std::uint32_t& left = detail::here_now()->inline_left;
  if (left == 0) return false;
  --left;
  return true;
}

bool is_block(ssize_t negative) noexcept { return negative == -EAGAIN || negative == -EWOULDBLOCK; }

/// Of no more parts than one call takes.
ssize_t write_parts(const io_slot& on, channel_kind kind, std::span<const std::span<const std::byte>> parts) noexcept {
  std::array<iovec, most_parts> vector;
  std::size_t count = 0;
  for (const std::span<const std::byte> part : parts) vector[count++] = {const_cast<std::byte*>(part.data()), part.size()};
  io_system& system = on.service().system();
  if (kind == channel_kind::file) return system.write(on.descriptor(), vector.data(), count);
  msghdr message{};
  message.msg_iov = vector.data();
  message.msg_iovlen = count;
  return system.send_message(on.descriptor(), message, 0);
}

/// What a write of so many bytes has come to.
result<std::size_t> end_write(io_slot& on, ssize_t wrote, std::size_t asked) noexcept {
  if (is_block(wrote)) {
    on.exhausted(flow::out);
    return would_block();
  }
  if (wrote < 0) return detail::system_error(static_cast<int>(wrote));
  const auto bytes = static_cast<std::size_t>(wrote);
  if (bytes == asked) on.not_exhausted(flow::out);
  if (bytes < asked && !on.hung_up()) on.exhausted(flow::out);
  detail::charge_inline(bytes);
  return bytes;
}

}  // namespace

io_slot* byte_stream::slot_to_try(std::source_location site) const noexcept {
  if (!is_open()) return nullptr;
  io_slot& on = *key().slot;
  const detail::thread_context* const context = detail::here_now();
  if (context == nullptr || !context->in_event) detail::outside_of_events(site);
  if (context->running != on.where() || context->owner != &on.service().runtime()) detail::wrong_color(on, context->running, site);
  return &on;
}

result<std::size_t> byte_stream::try_read_some(mutable_bytes into, std::source_location site) noexcept {
  io_slot* const on = slot_to_try(site);
  if (on == nullptr) return errc::closed;
  if (into.empty()) return std::size_t{0};
  if (!may_try(*on, flow::in)) return would_block();
  static_cast<void>(take_inline());  // if there was none left: who has waited for this may have had the last one
  const ssize_t got = detail::read_now(*on, kind_, into);
  if (got == static_cast<ssize_t>(into.size())) on->not_exhausted(flow::in);
  if (got > 0) [[likely]] return static_cast<std::size_t>(got);
  if (got == 0) return errc::end_of_stream;
  if (!is_block(got)) return detail::system_error(static_cast<int>(got));
  on->exhausted(flow::in);
  return would_block();
}

result<std::size_t> byte_stream::try_write(const_bytes all, std::source_location site) noexcept {
  const std::span<const std::byte> only = all;
  if (kind_ == channel_kind::file) return try_write(std::span{&only, 1}, site);
  io_slot* const on = slot_to_try(site);
  if (on == nullptr) return errc::closed;
  if (all.empty()) return std::size_t{0};
  if (!may_try(*on, flow::out) || !take_inline()) return would_block();
  ssize_t wrote = 0;
  do {
    wrote = on->service().system().send(on->descriptor(), all.data(), all.size());
  } while (wrote == -EINTR);
  return end_write(*on, wrote, all.size());
}

result<std::size_t> byte_stream::try_write(std::span<const std::span<const std::byte>> parts, std::source_location site) noexcept {
  io_slot* const on = slot_to_try(site);
  if (on == nullptr) return errc::closed;
  parts = parts.first(std::min(parts.size(), most_parts));  // a call that was asked for more would look short, as if there were no room
  std::size_t asked = 0;
  for (const std::span<const std::byte> part : parts) asked += part.size();
  if (asked == 0) return std::size_t{0};
  if (!may_try(*on, flow::out) || !take_inline()) return would_block();
  ssize_t wrote = 0;
  do {
    wrote = write_parts(*on, kind_, parts);
  } while (wrote == -EINTR);
  return end_write(*on, wrote, asked);
}

result<std::size_t> socket_stream::try_send_file(int file, std::int64_t offset, std::size_t bytes, const_bytes head,
                                                 file_place at,
                                                 std::source_location site) noexcept {
  io_slot* const on = slot_to_try(site);
  if (on == nullptr) return errc::closed;
  if (bytes == 0 && head.empty()) return std::size_t{0};
  const bool may = may_try(*on, flow::out) && take_inline();
  if (!may) return would_block();
  return detail::send_file_op{key(), file, offset, bytes, head, at == file_place::memory}.send_what_goes(*on);
}

detail::done_result socket_stream::shutdown_send(std::source_location site) noexcept {
  if (!check(site)) return errc::closed;
  const int error = key().slot->service().system().shut_down(native_handle(), SHUT_WR);
  if (error < 0) return detail::system_error(error);
  return result<>{};
}

result<> socket_stream::set_receive_buffer(int bytes) noexcept { return set_option(SOL_SOCKET, SO_RCVBUF, bytes); }
result<> socket_stream::set_send_buffer(int bytes) noexcept { return set_option(SOL_SOCKET, SO_SNDBUF, bytes); }

}  // namespace tartan
