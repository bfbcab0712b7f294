// The life of a request: bytes are read into in_, the parser finds its head, the path is looked up in the worker's cache, the response is
// appended to out_. When no complete request is left, out_ is written and the next read begins: in the usual case two system calls
// and not one allocation. What is not in the cache comes from the library, and is then answered in the same way.
//
// Timeouts: each wait has a deadline, and one timer looks from time to time whether it has passed. A request moves the deadline,
// which is a store; it does not touch the timer. tartan::with_timeout around each read and write is the simple way, and the right one for
// most programs. Here, where a request costs a read and a write and little else, it would cost about half as many instructions again
// (callgrind).
//
// Buffers: a head is parsed in one piece, and buf::chain's slices may end anywhere in it; so what is read goes into one piece of memory
// (read_buffer). Most responses are short: copied into one string, many leave with one write, and need no slice each. What is longer is sent
// behind them from the page that all share, or by the kernel from the disk: so nobody who reads slowly keeps a copy. A server that hands
// bodies on, or writes more than its peers read, wants buf::chain and its marks.
#include "connection.h"

#include <tartan/core/await_blocking.h>
#include <tartan/core/hints.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace web {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t sent_unasked = 8 * 1024;    // bytes of responses that the kernel surely takes at once
constexpr std::size_t most_kept = 32 * 1024;      // of the one that a worker keeps: few need as much
constexpr std::size_t piece = 256 * 1024;         // of a page or a file, for which the write timeout counts
constexpr std::size_t sealed_piece = 16 * 1024;   // of a file, while TLS seals it
constexpr auto linger_for = 2s;                   // while the peer sends nothing
constexpr auto most_lingering = 30s;
constexpr auto idle_in_a_crowd = 1s;              // then who waits for a place may have this one
constexpr auto slow_in_a_crowd = 10s;             // for the rest of a head or a body, or for taking a piece of a response
constexpr auto quick = 100ms;                     // for the end, when another one waits for the place
constexpr auto hurry = 1s;                        // instead, once the server is to end; also for a head that has begun

}  // namespace

connection::connection(std::shared_ptr<site> of, tartan::tcp::stream peer, std::shared_ptr<const tls_certificates> certificates)
    : site_{std::move(of)}, color_{peer.color()}, peer_{std::move(peer)},
      tls_{certificates != nullptr ? std::make_unique<tls_stream>(std::move(certificates), peer_) : nullptr},
      parser_{site_->settings.requests}, body_{site_->settings.requests.body}, timer_{site_->runtime, color_} {}

tartan::task<> connection::run() {
  begun_ = now_ = site_->runtime.now();
  bool may_begin = true;
  if (tls_ != nullptr) may_begin = co_await begin_tls();
  if (!may_begin) co_return co_await linger(hurry);  // who speaks no TLS understands no answer
  for (;;) {
    const stop next = answer();
    if (next == stop::library) co_await fetch();
    if (!log_.empty()) site_->log->add(std::exchange(log_, {}));
    if (next == stop::library && !has_more_to_send()) continue;
    sent_ += out_.size() + bytes_behind();
    if (sent_ > sent_unasked) lingers_ = true;
    if (tls_ != nullptr) {
      const bool sent = co_await send_text(out_);
      if (!sent) co_return leave_buffer();
    } else if (!out_.empty()) {  // send_text, without a frame of its own, and with the page behind it
      const std::string_view page = take_first_piece();
      const std::array<std::span<const std::byte>, 2> both{std::as_bytes(std::span{out_}), std::as_bytes(std::span{page})};
      enter(phase::sending);
      if (!co_await peer_.write(std::span{both}.first(page.empty() ? 1 : 2))) co_return leave_buffer();  // of one part, send() is enough
      now_ = site_->runtime.now();  // much later, if the peer is slow
      if (kept_ != nullptr && bytes_behind() == 0) kept_ = nullptr;
    }
    out_.clear();
    if (has_more_to_send()) {
      leave_buffer();  // that may take long
      if (!co_await send_more()) co_return;
    }
    if (next == stop::end && may_close_at_once()) co_return leave_buffer();
    if (next_site_ != nullptr && held_.empty()) site_ = std::move(next_site_);
    if (ending_ || (draining_ && next == stop::input && !parser_.has_begun() && held_.empty())) break;
    if (next != stop::input) continue;
    wait_for_input();
    const std::span<std::byte> room = in_.room();
    tartan::result<std::size_t> got{std::size_t{0}};
    if (tls_ != nullptr) {
      got = co_await tls_->read_some(room);
    } else {
      got = co_await peer_.read_some(room);
    }
    now_ = site_->runtime.now();
    if (got) {
      in_.add(*got);
      waited_ = false;
      unread_ = *got == room.size();  // there may be more
    } else if (tls_ != nullptr && got.error() == tartan::errc::end_of_stream) {
      break;  // it has finished, and is told the same
    } else if (got.error() != tartan::errc::canceled) {
      co_return;  // the peer has finished, or is gone
    } else if (timed_out_ && phase_ != phase::idle) {
      refuse(status::request_timeout);
    } else {
      break;  // its time is up, or the server's
    }
  }
  leave_buffer();
  if (tls_ != nullptr) {
    enter(phase::parting);
    static_cast<void>(co_await tls_->finish());
  }
  co_await linger(most_lingering);  // until the peer has finished, too
}

/// Whoever has said that this was its last request may send nothing after it (RFC 9112, 9.6): nothing that closing would answer with a
/// reset. But some send a line end all the same, or a body whose length they do not tell, so this is for GET and HEAD; and for responses that
/// are there at once, and fit what a connection sends unasked: else there would be time for bytes to come, or the kernel would keep for long
/// what a slow client does not read. A server that ends has nobody who sends the rest, if it is the only process of its network.
bool connection::may_close_at_once() const noexcept {
  return asked_for_end_ && !lingers_ && !unread_ && !waited_ && !draining_ && tls_ == nullptr && body_.is_complete() && in_.empty();
}

/// The handshake has the time of a head.
tartan::task<bool> connection::begin_tls() {
  enter(phase::head);
  const tartan::result<> begun = co_await tls_->handshake();
  now_ = site_->runtime.now();
  co_return begun.has_value();
}

void connection::drain() noexcept {
  draining_ = true;
  if (phase_ == phase::file || phase_ == phase::sending || phase_ == phase::parting || phase_ == phase::body) return;
  // Where what is canceled has just ended, the next wait of the same operation may begin: it has no longer than that, either.
  deadline_ = std::min(deadline_, site_->runtime.now() + hurry);
  watch();
  if (phase_ == phase::idle) peer_.cancel();  // all that was asked is answered
}

/// A connection that has no place waits as long as this one; so this one goes if its client has taken long already.
connection::leave_offer connection::offer() const noexcept {
  const auto waited = site_->runtime.now() - waits_since_;
  const bool is_handshake = phase_ == phase::head && !parser_.has_begun();  // of TLS: who says nothing there is idle, too
  const bool is_idle = phase_ == phase::idle || phase_ == phase::parting || phase_ == phase::lingering || is_handshake;
  const bool at_once = phase_ != phase::file && waited >= (is_idle ? idle_in_a_crowd : slow_in_a_crowd);
  return {at_once, phase_ != phase::file && phase_ != phase::sending, leaves_, waits_since_, begun_};
}

void connection::leave() noexcept {
  leaves_ = true;
  now_ = site_->runtime.now();
  if (offer().at_once) return expire();
  if (phase_ != phase::parting && phase_ != phase::lingering) return;  // with its next answer
  deadline_ = std::min(deadline_, now_ + quick);
  watch();
}

void connection::renew(std::shared_ptr<site> with) noexcept {
  next_site_ = std::move(with);
  if (phase_ != phase::file && phase_ != phase::sending && held_.empty()) site_ = std::move(next_site_);
}

/// Asks the library for the page, and for what is to be sent instead: a sibling, or the host's page for an error; answers.
tartan::task<> connection::fetch() {
  if (!std::exchange(waited_, true)) co_await tartan::hint({.priority = 1});  // once for what a read has brought: many requests wait between
  for (bool is_answered = false; !is_answered;) {
    enter(phase::file);
    if (out_.empty()) leave_buffer();
    const finding found = co_await host_->pages.ask(wanted_key(), now_);
    if (out_.empty()) take_buffer();
    now_ = site_->runtime.now();
    is_answered = answer_finding(found);
  }
  co_await tartan::hint({});
}

/// Of pages and files, with what stands around their parts.
std::uint64_t connection::bytes_behind() const noexcept {
  std::uint64_t bytes = 0;
  if (!has_more_to_send()) return bytes;
  for (const std::string& each : frame_) bytes += each.size();
  for (const byte_range& each : parts_) bytes += each.size;
  return bytes;
}

/// Of a page in memory of which one part comes behind out_: what leaves with that. The rest stays for send_more.
std::string_view connection::take_first_piece() noexcept {
  if (kept_ == nullptr || parts_.size() != 1) return {};
  byte_range& part = parts_.front();
  const std::string_view first = std::string_view{kept_->body}.substr(part.first, std::min<std::uint64_t>(piece, part.size));
  part = {part.first + first.size(), part.size - first.size()};
  return first;
}

/// Sends parts of a page or a file, with what stands around them.
tartan::task<bool> connection::send_more() {
  const std::shared_ptr<const file> sent = std::move(large_);
  const shared_page page = std::move(kept_);
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    const bool is_framed = co_await send_text(frame_[n]);
    if (!is_framed) co_return false;
    for (byte_range rest = parts_[n]; rest.size != 0;) {
      const byte_range next{rest.first, std::min<std::uint64_t>(piece, rest.size)};
      enter(phase::sending);
      bool went = false;
      if (page != nullptr) {
        went = co_await send_text(std::string_view{page->body}.substr(next.first, next.size));
      } else if (tls_ != nullptr) {
        went = co_await send_sealed(*sent, next);
      } else {
        went = co_await send_part(*sent, next);
      }
      if (!went) co_return false;
      now_ = site_->runtime.now();
      rest = {rest.first + next.size, rest.size - next.size};
    }
  }
  co_return co_await send_text(frame_.back());
}

/// Without copying it through this program. A file that has become shorter ends the connection: the length was told.
tartan::task<bool> connection::send_part(const file& from, byte_range part) {
  const auto sent = co_await peer_.send_file(from.descriptor(), static_cast<std::int64_t>(part.first), part.size);
  co_return static_cast<bool>(sent);
}

tartan::task<bool> connection::send_sealed(const file& from, byte_range part) {
  for (std::uint64_t done = 0; done < part.size;) {
    std::string text(std::min<std::uint64_t>(sealed_piece, part.size - done), '\0');
    enter(phase::file);
    const bool is_whole = co_await tartan::blocking([&] { return read_all(from, text, part.first + done); });
    if (!is_whole) co_return false;
    now_ = site_->runtime.now();
    enter(phase::sending);
    const tartan::result<> sent = co_await tls_->write(text);
    if (!sent) co_return false;
    done += text.size();
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
    now_ = site_->runtime.now();
  }
  co_return true;
}

/// Waits for the peer to finish, dropping what it sends: closing over unread bytes resets the connection, and the peer might lose the
/// response (RFC 9112, 9.6). That nothing is unread now says nothing: the next bytes may be on their way.
tartan::task<> connection::linger(std::chrono::seconds most) {
  if (!peer_.shutdown_send()) co_return;
  in_ = {};
  const time begun = now_;
  const auto end = [&] { return begun + (leaves_ ? std::min<std::chrono::milliseconds>(quick, most) : most); };
  for (; now_ < end(); now_ = site_->runtime.now()) {
    enter(phase::lingering);
    deadline_ = std::min(deadline_, end());
    watch();
    const tartan::result<std::size_t> got = co_await peer_.read_some(in_.room());
    if (!got) co_return;
    in_.add(*got);  // dropped at once, so that there is always room
    in_.drop(*got);
  }
}

/// The worker's, if that is larger.
void connection::take_buffer() {
  std::string& kept = site_->stores.local().output;
  if (kept.capacity() > out_.capacity()) out_.swap(kept);
}

/// Whoever waits for the peer may wait for long, and keeps no buffer for what it sends. Most do not wait for long, so the worker keeps one for all:
/// with thousands of connections it is the only one that is in the cache. One that a large page has made larger than that is freed.
void connection::leave_buffer() {
  if (out_.capacity() <= std::string{}.capacity()) return;
  std::string left;
  left.swap(out_);
  left.clear();
  std::string& kept = site_->stores.local().output;
  if (left.capacity() > kept.capacity() && left.capacity() <= most_kept) kept.swap(left);
}

void connection::wait_for_input() {
  leave_buffer();
  const phase next = !body_.is_complete() ? phase::body : parser_.has_begun() ? phase::head : phase::idle;
  if (next != phase_ || next == phase::idle) {
    enter(next);
  } else {
    watch();  // a head has one deadline, and so has a body, in however many pieces they come
  }
}

void connection::enter(phase next) {
  const time_limits& limits = site_->settings.times;
  phase_ = next;
  waits_since_ = now_;
  timed_out_ = false;
  const auto limit = [&]() -> std::chrono::milliseconds {
    switch (next) {
      case phase::head: return draining_ ? std::min<std::chrono::milliseconds>(limits.header, hurry) : limits.header;
      case phase::idle: return asked_ ? limits.idle : limits.header;  // nobody connects in order to wait
      case phase::body: return limits.idle;
      case phase::lingering: return leaves_ ? quick : draining_ ? hurry : linger_for;
      case phase::parting: return leaves_ ? quick : limits.write;
      case phase::file:
      case phase::sending: break;
    }
    return limits.write;
  }();
  deadline_ = now_ + limit;
  watch();
}

/// Sees to it that the clock is looked at in time.
void connection::watch() {
  if (timer_at_ <= deadline_) return;
  timer_at_ = deadline_;
  timer_.set(deadline_, [this] { look_at_clock(); });
}

void connection::look_at_clock() {
  timer_at_ = time::max();
  now_ = site_->runtime.now();
  if (now_ < deadline_) return watch();
  expire();
}

/// What it waits for is not waited for any longer.
void connection::expire() {
  switch (phase_) {
    case phase::idle:
    case phase::head:
    case phase::body:
      timed_out_ = true;
      deadline_ = now_ + hurry;  // what is canceled may have ended already, and the next wait of the same operation have begun
      watch();
      return peer_.cancel();
    case phase::file:  // the disk takes its time, not the client
      return enter(phase::file);
    case phase::parting:
      if (leaves_) return peer_.close();  // it has had no time to read its last answer
      [[fallthrough]];
    case phase::sending:
      static_cast<void>(peer_.set_reset_on_close(true));  // else the kernel keeps what was not read
      [[fallthrough]];
    case phase::lingering:
      return peer_.close();
  }
}

}  // namespace web
