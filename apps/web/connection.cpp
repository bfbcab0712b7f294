#include "web/connection.h"

#include <tartan/core/hints.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "web/address_family.h"
#include "web/proxies.h"
#include "web/sending.h"

namespace web {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_kept = worker_store::most_kept;
constexpr auto idle_in_a_crowd = 1s;   // after that, a waiting client may have this one's place
constexpr auto slow_in_a_crowd = 10s;  // for the rest of a head or a body, or for taking a piece of a response
constexpr auto quick = 100ms;          // for the end, when another one waits for the place
constexpr auto hurry = conversation::hurry;

}  // namespace

connection::connection(std::shared_ptr<site> of, tartan::tcp::stream peer, tartan::tls::server* with)
    : talk_{std::move(of), std::move(peer), with}, color_{talk_.peer.socket().color()} {}

tartan::task<> connection::run() {
  begun_ = talk_.now = talk_.site->runtime.now();
  bool may_begin = true;
  if (talk_.site->settings.proxies.are_any()) may_begin = co_await meet_proxy();
  if (may_begin && talk_.peer.is_sealed()) may_begin = co_await begin_tls();
  if (!may_begin) co_return co_await talk_.linger(hurry);
  for (came_ = arrival::nothing; came_ != arrival::end;) {
    wait_for_input();
    if (talk_.peer.is_sealed()) {
      co_await converse(talk_.peer.sealed());
    } else {
      co_await converse(talk_.peer.socket());
    }
    if (came_ == arrival::gone) co_return;
    const bool goes_on = co_await answer_all();
    if (!goes_on) co_return;
  }
  leave_exchange();
  if (talk_.peer.has_farewell()) {
    talk_.enter(phase::parting);
    static_cast<void>(co_await talk_.peer.say_farewell());
    talk_.now = talk_.site->runtime.now();  // the peer may have taken long to make room for that
  }
  co_await talk_.linger(conversation::most_lingering);  // until the peer has finished, too
}

/// Checks whether the peer is a trusted proxy, and if so reads its PROXY protocol header within the time limit of a head. Gives false if the
/// connection ended before the header did.
///
/// Errors: std::runtime_error if something else came: the proxy is not set up as the server is.
tartan::task<bool> connection::meet_proxy() {
  const std::shared_ptr<site> by = talk_.site;  // a reload may come meanwhile
  const proxy_settings& with = by->settings.proxies;
  const tartan::result<tartan::address> from = talk_.peer.socket().peer_address();
  talk_.is_proxied = from && with.trusts(*from);
  if (!talk_.is_proxied || !with.speaks_protocol) co_return true;
  talk_.enter(phase::head);  // the header's
  const auto client = co_await talk_.peer.read_proxy_header();
  talk_.now = talk_.site->runtime.now();
  if (client && *client) talk_.client = (*client)->to_string();
  if (client) talk_.is_proxied = *client && with.trusts(**client);  // a header that names nobody leaves nobody to believe
  if (!client && client.error() == std::errc::protocol_error) {
    throw std::runtime_error{"a connection from the trusted proxy " + host_text(*from) + " does not begin with a header of the PROXY protocol"};
  }
  co_return client.has_value();
}

/// The handshake has the time of a head. Gives false if there is nobody to talk to by TLS.
tartan::task<bool> connection::begin_tls() {
  talk_.enter(phase::head);
  const tartan::result<> begun = co_await talk_.peer.handshake();
  talk_.now = talk_.site->runtime.now();
  if (begun) co_return true;
  if (begun.error() != tartan::tls::errc::plain_http) co_return false;  // who speaks no TLS understands no answer
  take_exchange();
  exchange_->refuse_plain_http();
  if (exchange_->has_lines()) tell_log();
  talk_.enter(phase::sending);
  static_cast<void>(co_await talk_.peer.socket().write(exchange_->out.text));
  talk_.now = talk_.site->runtime.now();
  leave_exchange();
  co_return false;
}

/// Answers request after request, as long as nothing but the next request is waited for, which is nearly always so. It is a coroutine of its own to keep
/// its frame within three cache lines.
template <class Stream>
tartan::task<> connection::converse(Stream& peer) {
  do {
    const tartan::result<> ready = co_await peer.readable();
    take_turn(ready);
  } while (came_ == arrival::nothing);
}

/// What happens between two waits for input. If something else is to be waited for, came_ is set, and run goes on.
void connection::take_turn(const tartan::result<>& ready) {
  if (!ready) [[unlikely]] return end_of_wait(ready.error());
  take_input();
  if (came_ != arrival::bytes) return;
  do {
    next_ = exchange_->answer();
    if (next_ != stop::input && next_ != stop::output) return;
    if (exchange_->has_lines()) tell_log();
    is_left_ = !send_now(talk_, exchange_->out);
    if (is_left_ || is_over()) return;
  } while (next_ == stop::output);
  wait_for_input();
  came_ = arrival::nothing;
}

/// What a turn has left, which needs waiting. Gives false if nothing more is to be said or heard.
tartan::task<bool> connection::answer_all() {
  for (; came_ == arrival::bytes; next_ = exchange_->answer()) {
    if (next_ == stop::library) co_await fetch();
    if (exchange_->has_lines()) tell_log();
    if (next_ == stop::library && !exchange_->out.has_more()) continue;
    const bool is_sent = !std::exchange(is_left_, false) && send_now(talk_, exchange_->out);
    if (!is_sent) {
      const bool went = co_await send_rest(talk_, exchange_->out);
      if (!went) co_return false;
    }
    if (next_ == stop::end && may_close_at_once()) {
      leave_exchange();  // the next connection goes on with it
      co_return false;
    }
    if (is_over()) came_ = arrival::end;
    if (came_ == arrival::end || next_ == stop::input) break;
  }
  co_return true;
}

/// After an answer: whether there will be none after it.
bool connection::is_over() noexcept {
  if (is_renewed_ && !exchange_->holds_request()) take_site();
  return talk_.ending;
}

void connection::tell_log() { talk_.site->log->add(exchange_->take_lines()); }

/// A client that has announced its last request may send nothing after it (RFC 9112, 9.6), so closing answers nothing with a reset. Some clients
/// send a line end all the same, or a body of a length that they do not tell; so this is for GET and HEAD only. The response must have been there
/// at once and be short: otherwise bytes would have time to come, or the kernel would keep for long what a slow client does not read. A server that
/// drains waits as well: if it is the only process of its network, nobody sends the rest once it has ended.
bool connection::may_close_at_once() const noexcept {
  if (talk_.peer.has_farewell()) return false;
  return talk_.asked_for_end && !talk_.lingers && !unread_ && !waited_ && !talk_.draining && exchange_->in.empty();
}

void connection::drain() noexcept {
  talk_.draining = true;
  const phase now_in = talk_.now_in();
  if (now_in == phase::file || now_in == phase::sending || now_in == phase::parting || now_in == phase::body) return;
  talk_.end_by(talk_.site->runtime.now() + (now_in == phase::idle ? talk_.last_call() : hurry));
}

/// A new client waits while this connection has its place; so this connection goes if its client has already taken long.
connection::leave_offer connection::offer() const noexcept {
  const phase now_in = talk_.now_in();
  const auto waited = talk_.site->runtime.now() - talk_.waits_since();
  // Of TLS: who says nothing there is idle, too.
  const bool is_handshake = now_in == phase::head && (exchange_ == nullptr || !exchange_->has_begun());
  const bool is_idle = now_in == phase::idle || now_in == phase::parting || now_in == phase::lingering || is_handshake;
  const bool at_once = now_in != phase::file && waited >= (is_idle ? idle_in_a_crowd : slow_in_a_crowd);
  return {is_idle, at_once, now_in != phase::file && now_in != phase::sending, talk_.leaves, talk_.waits_since(), begun_};
}

void connection::leave() noexcept {
  talk_.leaves = true;
  talk_.now = talk_.site->runtime.now();
  if (offer().at_once) return talk_.expire();
  if (talk_.now_in() != phase::parting && talk_.now_in() != phase::lingering) return;  // with its next answer
  talk_.end_by(talk_.now + quick);
}

void connection::renew(std::shared_ptr<site> with) noexcept {
  next_site_ = std::move(with);
  is_renewed_ = true;
  const bool is_answering = talk_.now_in() == phase::file || talk_.now_in() == phase::sending;
  if (!is_answering && (exchange_ == nullptr || !exchange_->holds_request())) take_site();
}

void connection::take_site() noexcept {
  talk_.site = std::move(next_site_);
  is_renewed_ = false;
  if (exchange_ != nullptr) exchange_->is_stale = true;
}

/// Asks the library for what the exchange needs, and has it answer.
tartan::task<> connection::fetch() {
  if (!std::exchange(waited_, true)) co_await tartan::hint({.priority = 1});  // once for what a read has brought: many requests wait between
  outgoing& out = exchange_->out;
  for (bool is_answered = false; !is_answered;) {
    talk_.enter(phase::file);
    if (out.text.empty()) out.leave_buffer(talk_.site->stores.local());
    const finding found = co_await exchange_->ask();
    worker_store& here = talk_.site->stores.local();  // there was a wait
    exchange_->move_to(here);
    if (out.text.empty()) out.take_buffer(here);
    talk_.now = talk_.site->runtime.now();
    read_buffer& in = exchange_->in;
    if (talk_.draining && !talk_.has_looked) in.add(talk_.look_again(in.room_behind()));  // views of the request stay valid
    is_answered = exchange_->answer_finding(found);
  }
  co_await tartan::hint({});
}

/// Takes the exchange that the worker has used last, or a new one.
void connection::take_exchange() {
  worker_store& here = talk_.site->stores.local();
  if (exchange_ == nullptr && here.spare.empty()) [[unlikely]] {
    exchange_ = std::make_unique<exchange>(talk_.site->settings.requests);
  } else if (exchange_ == nullptr) {
    exchange_ = std::move(here.spare.back());
    here.spare.pop_back();
  }
  exchange_->serve(talk_, here);
}

/// Gives the exchange to the next connection that answers on this worker. What is left in it is dropped.
void connection::leave_exchange() noexcept {
  std::unique_ptr<exchange> left = std::move(exchange_);
  if (left == nullptr || left->is_stale || left->bytes() > most_kept) return;
  if (!left->is_over()) left->clear(talk_.site->settings.requests);
  std::vector<std::unique_ptr<exchange>>& spare = talk_.site->stores.local().spare;
  if (spare.size() == worker_store::most_spare) return;
  spare.push_back(std::move(left));
}

/// A connection at rest has no exchange, and one that waits has no buffer for what it sends.
void connection::wait_for_input() {
  phase next = phase::idle;
  if (exchange_ != nullptr) {
    next = exchange_->awaited();
    if (exchange_->is_over()) [[likely]] {
      leave_exchange();
    } else {
      exchange_->out.leave_buffer(talk_.site->stores.local());
    }
  }
  if (next != talk_.now_in() || next == phase::idle) {
    talk_.enter(next);
  } else {
    talk_.watch();  // a head has one deadline, and so has a body, in however many pieces they come
  }
}

/// There may be something to read.
void connection::take_input() {
  take_exchange();
  const std::span<std::byte> room = exchange_->in.room();
  const tartan::result<std::size_t> got = talk_.peer.try_read_some(room);
  if (got) [[likely]] return add_input(*got, room.size());
  const bool goes_on = got.error() == std::errc::operation_would_block;
  const bool is_told = talk_.peer.has_farewell() && got.error() == tartan::errc::end_of_stream;
  came_ = goes_on ? arrival::nothing : is_told ? arrival::end : arrival::gone;
  if (!goes_on || exchange_->is_over()) leave_exchange();
}

void connection::add_input(std::size_t bytes, std::size_t room) {
  talk_.now = talk_.site->runtime.now();
  exchange_->in.add(bytes);
  if (talk_.has_looked) [[unlikely]] talk_.behind_look += bytes;
  waited_ = false;
  unread_ = bytes == room;  // there may be more
  came_ = arrival::bytes;
}

void connection::end_of_wait(std::error_code why) {
  talk_.now = talk_.site->runtime.now();
  came_ = why == tartan::errc::canceled ? arrival::end : arrival::gone;
  if (came_ == arrival::gone || !talk_.is_timed_out() || talk_.now_in() == phase::idle) return;  // its time is up, or the server's
  take_exchange();
  exchange_->refuse(http::status::request_timeout);
  came_ = arrival::bytes;
  next_ = stop::end;
}

}  // namespace web
