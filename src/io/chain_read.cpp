// The chain's own room is read into, as much of it as there is: 512 bytes or more, usually a block of 4 KiB that is used again and
// again. Whoever expects much asks the chain for more room before.
#include <tartan/io/chain_read.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <optional>

#include "io/read_now.h"
#include "io/service.h"

namespace tartan::detail {

namespace {

/// Reads of one attempt, at most.
constexpr int most_calls = 16;

}  // namespace

io_wait::step chain_read_op::attempt(io_slot& on) noexcept {
  for (int calls = 0; !is_there(); ++calls) {
    const std::size_t wanted = may_read();
    if (wanted == 0) return fail(std::make_error_code(std::errc::message_size));
    if (calls != 0 && !on.may_try(flow::in)) return step::would_block;
    if (calls == most_calls) return step::goes_on;
    std::span<std::byte> room;
    try {
      room = into_->prepare(std::min(least_room_bytes, wanted));
    } catch (const std::bad_alloc&) {
      return fail(ENOMEM);
    }
    const ssize_t got = read_now(on, kind_, room.first(std::min(room.size(), wanted)));
    if (got == -EAGAIN || got == -EWOULDBLOCK) return step::would_block;
    if (got < 0) return fail(static_cast<int>(-got));
    if (got == 0) return fail(make_error_code(errc::end_of_stream));
    into_->commit(static_cast<std::size_t>(got));
    got_ += static_cast<std::size_t>(got);
  }
  return step::done;
}

bool chain_read_line_op::is_there() noexcept {
  const std::optional<buf::line> found = into().find_line(most());
  if (found) found_ = *found;
  return found.has_value();
}

bool chain_read_until_op::is_there() noexcept {
  // It may have begun in what was searched before.
  const std::size_t from = searched_ >= delimiter_.size() ? searched_ - delimiter_.size() + 1 : 0;
  const std::optional<std::size_t> at = into().find(delimiter_, from);
  if (!at) searched_ = into().size();
  if (!at || *at + delimiter_.size() > most()) return false;
  length_ = *at + delimiter_.size();
  return true;
}

}  // namespace tartan::detail
