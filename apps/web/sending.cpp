// What is said of a page is in the text; behind it comes the page's body: copied, if it is short; by the kernel, from where that has it; or
// from the disk, read when there is room for it.
#include "web/sending.h"

#include <tartan/core/await_blocking.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/one_line.h"
#include "web/file_part.h"
#include "web/site.h"

namespace web {

namespace {

using phase = conversation::phase;
constexpr std::size_t sent_unasked = 8 * 1024;  // bytes of responses that the kernel surely takes at once
constexpr std::size_t piece = conversation::piece;

/// How far what was to be sent has come.
enum class progress : std::uint8_t {
  all,
  no_room,   ///< the peer has to read first
  no_bytes,  ///< the disk has to be read first
  no_file,   ///< it cannot be read, or is not as it was promised
  failed,    ///< the peer is gone
};

/// Whether what comes behind the text is to be sent by the kernel, which then sends both together.
bool is_for_kernel(const channel& on, const outgoing& what) noexcept {
  if (what.kept == nullptr || what.parts.size() != 1 || !on.sends_files()) return false;
  return what.kept->body.is_sendable() && what.parts.front().size >= page_body::least_sent;
}

/// Whether what comes behind the text is read from the disk, in one part.
bool is_from_disk(const outgoing& what) noexcept { return what.large != nullptr && what.parts.size() == 1; }

/// What was read of the part's beginning, with what is to be sent before it: as much as goes at once.
progress send_copied(channel& on, std::span<const char> bytes, file_part& part, std::string& before) {
  const tartan::result<std::size_t> sent = on.try_write(std::as_bytes(std::span{before}), std::as_bytes(bytes));
  if (!sent) return sent.error() == std::errc::operation_would_block ? progress::no_room : progress::failed;
  const std::size_t of_before = std::min(*sent, before.size());
  const std::size_t of_part = *sent - of_before;
  before.erase(0, of_before);
  part.advance(of_part);
  return before.empty() && of_part == bytes.size() ? progress::all : progress::no_room;
}

/// As much of a file as goes at once; try_write tells when that is enough for an event.
progress send_at_hand(conversation& to, file_part& part, std::string& before) {
  while (!part.is_over()) {
    std::array<char, worker_store::most_of_file>& store = to.site->stores.local().of_file;
    const std::span<char> room = std::span{store}.first(to.peer.most_at_once(store.size()));
    const tartan::result<std::size_t> got = part.read_at_hand(room);
    if (!got) return got.error() == std::errc::operation_would_block ? progress::no_bytes : progress::no_file;
    const progress so_far = send_copied(to.peer, room.first(*got), part, before);
    if (so_far != progress::all) return so_far;
  }
  return progress::all;
}

/// As much of the text and the part behind it as goes at once, of one piece. What is left is for send_by_kernel; or for send_parts, if that is
/// little of a page. So is what has failed: they meet it, too.
bool send_by_kernel_now(channel& on, outgoing& what) {
  http::byte_range& part = what.parts.front();
  const std::size_t most = std::min<std::uint64_t>(piece, part.size);
  const tartan::result<std::size_t> went = on.socket().try_send_file(what.kept->body.descriptor(), static_cast<std::int64_t>(part.first), most, what.text,
                                                                     tartan::tcp::stream::file_place::memory);
  const std::size_t of_text = std::min(went ? *went : 0, what.text.size());
  const std::size_t of_part = (went ? *went : 0) - of_text;
  part = {part.first + of_part, part.size - of_part};
  what.text.erase(0, of_text);
  if (!what.text.empty() || part.size != 0) return false;
  what.kept = nullptr;
  return true;
}

/// The same of a file; what is left, or has failed, is for send_from_disk.
bool send_from_disk_now(conversation& to, outgoing& what) {
  file_part part{what.large, what.parts.front()};
  const progress so_far = send_at_hand(to, part, what.text);
  what.parts.front() = part.rest();
  if (so_far != progress::all) return false;
  what.large = nullptr;
  return !to.peer.holds_back();
}

/// In pieces, for each of which the write timeout counts. Gives false if the peer is gone.
tartan::task<bool> send_text(conversation& to, std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    to.enter(phase::sending);
    const tartan::result<> went = co_await to.peer.write(text.substr(0, piece));
    if (!went) co_return false;
    to.now = to.site->runtime.now();  // much later, if the peer is slow
  }
  co_return true;
}

/// What the channel has taken, and not sent: then the peer has it.
tartan::task<bool> send_held_back(conversation& to) {
  to.enter(phase::sending);
  const tartan::result<> went = co_await to.peer.writable();
  to.now = to.site->runtime.now();
  co_return went.has_value();
}

/// Sends the text and the one part behind it, without copying that through this program: from where the kernel has the page. A slow reader
/// costs no buffer for that, but a copy of the text.
tartan::task<bool> send_by_kernel(conversation& to, outgoing& what) {
  const shared_page page = std::move(what.kept);
  std::string head = what.text;
  what.leave_buffer(to.site->stores.local());
  for (http::byte_range rest = what.parts.front(); rest.size != 0;) {
    const std::uint64_t next = std::min<std::uint64_t>(piece, rest.size);
    to.enter(phase::sending);
    const tartan::result<std::size_t> sent = co_await to.peer.socket().send_file(page->body.descriptor(), static_cast<std::int64_t>(rest.first), next, head,
                                                                                 tartan::tcp::stream::file_place::memory);
    if (!sent) co_return false;
    to.now = to.site->runtime.now();
    std::string{}.swap(head);  // the rest may take long
    rest = {rest.first + next, rest.size - next};
  }
  co_return true;
}

/// Ends a file that is no more as it was promised: gives nothing, but throws, for the operator: the log of accesses, whose line was
/// written before, shows no failure. The client keeps the answers before, which a reset would take from it.
tartan::task<bool> give_up(conversation& to, const file_part& part) {
  to.now = to.site->runtime.now();  // the disk may have taken long
  if (to.peer.holds_back()) static_cast<void>(co_await send_held_back(to));
  co_await to.linger(conversation::most_lingering);
  throw std::runtime_error{tartan::apps::one_line(part.name()) + " was written to while it was sent, or cannot be read"};
}

/// The next bytes, which the disk has to be asked for.
tartan::task<progress> send_after_wait(conversation& to, file_part& part, std::string& before) {
  if (!before.empty()) {  // it need not wait, too
    const bool went = co_await send_text(to, before);
    if (!went) co_return progress::failed;
    std::string{}.swap(before);
  }
  const conversation::interruption write = to.begin_disk();
  const std::size_t most = to.peer.most_at_once(worker_store::most_of_file);
  // No buffer while it waits for a thread.
  const std::optional<std::string> got = co_await tartan::blocking([&part, most]() -> std::optional<std::string> {
    std::string room;
    if (!part.read(room, most)) return std::nullopt;
    return room;
  });
  if (!got) co_return progress::no_file;
  to.end_disk(write);
  co_return send_copied(to.peer, *got, part, before);
}

/// Sends a part of a file, with what is to be sent before it.
///
/// It is read when there is room for it, and what finds none is read again: so a slow reader costs no buffer. The time that the disk takes is
/// not the client's.
tartan::task<bool> send_from_disk(conversation& to, file_part part, std::string before) {
  to.enter(phase::sending);
  for (std::uint64_t timed = part.rest().size;;) {
    const tartan::result<> ready = co_await to.peer.writable();
    if (!ready) co_return false;
    to.now = to.site->runtime.now();
    progress so_far = send_at_hand(to, part, before);
    if (so_far == progress::no_bytes) so_far = co_await send_after_wait(to, part, before);
    if (so_far == progress::failed) co_return false;
    if (so_far == progress::no_file) {
      const bool went = co_await send_text(to, before);
      if (!went) co_return false;
      co_return co_await give_up(to, part);
    }
    if (part.is_over() && before.empty()) co_return true;
    if (timed - part.rest().size < piece) continue;
    timed = part.rest().size;
    to.enter(phase::sending);
  }
}

/// Sends parts of a page or a file, with what stands around them.
tartan::task<bool> send_parts(conversation& to, outgoing& what) {
  const large_file sent = std::move(what.large);
  const shared_page page = std::move(what.kept);
  for (std::size_t n = 0; n < what.parts.size(); ++n) {
    const bool is_framed = co_await send_text(to, what.frame[n]);
    if (!is_framed) co_return false;
    const http::byte_range part = what.parts[n];
    bool went = false;
    if (page != nullptr) {
      went = co_await send_text(to, page->body.text().substr(part.first, part.size));
    } else {
      went = co_await send_from_disk(to, file_part{sent, part}, {});
    }
    if (!went) co_return false;
  }
  co_return co_await send_text(to, what.frame.back());
}

/// All that is left, but for what the channel holds back.
tartan::task<bool> hand_over(conversation& to, outgoing& what) {
  if (is_for_kernel(to.peer, what)) co_return co_await send_by_kernel(to, what);
  if (is_from_disk(what)) {
    std::string before = what.text;
    what.leave_buffer(to.site->stores.local());
    file_part part{std::move(what.large), what.parts.front()};
    co_return co_await send_from_disk(to, std::move(part), std::move(before));
  }
  if (!what.text.empty()) {
    const bool went = co_await send_text(to, what.text);
    if (!went) co_return false;
    what.text.clear();
  }
  if (!what.has_more()) co_return true;
  what.leave_buffer(to.site->stores.local());  // that may take long
  co_return co_await send_parts(to, what);
}

}  // namespace

bool send_now(conversation& to, outgoing& what) {
  std::string& text = what.text;
  to.sent += text.size() + what.bytes_behind();
  if (to.sent > sent_unasked || what.large != nullptr) to.lingers = true;  // the disk may take its time
  if (text.empty()) return !what.has_more();
  to.begin_write();
  if (is_for_kernel(to.peer, what)) return send_by_kernel_now(to.peer, what);
  if (is_from_disk(what)) return send_from_disk_now(to, what);
  const std::string_view page = what.take_first_piece(to.peer.most_at_once(piece));
  const tartan::result<std::size_t> sent = to.peer.try_write(std::as_bytes(std::span{text}), std::as_bytes(std::span{page}));
  const std::size_t taken = sent ? *sent : 0;
  if (taken < text.size() + page.size()) {
    const std::size_t of_text = std::min(taken, text.size());
    what.untake(page.size() - (taken - of_text));
    text.erase(0, of_text);
    return false;
  }
  text.clear();
  if (what.kept != nullptr && what.bytes_behind() == 0) what.kept = nullptr;
  return !what.has_more() && !to.peer.holds_back();
}

tartan::task<bool> send_rest(conversation& to, outgoing& what) {
  const bool went = co_await hand_over(to, what);
  if (!went) co_return false;
  if (to.peer.holds_back()) co_return co_await send_held_back(to);
  co_return true;
}

}  // namespace web
