// A call that moves less than it was asked for has found the end of what there is (trap: not so when the peer has finished, for the
// end of the stream itself then still lies behind), so the call that would only say so is saved: an echo's round trip is three
// system calls. One event moves a bounded number of bytes, so that a fast peer cannot keep a worker for itself.
#include <tartan/io/transfer.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "core/fatal.h"
#include "core/inline_budget.h"
#include "core/runtime_state.h"
#include "io/read_ahead.h"
#include "io/read_now.h"
#include "io/service.h"

namespace tartan::detail {

namespace {

/// Calls of one attempt, at most; and bytes.
constexpr int most_calls = 16;
constexpr std::size_t most_bytes = std::size_t{1} << 20;
constexpr std::size_t piece = 4096;
constexpr std::size_t most_parts = 64;
constexpr std::int64_t page_bytes = 4096;
constexpr std::uint64_t most_offset = std::numeric_limits<std::int64_t>::max();

bool is_socket(channel_kind kind) noexcept { return kind != channel_kind::file; }
bool is_block(ssize_t negative) noexcept { return negative == -EAGAIN || negative == -EWOULDBLOCK; }

}  // namespace

io_wait::step read_some_op::attempt(io_slot& on) noexcept {
  const ssize_t got = read_now(on, kind_, into_);
  if (got > 0) [[likely]] {
    got_ = static_cast<std::size_t>(got);
    return step::done;
  }
  if (is_block(got)) return step::would_block;
  if (got < 0) return fail(static_cast<int>(-got));
  return into_.empty() ? step::done : fail(make_error_code(errc::end_of_stream));
}

io_wait::step read_exactly_op::attempt(io_slot& on) noexcept {
  for (std::size_t moved = 0; got_ < into_.size();) {
    if (moved >= most_bytes) return step::goes_on;
    const std::span<std::byte> rest = into_.subspan(got_);
    const ssize_t got = read_now(on, kind_, rest.first(std::min(rest.size(), most_bytes)));
    if (is_block(got)) return step::would_block;
    if (got < 0) return fail(static_cast<int>(-got));
    if (got == 0) return fail(make_error_code(errc::end_of_stream));
    got_ += static_cast<std::size_t>(got);
    moved += static_cast<std::size_t>(got);
    if (got_ < into_.size() && !on.may_try(flow::in)) return step::would_block;
  }
  return step::done;
}

bool read_until_op::find() noexcept {
  // The delimiter may have begun in what was searched before.
  const std::size_t from = searched_ >= delimiter_.size() ? searched_ - delimiter_.size() + 1 : 0;
  const std::size_t at = into_->find(delimiter_, from);
  if (at == std::string::npos) searched_ = into_->size();
  if (at == std::string::npos || at + delimiter_.size() > most_) return false;
  length_ = at + delimiter_.size();
  return true;
}

io_wait::step read_until_op::attempt(io_slot& on) noexcept {
  for (int calls = 0;; ++calls) {
    if (find()) return step::done;
    const std::size_t size = into_->size();
    if (size >= most_) return fail(std::make_error_code(std::errc::message_size));
    if (calls == most_calls) return step::goes_on;
    std::array<char, piece> came;  // copied: a string cannot grow by bytes that it need not fill first
    const std::size_t room = std::min(came.size(), most_ - size);
    try {
      into_->reserve(size + room);
    } catch (const std::bad_alloc&) {
      return fail(ENOMEM);
    }
    const ssize_t got = read_now(on, kind_, std::as_writable_bytes(std::span{came}.first(room)));
    if (is_block(got)) return step::would_block;
    if (got < 0) return fail(static_cast<int>(-got));
    if (got == 0) return fail(make_error_code(errc::end_of_stream));
    into_->append(came.data(), static_cast<std::size_t>(got));
    if (!on.may_try(flow::in) && !find()) return into_->size() >= most_ ? fail(std::make_error_code(std::errc::message_size)) : step::would_block;
  }
}

void write_op::advance(std::size_t bytes) noexcept {
  done_ += bytes;
  charge_inline(bytes);
  while (bytes >= single_.size() && !parts_.empty()) {
    bytes -= single_.size();
    next_part();
  }
  single_ = single_.subspan(bytes);
}

bool write_op::complete_now() noexcept {
  while (single_.empty() && !parts_.empty()) next_part();
  return single_.empty();
}

write_op::call write_op::write_parts(io_slot& on) noexcept {
  io_system& system = on.service().system();
  std::array<iovec, most_parts> vector;
  vector[0] = {const_cast<std::byte*>(single_.data()), single_.size()};
  std::size_t asked = single_.size();
  std::size_t count = 1;
  for (; count <= parts_.size() && count < vector.size(); ++count) {
    const std::span<const std::byte> part = parts_[count - 1];
    vector[count] = {const_cast<std::byte*>(part.data()), part.size()};
    asked += part.size();
  }
  if (!is_socket(kind_)) return {system.write(on.descriptor(), vector.data(), count), asked};
  msghdr message{};
  message.msg_iov = vector.data();
  message.msg_iovlen = count;
  return {system.send_message(on.descriptor(), message, 0), asked};
}

inline write_op::call write_op::write_now(io_slot& on) noexcept {
  if (!is_socket(kind_) || !parts_.empty()) [[unlikely]] return write_parts(on);
  return {on.service().system().send(on.descriptor(), single_.data(), single_.size()), single_.size()};
}

io_wait::step write_op::go_on(io_slot& on, call last) noexcept {
  for (std::size_t moved = 0;; last = write_now(on)) {
    if (is_block(last.got)) return step::would_block;
    if (last.got < 0 && last.got != -EINTR) return fail(static_cast<int>(-last.got));
    if (last.got >= 0) {
      const auto got = static_cast<std::size_t>(last.got);
      advance(got);
      moved += got;
      // Short: the buffer is full, and the next call would only say so.
      if (is_socket(kind_) && got < last.asked && !on.hung_up()) return step::would_block;
    }
    if (complete_now()) return step::done;
    if (moved >= most_bytes) return step::goes_on;
  }
}

io_wait::step write_op::attempt(io_slot& on) noexcept {
  if (single_.empty() && complete_now()) [[unlikely]] return step::done;
  const call first = write_now(on);
  if (static_cast<std::size_t>(first.got) != first.asked || !parts_.empty()) [[unlikely]] return go_on(on, first);
  done_ += first.asked;  // all of it, as usual
  charge_inline(first.asked);
  return step::done;
}

bool send_file_op::may_wait_for_disk(io_slot& on) const noexcept {
  return !in_memory_ && on.service().system().is_kernel() && offset_ >= 0 && left_ <= most_offset - static_cast<std::uint64_t>(offset_);
}

/// Whether so many bytes are in the cache, as far as two of them tell: the first one of all, and the last of each piece. A file that
/// was not read for long has lost neighbors together.
bool send_file_op::is_there(std::size_t next, bool is_first) const noexcept {
  const auto bytes = static_cast<std::int64_t>(next);
  return (!is_first || bytes <= page_bytes || is_cached(file_, offset_)) && is_cached(file_, offset_ + bytes - 1);
}

bool send_file_op::is_ready(io_slot& on) noexcept {
  if (ahead_ != nullptr && !ahead_->is_done()) return false;
  const std::size_t next = std::min(left_, most_bytes);
  const bool is_first = std::exchange(ready_until_, offset_ + static_cast<std::int64_t>(next)) < 0;
  // What was read just now counts as there, so that there is an end. And when everything ends, who waits would be canceled.
  if (std::exchange(ahead_, nullptr) != nullptr || on.service().runtime().stopping()) return true;
  if (!is_there(next, is_first)) ahead_ = read_ahead::start(on, file_, offset_, next);
  return ahead_ == nullptr;
}

/// With MSG_MORE it waits in the system for the file's first bytes, to leave in one packet with them; but not for the disk.
ssize_t send_file_op::send_head(io_slot& on, int flags) noexcept {
  iovec part{const_cast<std::byte*>(head_.data()), std::min(head_.size(), most_bytes)};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return on.service().system().send_message(on.descriptor(), message, flags);
}

io_wait::step send_file_op::attempt(io_slot& on) noexcept {
  io_system& system = on.service().system();
  const bool of_disk = may_wait_for_disk(on);
  for (std::size_t moved = 0; left_ != 0 || !head_.empty();) {
    if (moved >= most_bytes) return step::goes_on;
    const bool waits = of_disk && left_ != 0 && (ahead_ != nullptr || offset_ >= ready_until_) && !is_ready(on);
    const bool of_head = !head_.empty();
    if (waits && !of_head) return step::elsewhere;
    const std::size_t most = of_disk ? static_cast<std::size_t>(ready_until_ - offset_) : most_bytes;
    const ssize_t got = of_head ? send_head(on, waits || left_ == 0 ? 0 : MSG_MORE) : system.send_file(on.descriptor(), file_, &offset_, std::min(left_, most));
    if (got == -EINTR) continue;
    if (is_block(got)) return step::would_block;
    if (got < 0) return fail(static_cast<int>(-got));
    if (got == 0) return fail(make_error_code(errc::end_of_stream));  // the file is shorter than that
    const auto sent = static_cast<std::size_t>(got);
    if (of_head) {
      head_ = head_.subspan(sent);
    } else {
      left_ -= sent;
    }
    done_ += sent;
    moved += sent;
    charge_inline(sent);
  }
  return step::done;
}

/// A piece, of which all is there: so the attempt does not ask for the disk.
result<std::size_t> send_file_op::send_what_goes(io_slot& on) noexcept {
  left_ = std::min(left_, most_bytes);
  if (left_ != 0 && may_wait_for_disk(on)) {
    if (!is_there(left_, true)) return std::make_error_code(std::errc::operation_would_block);
    ready_until_ = offset_ + static_cast<std::int64_t>(left_);
  }
  switch (attempt(on)) {
    case step::done:
      if (!failed()) on.not_exhausted(flow::out);
      break;
    case step::would_block: on.exhausted(flow::out); break;
    case step::goes_on: break;
    case step::elsewhere: fatal({"a file that is in the cache was to be read ahead"});
  }
  if (done_ != 0) return done_;
  if (failed()) return error();
  return std::make_error_code(std::errc::operation_would_block);
}

}  // namespace tartan::detail
