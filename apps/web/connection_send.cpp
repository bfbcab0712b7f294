// How responses leave. What is said of a page is in out; behind it comes the page's body: copied, if it is short; by the kernel, from where that has it; or
// from the disk, read when there is room for it.
#include "web/connection.h"

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

namespace web {

namespace {

constexpr std::size_t sent_unasked = 8 * 1024;   // bytes of responses that the kernel surely takes at once
constexpr std::size_t piece = 256 * 1024;        // of a page or a file, for which the write timeout counts
constexpr std::size_t sealed_piece = 16 * 1024;  // of a file, while TLS seals it

}  // namespace

/// Writes what has been said, and the page or the file behind it, as far as that needs no waiting: in the usual case all of it. Gives whether all was.
bool connection::send_now() {
  std::string& out = exchange_->out;
  sent_ += out.size() + bytes_behind();
  if (sent_ > sent_unasked || exchange_->large != nullptr) lingers_ = true;  // the disk may take its time
  if (tls_ != nullptr) return out.empty() && !has_more_to_send();
  if (out.empty()) return !has_more_to_send();
  phase_ = phase::sending;
  waits_since_ = now_;
  if (is_for_kernel()) return send_by_kernel_now();
  if (is_from_disk()) return send_from_disk_now();
  const std::string_view page = take_first_piece();
  const std::array<std::span<const std::byte>, 2> both{std::as_bytes(std::span{out}), std::as_bytes(std::span{page})};
  const tartan::result<std::size_t> sent = page.empty() ? peer_.try_write(both[0]) : peer_.try_write(both);  // of one part, send() is enough
  const std::size_t taken = sent ? *sent : 0;
  if (taken < out.size() + page.size()) {
    const std::size_t of_out = std::min(taken, out.size());
    untake(page.size() - (taken - of_out));
    out.erase(0, of_out);
    return false;
  }
  out.clear();
  if (exchange_->kept != nullptr && bytes_behind() == 0) exchange_->kept = nullptr;
  return !has_more_to_send();
}

/// As much of out and the part behind it as goes at once, of one piece. What is left is for send_by_kernel; or for send_more, if that is little of a page.
/// So is what has failed: they meet it, too.
bool connection::send_by_kernel_now() {
  std::string& out = exchange_->out;
  http::byte_range& part = exchange_->parts.front();
  const std::size_t most = std::min<std::uint64_t>(piece, part.size);
  const tartan::result<std::size_t> went = peer_.try_send_file(exchange_->kept->body.descriptor(), static_cast<std::int64_t>(part.first), most, out,
                                                               tartan::tcp::stream::file_place::memory);
  const std::size_t of_out = std::min(went ? *went : 0, out.size());
  const std::size_t of_part = (went ? *went : 0) - of_out;
  part = {part.first + of_part, part.size - of_part};
  out.erase(0, of_out);
  if (!out.empty() || part.size != 0) return false;
  exchange_->kept = nullptr;
  return true;
}

/// The same of a file; what is left, or has failed, is for send_from_disk.
bool connection::send_from_disk_now() {
  file_part part{exchange_->large, exchange_->parts.front()};
  const progress so_far = send_at_hand(part, exchange_->out);
  exchange_->parts.front() = part.rest();
  if (so_far != progress::all) return false;
  exchange_->large = nullptr;
  return true;
}

/// Whether what comes behind out is to be sent by the kernel, which then sends both together.
bool connection::is_for_kernel() const noexcept {
  if (tls_ != nullptr || exchange_->kept == nullptr || exchange_->parts.size() != 1) return false;
  return exchange_->kept->body.is_sendable() && exchange_->parts.front().size >= page_body::least_sent;
}

/// Whether what comes behind out is read from the disk, in one part, and sent as it is.
bool connection::is_from_disk() const noexcept { return tls_ == nullptr && exchange_->large != nullptr && exchange_->parts.size() == 1; }

/// What send_now has left.
tartan::task<bool> connection::send_rest() {
  if (is_for_kernel()) co_return co_await send_by_kernel();
  if (is_from_disk()) {
    std::string before = exchange_->out;
    exchange_->out.clear();
    leave_buffer();
    co_return co_await send_from_disk(file_part{std::move(exchange_->large), exchange_->parts.front()}, std::move(before));
  }
  if (!exchange_->out.empty()) {
    const bool went = co_await send_text(exchange_->out);
    if (!went) co_return false;
    exchange_->out.clear();
  }
  if (!has_more_to_send()) co_return true;
  leave_buffer();  // that may take long
  co_return co_await send_more();
}

/// Of pages and files, with what stands around their parts.
std::uint64_t connection::bytes_behind() const noexcept {
  std::uint64_t bytes = 0;
  if (!has_more_to_send()) return bytes;
  for (const std::string& each : exchange_->frame) bytes += each.size();
  for (const http::byte_range& each : exchange_->parts) bytes += each.size;
  return bytes;
}

/// Of a page in memory of which one part comes behind out: what leaves with that. The rest stays for send_more.
std::string_view connection::take_first_piece() noexcept {
  if (exchange_->kept == nullptr || exchange_->parts.size() != 1) return {};
  http::byte_range& part = exchange_->parts.front();
  const std::string_view first = exchange_->kept->body.text().substr(part.first, std::min<std::uint64_t>(piece, part.size));
  part = {part.first + first.size(), part.size - first.size()};
  return first;
}

/// So much of it was not sent.
void connection::untake(std::size_t bytes) noexcept {
  if (bytes == 0) return;
  http::byte_range& part = exchange_->parts.front();
  part = {part.first - bytes, part.size + bytes};
}

/// Sends parts of a page or a file, with what stands around them.
tartan::task<bool> connection::send_more() {
  const large_file sent = std::move(exchange_->large);
  const shared_page page = std::move(exchange_->kept);
  for (std::size_t n = 0; n < exchange_->parts.size(); ++n) {
    const bool is_framed = co_await send_text(exchange_->frame[n]);
    if (!is_framed) co_return false;
    const http::byte_range part = exchange_->parts[n];
    bool went = false;
    if (page != nullptr) {
      went = co_await send_text(page->body.text().substr(part.first, part.size));
    } else if (tls_ != nullptr) {
      went = co_await send_sealed(file_part{sent, part});
    } else {
      went = co_await send_from_disk(file_part{sent, part}, {});
    }
    if (!went) co_return false;
  }
  co_return co_await send_text(exchange_->frame.back());
}

/// Sends out and the one part behind it, without copying that through this program: from where the kernel has the page. Whoever reads slowly keeps no
/// buffer for that, but a copy of out.
tartan::task<bool> connection::send_by_kernel() {
  const shared_page page = std::move(exchange_->kept);
  std::string head = exchange_->out;
  exchange_->out.clear();
  leave_buffer();
  for (http::byte_range rest = exchange_->parts.front(); rest.size != 0;) {
    const std::uint64_t next = std::min<std::uint64_t>(piece, rest.size);
    enter(phase::sending);
    const tartan::result<std::size_t> sent =
        co_await peer_.send_file(page->body.descriptor(), static_cast<std::int64_t>(rest.first), next, head, tartan::tcp::stream::file_place::memory);
    if (!sent) co_return false;
    now_ = site_->runtime.now();
    std::string{}.swap(head);  // the rest may take long
    rest = {rest.first + next, rest.size - next};
  }
  co_return true;
}

/// Sends a part of a file, with what is to be sent before it. A file that is no more as it was promised ends the connection: the length was told.
///
/// It is read when there is room for it, and what finds none is read again: so whoever reads slowly keeps no buffer. The time that the disk takes is not the
/// client's.
tartan::task<bool> connection::send_from_disk(file_part part, std::string before) {
  enter(phase::sending);
  for (std::uint64_t timed = part.rest().size;;) {
    const tartan::result<> ready = co_await peer_.writable();
    if (!ready) co_return false;
    now_ = site_->runtime.now();
    progress so_far = send_at_hand(part, before);
    if (so_far == progress::no_bytes) so_far = co_await send_after_wait(part, before);
    if (so_far == progress::failed) co_return false;
    if (so_far == progress::no_file) {
      const bool went = co_await send_text(before);
      if (!went) co_return false;
      co_return co_await give_up(part);
    }
    if (part.is_over() && before.empty()) co_return true;
    if (timed - part.rest().size < piece) continue;
    timed = part.rest().size;
    enter(phase::sending);
  }
}

/// A file that is no more as it was promised. Never gives anything, but throws, for the operator: in the log of accesses, whose line was written before, all
/// is well. The client keeps the answers before, which a reset would take from it.
tartan::task<bool> connection::give_up(const file_part& part) {
  now_ = site_->runtime.now();  // the disk may have taken long
  co_await linger(most_lingering);
  throw std::runtime_error{tartan::apps::one_line(part.name()) + " was written to while it was sent, or cannot be read"};
}

/// The next bytes, which the disk has to be asked for.
tartan::task<connection::progress> connection::send_after_wait(file_part& part, std::string& before) {
  if (!before.empty()) {  // it need not wait, too
    const bool went = co_await send_text(before);
    if (!went) co_return progress::failed;
    std::string{}.swap(before);
  }
  const time began = now_;
  const phase was = phase_;
  const time waits_since = waits_since_;
  const time deadline = deadline_;
  enter(phase::file);
  // No buffer while it waits for a thread.
  const std::optional<std::string> got = co_await tartan::blocking([&part]() -> std::optional<std::string> {
    std::string room;
    if (!part.read(room, worker_store::most_of_file)) return std::nullopt;
    return room;
  });
  if (!got) co_return progress::no_file;
  now_ = site_->runtime.now();
  phase_ = was;
  waits_since_ = waits_since + (now_ - began);
  deadline_ = deadline + (now_ - began);
  watch();
  co_return send_copied(*got, part, before);
}

/// As much as goes at once; try_write tells when that is enough for an event.
connection::progress connection::send_at_hand(file_part& part, std::string& before) {
  while (!part.is_over()) {
    const std::span<char> room{site_->stores.local().of_file};
    const tartan::result<std::size_t> got = part.read_at_hand(room);
    if (!got) return got.error() == std::errc::operation_would_block ? progress::no_bytes : progress::no_file;
    const progress so_far = send_copied(room.first(*got), part, before);
    if (so_far != progress::all) return so_far;
  }
  return progress::all;
}

/// What was read of the part's beginning, with what is to be sent before it: as much as goes at once.
connection::progress connection::send_copied(std::span<const char> bytes, file_part& part, std::string& before) {
  const std::array<std::span<const std::byte>, 2> both{std::as_bytes(std::span{before}), std::as_bytes(bytes)};
  const tartan::result<std::size_t> sent = before.empty() ? peer_.try_write(both[1]) : peer_.try_write(both);  // of one part, send() is enough
  if (!sent) return sent.error() == std::errc::operation_would_block ? progress::no_room : progress::failed;
  const std::size_t of_before = std::min(*sent, before.size());
  const std::size_t of_part = *sent - of_before;
  before.erase(0, of_before);
  part.advance(of_part);
  return before.empty() && of_part == bytes.size() ? progress::all : progress::no_room;
}

tartan::task<bool> connection::send_sealed(file_part part) {
  while (!part.is_over()) {
    std::string text(std::min<std::uint64_t>(sealed_piece, part.rest().size), '\0');
    const tartan::result<std::size_t> at_hand = part.read_at_hand(text);
    if (at_hand) {
      text.resize(*at_hand);
    } else {
      enter(phase::file);
      const bool is_read = co_await tartan::blocking([&] { return part.read(text, sealed_piece); });
      if (!is_read) co_return co_await give_up(part);
      now_ = site_->runtime.now();
    }
    enter(phase::sending);
    const tartan::result<> sent = co_await tls_->write(text);
    if (!sent) co_return false;
    now_ = site_->runtime.now();
    part.advance(text.size());
  }
  co_return true;
}

/// In pieces, for each of which the write timeout counts. Gives false if the peer is gone.
tartan::task<bool> connection::send_text(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    enter(phase::sending);
    bool went = false;
    if (tls_ != nullptr) {
      const tartan::result<> sent = co_await tls_->write(text.substr(0, piece));
      went = sent.has_value();
    } else {
      const tartan::result<std::size_t> sent = co_await peer_.write(text.substr(0, piece));
      went = sent.has_value();
    }
    if (!went) co_return false;
    now_ = site_->runtime.now();  // much later, if the peer is slow
  }
  co_return true;
}

}  // namespace web
