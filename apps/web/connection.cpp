// The life of a request: bytes are read into in, the parser finds its head, the path is looked up in the worker's cache, the response is
// appended to out. When no complete request is left, out is written and the next read begins: in the usual case two system calls
// and not one allocation. What is not in the cache comes from the library, and is then answered in the same way.
//
// Timeouts: each wait has a deadline, and one timer looks from time to time whether it has passed. A request moves the deadline,
// which is a store; it does not touch the timer. tartan::with_timeout around each read and write is the simple way, and the right one for
// most programs. Here, where a request costs a read and a write and little else, it would cost about half as many instructions again
// (callgrind).
//
// Buffers: a head is parsed in one piece, and buf::chain's slices may end anywhere in it; so what is read goes into one piece of memory
// (read_buffer). Most responses are short: copied into one string, many leave with one write, and need no slice each. What is longer is sent
// behind them from the page that all share, or by the kernel from where it has that; or is read from the disk when there is room for it: so nobody
// who reads slowly keeps a copy. A server that hands bodies on, or writes more than its peers read, wants buf::chain and its marks.
#include "web/connection.h"

#include <tartan/core/hints.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace web {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_kept = 32 * 1024;      // in the buffers of an exchange that a worker keeps: few need as much
constexpr std::size_t most_at_rest = 8 * 1024;    // the same, of one that a connection keeps while it waits for a request
constexpr auto idle_in_a_crowd = 1s;              // then who waits for a place may have this one
constexpr auto slow_in_a_crowd = 10s;             // for the rest of a head or a body, or for taking a piece of a response
constexpr auto quick = 100ms;                     // for the end, when another one waits for the place
constexpr auto hurry = 1s;                        // in a drain: for the end, the rest of a head, and one more request

}  // namespace

connection::connection(std::shared_ptr<site> of, tartan::tcp::stream peer,
                       std::shared_ptr<const tls_certificates> certificates, std::shared_ptr<const ticket_keys> tickets)
    : site_{std::move(of)}, peer_{std::move(peer)},
      tls_{certificates == nullptr ? nullptr
                                   : std::make_unique<tls_stream>(std::move(certificates), std::move(tickets), peer_)},
      color_{peer_.color()}, timer_{site_->runtime, color_} {}

tartan::task<> connection::run() {
  begun_ = now_ = site_->runtime.now();
  bool may_begin = true;
  if (tls_ != nullptr) may_begin = co_await begin_tls();
  if (!may_begin) co_return co_await linger(hurry);  // who speaks no TLS understands no answer
  for (came_ = arrival::nothing; came_ != arrival::end;) {
    wait_for_input();
    if (tls_ == nullptr) {
      co_await converse();
    } else {
      const std::span<std::byte> room = exchange_->in.room();
      const tartan::result<std::size_t> got = co_await tls_->read_some(room);
      take_opened(got, room.size());
    }
    if (came_ == arrival::gone) co_return;
    for (; came_ == arrival::bytes; next_ = answer()) {
      if (next_ == stop::library) co_await fetch();
      if (!exchange_->log.empty()) tell_log();
      if (next_ == stop::library && !has_more_to_send()) continue;
      const bool is_sent = !std::exchange(is_left_, false) && send_now();
      if (!is_sent) {
        const bool went = co_await send_rest();
        if (!went) co_return;
      }
      if (next_ == stop::end && may_close_at_once()) co_return leave_exchange();
      if (is_over()) came_ = arrival::end;
      if (came_ == arrival::end || next_ == stop::input) break;
    }
  }
  leave_exchange();
  if (tls_ != nullptr) {
    enter(phase::parting);
    static_cast<void>(co_await tls_->finish());
    now_ = site_->runtime.now();  // the peer may have taken long to make room for that
  }
  co_await linger(most_lingering);  // until the peer has finished, too
}

/// Answers request after request, as long as that needs no waiting but for the next one: so is it nearly always. A coroutine of its own, for its frame is
/// three cache lines.
tartan::task<> connection::converse() {
  do {
    const tartan::result<> ready = co_await peer_.readable();
    take_turn(ready);
  } while (came_ == arrival::nothing);
}

/// From one wait to the next. If it is not to come to that, came_ is something, and run goes on.
void connection::take_turn(const tartan::result<>& ready) {
  if (!ready) [[unlikely]] return end_of_wait(ready.error());
  take_input();
  if (came_ != arrival::bytes) return;
  do {
    next_ = answer();
    if (next_ != stop::input && next_ != stop::output) return;
    if (!exchange_->log.empty()) tell_log();
    is_left_ = !send_now();
    if (is_left_ || is_over()) return;
  } while (next_ == stop::output);
  wait_for_input();
  came_ = arrival::nothing;
}

/// After an answer: whether there will be none after it.
bool connection::is_over() noexcept {
  if (is_renewed_ && exchange_->held.empty()) take_site();
  return ending_;
}

void connection::tell_log() { site_->log->add(std::exchange(exchange_->log, {})); }

/// Whoever has said that this was its last request may send nothing after it (RFC 9112, 9.6): nothing that closing would answer with a
/// reset; a body that it has told of has come, for its answer waited for that. But some send a line end all the same, or a body whose length
/// they do not tell, so this is for GET and HEAD; and for responses that are there at once, and fit what a connection sends unasked: else there
/// would be time for bytes to come, or the kernel would keep for long what a slow client does not read. A server that ends has nobody who sends
/// the rest, if it is the only process of its network.
bool connection::may_close_at_once() const noexcept {
  return asked_for_end_ && !lingers_ && !unread_ && !waited_ && !draining_ && tls_ == nullptr && exchange_->in.empty();
}

/// The handshake has the time of a head.
tartan::task<bool> connection::begin_tls() {
  enter(phase::head);
  const tartan::result<> begun = co_await tls_->handshake();
  now_ = site_->runtime.now();
  co_return begun.has_value();
}

/// A client that keeps its connection may have sent its next request already, and would never know whether that was
/// seen: so an idle connection is not closed at once. A request that comes in time is answered with `Connection:
/// close`.
void connection::drain() noexcept {
  draining_ = true;
  if (phase_ == phase::file || phase_ == phase::sending || phase_ == phase::parting || phase_ == phase::body) return;
  deadline_ = std::min(deadline_, site_->runtime.now() + (phase_ == phase::idle ? last_call() : hurry));
  watch_or_cancel();
}

/// How long a drain waits for the request that a client may have sent before it could know of the end. Half of the
/// drain is left for the answer.
std::chrono::milliseconds connection::last_call() const noexcept {
  return std::min<std::chrono::milliseconds>(hurry, site_->settings.times.drain / 2);
}

/// Once in a drain: reads what the client has sent by now. Requests that begin in that are answered. An error is met by
/// the next wait.
void connection::look_again(std::span<std::byte> room) noexcept {
  has_looked_ = true;
  if (room.empty()) return;
  const tartan::result<std::size_t> got = tls_ != nullptr ? tls_->read_at_hand(room) : peer_.try_read_some(room);
  if (got) exchange_->in.add(*got);
}

/// A connection that has no place waits as long as this one; so this one goes if its client has taken long already.
connection::leave_offer connection::offer() const noexcept {
  const auto waited = site_->runtime.now() - waits_since_;
  // Of TLS: who says nothing there is idle, too.
  const bool is_handshake = phase_ == phase::head && (exchange_ == nullptr || !exchange_->parser.has_begun());
  const bool is_idle = phase_ == phase::idle || phase_ == phase::parting || phase_ == phase::lingering || is_handshake;
  const bool at_once = phase_ != phase::file && waited >= (is_idle ? idle_in_a_crowd : slow_in_a_crowd);
  return {is_idle, at_once, phase_ != phase::file && phase_ != phase::sending, leaves_, waits_since_, begun_};
}

void connection::leave() noexcept {
  leaves_ = true;
  now_ = site_->runtime.now();
  if (offer().at_once) return expire();
  if (phase_ != phase::parting && phase_ != phase::lingering) return;  // with its next answer
  deadline_ = std::min(deadline_, now_ + quick);
  watch_or_cancel();
}

void connection::renew(std::shared_ptr<site> with) noexcept {
  next_site_ = std::move(with);
  is_renewed_ = true;
  if (phase_ != phase::file && phase_ != phase::sending && (exchange_ == nullptr || exchange_->held.empty())) take_site();
}

void connection::take_site() noexcept {
  site_ = std::move(next_site_);
  is_renewed_ = false;
  if (exchange_ != nullptr) exchange_->is_stale = true;
}

/// Asks the library for the page, and for what is to be sent instead: a sibling, or the host's page for an error; answers.
tartan::task<> connection::fetch() {
  if (!std::exchange(waited_, true)) co_await tartan::hint({.priority = 1});  // once for what a read has brought: many requests wait between
  for (bool is_answered = false; !is_answered;) {
    enter(phase::file);
    if (exchange_->out.empty()) leave_buffer();
    const finding found = co_await exchange_->host->pages.ask(wanted_key(), now_);
    exchange_->store = &site_->stores.local();  // there was a wait
    if (exchange_->out.empty()) take_buffer();
    now_ = site_->runtime.now();
    if (draining_ && !has_looked_) look_again(exchange_->in.room_behind());  // views of the request stay valid
    is_answered = answer_finding(found);
  }
  co_await tartan::hint({});
}

/// Waits for the peer to finish, dropping what it sends: closing over unread bytes resets the connection, and the peer might lose the
/// response (RFC 9112, 9.6). That nothing is unread now says nothing: the next bytes may be on their way.
tartan::task<> connection::linger(std::chrono::seconds most) {
  if (!peer_.shutdown_send()) co_return;
  leave_exchange();
  const time begun = now_;
  const auto end = [&] { return begun + (leaves_ ? std::min<std::chrono::milliseconds>(quick, most) : most); };
  for (; now_ < end(); now_ = site_->runtime.now()) {
    enter(phase::lingering);
    deadline_ = std::min(deadline_, end());
    watch();
    const tartan::result<> ready = co_await peer_.readable();
    if (!ready) co_return;
    take_exchange();
    const tartan::result<std::size_t> got = peer_.try_read_some(exchange_->in.room());
    leave_exchange();  // and what has come
    if (!got && got.error() != std::errc::operation_would_block) co_return;
  }
}

/// That which the worker has used last, if there is one.
void connection::take_exchange() {
  worker_store& here = site_->stores.local();
  if (exchange_ == nullptr && here.spare.empty()) [[unlikely]] {
    exchange_ = std::make_unique<exchange>(site_->settings.requests);
  } else if (exchange_ == nullptr) {
    exchange_ = std::move(here.spare.back());
    here.spare.pop_back();
  }
  exchange_->store = &here;
}

/// For the next connection that answers here; what has come and is not wanted any more is dropped.
void connection::leave_exchange() noexcept {
  std::unique_ptr<exchange> left = std::move(exchange_);
  if (left == nullptr || left->is_stale || left->bytes() > most_kept) return;
  if (!left->is_over()) left->clear(site_->settings.requests);
  std::vector<std::unique_ptr<exchange>>& spare = site_->stores.local().spare;
  if (spare.size() == worker_store::most_spare) return;
  spare.push_back(std::move(left));
}

/// The worker's, if that is larger.
void connection::take_buffer() {
  std::string& kept = exchange_->store->output;
  if (kept.capacity() > exchange_->out.capacity()) exchange_->out.swap(kept);
}

/// Whoever waits for the peer or for the disk may wait for long, and keeps no buffer for what it sends. One that a large page has made larger than
/// `most_kept` is freed.
void connection::leave_buffer() {
  if (exchange_->out.capacity() <= std::string{}.capacity()) return;
  std::string left;
  left.swap(exchange_->out);
  left.clear();
  std::string& kept = site_->stores.local().output;
  if (left.capacity() > kept.capacity() && left.capacity() <= most_kept) kept.swap(left);
}

/// A connection at rest has no exchange; but TLS needs room for what it opens before it comes.
void connection::wait_for_input() {
  phase next = phase::idle;
  if (tls_ != nullptr) {
    if (exchange_ != nullptr) leave_buffer();
    const bool may_go = exchange_ != nullptr && exchange_->is_over();
    if (may_go && (exchange_->is_stale || exchange_->bytes() > most_at_rest)) exchange_ = nullptr;
    take_exchange();
    leave_buffer();
  }
  if (exchange_ != nullptr) {
    next = !exchange_->body.is_complete() ? phase::body : exchange_->parser.has_begun() ? phase::head : phase::idle;
    if (tls_ == nullptr && exchange_->is_over()) [[likely]] {
      leave_exchange();
    } else {
      leave_buffer();
    }
  }
  if (next != phase_ || next == phase::idle) {
    enter(next);
  } else {
    watch();  // a head has one deadline, and so has a body, in however many pieces they come
  }
}

/// There may be something to read.
void connection::take_input() {
  take_exchange();
  const std::span<std::byte> room = exchange_->in.room();
  const tartan::result<std::size_t> got = peer_.try_read_some(room);
  if (got) [[likely]] return add_input(*got, room.size());
  const bool goes_on = got.error() == std::errc::operation_would_block;
  came_ = goes_on ? arrival::nothing : arrival::gone;
  if (!goes_on || exchange_->is_over()) leave_exchange();
}

/// The same over TLS.
void connection::take_opened(const tartan::result<std::size_t>& got, std::size_t room) {
  if (got) {
    add_input(*got, room);
    next_ = answer();
  } else if (got.error() == tartan::errc::end_of_stream) {
    came_ = arrival::end;
  } else {
    end_of_wait(got.error());
  }
}

void connection::add_input(std::size_t bytes, std::size_t room) {
  now_ = site_->runtime.now();
  exchange_->in.add(bytes);
  if (has_looked_) [[unlikely]] behind_look_ += bytes;
  waited_ = false;
  unread_ = bytes == room;  // there may be more
  came_ = arrival::bytes;
}

void connection::end_of_wait(std::error_code why) {
  now_ = site_->runtime.now();
  came_ = why == tartan::errc::canceled ? arrival::end : arrival::gone;
  if (came_ == arrival::gone || !timed_out_ || phase_ == phase::idle) return;  // its time is up, or the server's
  take_exchange();
  refuse(http::status::request_timeout);
  came_ = arrival::bytes;
  next_ = stop::end;
}

void connection::enter(phase next) {
  const time_limits& limits = site_->settings.times;
  phase_ = next;
  waits_since_ = now_;
  timed_out_ = false;
  const auto in_drain = [&](std::chrono::milliseconds limit, std::chrono::milliseconds most) {
    return draining_ ? std::min(limit, most) : limit;
  };
  const auto limit = [&]() -> std::chrono::milliseconds {
    switch (next) {
      case phase::head: return in_drain(limits.header, hurry);
      // Nobody connects in order to wait.
      case phase::idle: return in_drain(asked_ ? limits.idle : limits.header, last_call());
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

/// Sees to it that the clock is looked at in time. Errors: std::bad_alloc; then nothing is set.
void connection::watch() {
  if (timer_at_ <= deadline_) return;
  timer_at_ = time::max();
  timer_.set(deadline_, [this] { look_at_clock(); });
  timer_at_ = deadline_;
}

/// For callers that nothing may stop: without memory for the timer the wait ends now.
void connection::watch_or_cancel() noexcept {
  try {
    watch();
  } catch (const std::bad_alloc&) {
    peer_.cancel();
  }
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
      watch_or_cancel();
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
