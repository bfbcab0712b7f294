#include "http_server/connection.h"

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <tartan/core/on.h>
#include <tartan/core/spawn.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/when_any.h>
#include <tartan/http/chunk.h>
#include <tartan/http/date.h>
#include <tartan/http/response_writer.h>
#include <tartan/http/text.h>
#include <tartan/time/with_timeout.h>
#include <utility>

#include "http_server/server_state.h"

namespace tartan::http::detail {

namespace {

/// Of a body that its handler has not read: dropped, so that the connection can go on.
constexpr std::size_t most_drained_bytes = std::size_t{64} * 1024;
/// Of further requests while the client of an event stream is watched.
constexpr std::size_t most_ahead_bytes = std::size_t{64} * 1024;

request_limits limits_of(const server_settings& with) {
  return {.line = with.most_line, .head = with.most_head, .fields = with.most_fields};
}

/// What a body may be on the wire: chunks have lines around them.
std::uint64_t most_with_lines(std::uint64_t content) {
  constexpr std::uint64_t spare = std::uint64_t{64} * 1024;
  constexpr std::uint64_t most = std::uint64_t{1} << 60;
  return content < most / 8 ? 8 * content + spare : most;
}

bool is_the_servers(std::string_view name) {
  return same_letters(name, "Content-Length") || same_letters(name, "Transfer-Encoding") ||
         same_letters(name, "Connection") || same_letters(name, "Date");
}

bool may_have_body(status s) {
  return static_cast<unsigned>(s) >= 200 && s != status::no_content && s != status::not_modified;
}

std::string_view date_text() {
  thread_local date_clock clock;  // used up before the next wait
  return clock.text();
}

reply of_status(status s) {
  return reply::text(std::string{text_of(s)} + "\n", s);
}

}  // namespace

connection::connection(std::shared_ptr<server_state> of, std::uint64_t id, tartan::color where, address peer,
                       bool is_refused)
    : of_{std::move(of)},
      id_{id},
      where_{where},
      peer_{peer},
      parser_{limits_of(of_->settings)},
      is_refused_{is_refused} {}

task<> connection::run(std::shared_ptr<connection> self, any_stream accepted, std::shared_ptr<const listen_with> with) {
  try {
    co_await self->serve(std::move(accepted), *with);
  } catch (const std::exception& e) {
    self->report({.method = {}, .target = {}, .what = e.what()});
  } catch (...) {
    self->report({.method = {}, .target = {}, .what = "an exception that is no std::exception"});
  }
  self->wire_.peer().close();
  self->of_->remove(self->id_);
}

task<> connection::serve(any_stream accepted, const listen_with& with) {
  if (with.seal) {
    result<any_stream> sealed = co_await with_timeout(of_->settings.head_limit, with.seal(std::move(accepted)));
    if (!sealed) co_return;
    accepted = *std::move(sealed);
  }
  wire_.open(std::move(accepted));
  bool goes_on = true;
  while (goes_on) {
    goes_on = co_await read_head();
    if (goes_on) goes_on = co_await answer();
  }
}

void connection::begin_closing() {
  is_closing_ = true;
  closing_.close();
  if (!sends_events_) return;
  current_->closes = true;  // or the next request might be the one that is canceled
  of_->cancel(id_);
}

/// False: no request comes any more.
task<bool> connection::read_head() {
  const server_settings& with = of_->settings;
  parser_.reset();
  bool has_begun = false;
  wire::time_point until = wire::in(requests_ == 0 ? with.head_limit : with.idle_limit);
  for (;;) {
    const request_parser::outcome found = parser_.parse(wire_.received(), head_bytes_, head_);
    if (found == request_parser::outcome::complete) co_return true;
    if (found == request_parser::outcome::refused) {
      co_await refuse(parser_.error());
      co_return false;
    }
    if (!has_begun && parser_.has_begun()) {
      has_begun = true;
      until = wire::in(with.head_limit);
    }
    if (!has_begun && is_closing_) {
      co_await wire_.leave(with.write_limit);
      co_return false;
    }
    result<> more;
    if (has_begun) {
      more = co_await wire_.fill(until);
    } else {
      more = co_await await_request(until);
    }
    if (more || (is_closing_ && more.error() == tartan::errc::canceled)) continue;
    if (has_begun && more.error() == tartan::errc::timed_out) co_await refuse(status::request_timeout);
    co_return false;
  }
}

/// The first bytes of one. Only this wait ends when the server closes: TLS may still be sending the end of the last answer.
task<result<>> connection::await_request(wire::time_point until) {
  const result<> at_once = wire_.try_fill();
  if (at_once || at_once.error() != std::errc::operation_would_block) co_return at_once;
  auto first = co_await when_any(wire_.fill(until), closing_.receive());
  co_return first.index == 0 ? std::get<0>(first.value) : result<>{tartan::errc::canceled};
}

/// Answers what is no request, or comes too slowly. Then the connection ends.
task<> connection::refuse(status why) {
  reply whole = of_status(why);
  const buf::chain& received = wire_.received();
  const bool is_head = !received.empty() && parser_.asks_for_head(received.slices().front().text());
  std::string text;
  response_writer out{text, why};
  out.field("Date", date_text()).field("Content-Type", whole.fields().value("Content-Type")).close();
  out.length(whole.body().size());
  buf::chain all;
  all.append(buf::slice{std::move(text)});
  if (!is_head) all.append(whole.take_body());
  const result<> sent = co_await send_bytes(std::move(all));
  if (sent) co_await wire_.linger(of_->settings.write_limit, of_->settings.linger_limit);
}

/// False: the connection ends.
task<bool> connection::answer() {
  const server_settings& with = of_->settings;
  ++requests_;
  std::string scratch;
  router::found to;
  status refused = status::ok;
  target_path where;
  if (is_refused_) {
    refused = status::unavailable;
  } else if (head_.method == method::options && head_.target == "*") {
    to.allowed = of_->routes.all_methods();
  } else {
    const target_result understood = path_of(head_.target, scratch);
    where = understood.found;
    if (understood.error) refused = *understood.error;
    if (!understood.error) to = of_->routes.find(head_.method_text, where.path);
    if (!understood.error && to.entry == nullptr && to.allowed.empty()) refused = status::not_found;
  }
  const std::uint64_t most = to.entry != nullptr ? to.entry->most_body.value_or(with.most_body) : with.most_body;
  body_reader reader{most_with_lines(most)};
  reader.begin(head_);
  exchange_state x{*this,
                   head_,
                   wire_,
                   {.reader = reader,
                    .most = most,
                    .piece_limit = with.body_limit,
                    .is_continue_wanted = head_.expects_continue && head_.has_body()}};
  x.where = where;
  x.route = to.entry;
  x.values = std::move(to.values);
  current_ = &x;
  bool has_failed = false;
  if (refused != status::ok) {
    reply whole = of_status(refused);
    if (is_refused_) whole.set("Retry-After", "1").close();
    static_cast<void>(co_await send(x, std::move(whole)));
  } else if (to.entry == nullptr) {
    reply whole = head_.method == method::options ? reply{status::no_content} : of_status(status::method_not_allowed);
    whole.set("Allow", to.allowed);
    static_cast<void>(co_await send(x, std::move(whole)));
  } else if (!head_.chunked && head_.content_length > most) {
    reply whole = of_status(status::content_too_large);
    whole.close();
    static_cast<void>(co_await send(x, std::move(whole)));
  } else {
    has_failed = !co_await call(x);
  }
  co_return co_await finish(x, has_failed);
}

/// In the route's color. False: the handler has thrown.
task<bool> connection::call(exchange_state& x) {
  exchange seen{x};
  if (x.route->in) co_await on(*x.route->in);
  try {
    co_await x.route->handler->answer(seen);
    co_return true;
  } catch (const std::exception& e) {
    report({x.head.method_text, x.head.target, e.what()});
  } catch (...) {
    report({x.head.method_text, x.head.target, "an exception that is no std::exception"});
  }
  co_return false;
}

void connection::report(const failed_request& what) const noexcept {
  try {
    if (of_->settings.on_failure) return of_->settings.on_failure(what);
    const std::string text =
        std::string{what.method} + " " + std::string{what.target} + " has failed: " + std::string{what.what};
    std::fprintf(stderr, "tartan: http::server: the handler of %s\n", text.c_str());
  } catch (...) {
    std::fputs("tartan: http::server: a handler has failed, and on_failure too\n", stderr);
  }
}

/// Behind the handler. False: the connection ends.
task<bool> connection::finish(exchange_state& x, bool has_failed) {
  co_await stop_watching();
  const stop_token asked = co_await get_stop_token();
  if (asked.stop_requested()) co_return false;
  if (!x.is_answered && !is_broken_) {
    reply whole = of_status(status::internal_error);
    if (!has_failed && x.body.error()) {
      whole = reply::of_error(x.body.error());
    } else if (!has_failed) {
      report({x.head.method_text, x.head.target, "it has given no answer"});
    }
    whole.close();
    static_cast<void>(co_await send(x, std::move(whole)));
  } else if (has_failed && x.is_answered && !x.is_whole) {
    co_return false;  // cut, so that the client does not take it for the whole
  }
  if (x.is_open) static_cast<void>(co_await end(x));
  if (is_broken_) co_return false;
  bool goes_on = !x.closes;
  if (goes_on) goes_on = co_await drain(x);
  if (goes_on) co_return true;
  co_await wire_.linger(of_->settings.write_limit, of_->settings.linger_limit);
  co_return false;
}

/// Reads what is left of the request's body. False: it is too much, or cannot be read.
task<bool> connection::drain(exchange_state& x) {
  if (x.body.is_continue_wanted()) co_return x.body.is_complete();
  const result<bool> dropped = co_await with_timeout(of_->settings.body_limit, drop_body(x));  // in all: nobody waits for it
  co_return dropped.has_value() && *dropped;
}

task<bool> connection::drop_body(exchange_state& x) {
  for (std::size_t dropped = 0; dropped <= most_drained_bytes;) {
    buf::chain some;
    const result<std::size_t> got = co_await x.body.read_some(some, most_drained_bytes);
    if (!got) co_return got.error() == tartan::errc::end_of_stream;
    dropped += *got;
  }
  co_return false;
}

task<result<>> connection::send_bytes(buf::chain all) {
  try {
    const result<> sent = co_await wire_.send(std::move(all), of_->settings.write_limit);
    if (!sent) is_broken_ = true;
    co_return sent;
  } catch (...) {  // a part may have gone
    is_broken_ = true;
    throw;
  }
}

/// `length`: nothing for a body in chunks, or up to the end of the connection.
std::string connection::head_of(exchange_state& x, const reply& from, std::optional<std::uint64_t> length,
                                bool closes) {
  std::string text;
  response_writer out{text, from.status()};
  out.field("Date", date_text());
  for (const auto& [name, value] : from.fields()) {
    if (!is_the_servers(name)) out.field(name, value);
  }
  if (closes) {
    out.close();
  } else if (x.head.http_1_0) {
    out.field("Connection", "keep-alive");
  }
  if (!may_have_body(from.status())) {
    out.no_body();
  } else if (length) {
    out.length(*length);
  } else if (!x.head.http_1_0) {
    out.chunked();
  } else {
    out.no_body();
  }
  return text;
}

/// The head, if there is none yet; from now on the request is answered.
result<buf::chain> connection::open_answer(exchange_state& x, const reply& head, std::optional<std::uint64_t> length) {
  if (x.is_answered) return make_error_code(errc::already_answered);
  if (is_broken_) return tartan::errc::closed;
  if (static_cast<unsigned>(head.status()) < 200) throw std::invalid_argument{"an answer has a status of 200 or more"};
  const bool may_have = may_have_body(head.status());
  const bool is_cut_by_end = may_have && !length && x.head.http_1_0;
  const bool closes = head.closes() || is_closing_ || is_cut_by_end || !x.head.keep_alive ||
                      requests_ >= of_->settings.most_requests ||
                      (x.body.is_continue_wanted() && !x.body.is_complete());
  std::string text = head_of(x, head, length, closes);  // may throw: the request is not answered then
  x.closes = closes;
  x.is_answered = true;
  x.body.set_answered();
  x.has_body = may_have && x.head.method != method::head;
  x.is_chunked = !length && !x.head.http_1_0;
  x.left = may_have ? length : 0;
  buf::chain all;
  all.append(buf::slice{std::move(text)});
  return all;
}

task<result<>> connection::send(exchange_state& x, reply whole) {
  result<buf::chain> all = open_answer(x, whole, whole.body().size());
  if (!all) co_return all.error();
  if (x.has_body) all->append(whole.take_body());
  const result<> sent = co_await send_bytes(*std::move(all));
  x.is_whole = sent.has_value();
  co_return sent;
}

task<result<>> connection::begin(exchange_state& x, reply head, std::optional<std::uint64_t> length) {
  result<buf::chain> all = open_answer(x, head, length);
  if (!all) co_return all.error();
  x.is_open = true;
  co_return co_await send_bytes(*std::move(all));
}

task<result<>> connection::write(exchange_state& x, buf::chain piece) {
  if (!x.is_open || is_broken_) co_return tartan::errc::closed;
  if (x.is_events && !x.has_body) co_return tartan::errc::closed;  // HEAD: nobody would see them
  if (x.left && piece.size() > *x.left) co_return errc::too_large;
  if (x.left) *x.left -= piece.size();
  if (!x.has_body || piece.empty()) co_return result<>{};
  if (!x.is_chunked) co_return co_await send_bytes(std::move(piece));
  buf::chain all;
  all.print(buf::hex{piece.size()}, "\r\n");
  all.append(std::move(piece));
  all.print("\r\n");
  co_return co_await send_bytes(std::move(all));
}

task<result<>> connection::end(exchange_state& x) {
  if (!std::exchange(x.is_open, false) || is_broken_) co_return tartan::errc::closed;
  if (x.left && *x.left != 0 && x.has_body) {
    is_broken_ = true;  // the client waits for bytes that do not come
    co_return errc::truncated;
  }
  result<> sent;
  if (x.has_body && x.is_chunked) {
    buf::chain all;
    append_last_chunk(all);
    sent = co_await send_bytes(std::move(all));
  }
  x.is_whole = sent.has_value();
  co_return sent;
}

task<result<>> connection::begin_events(exchange_state& x, reply head) {
  if (is_closing_) {
    reply later = of_status(status::unavailable);
    later.set("Retry-After", "1").close();
    const result<> sent = co_await send(x, std::move(later));
    co_return sent ? result<>{tartan::errc::canceled} : sent;
  }
  head.set("Content-Type", "text/event-stream").set("Cache-Control", "no-cache");
  const result<> begun = co_await begin(x, std::move(head), std::nullopt);
  if (!begun) co_return begun;
  x.is_events = true;
  sends_events_ = true;
  if (is_closing_) of_->cancel(id_);  // that began while the head was on its way
  if (x.has_body && x.body.is_complete()) watch_ = spawn_in(where_, watch, shared_from_this());
  co_return result<>{};
}

/// Ends the handler of an event stream when the client has gone. What else it sends is kept for later.
task<> connection::watch(std::shared_ptr<connection> self) {
  wire& on = self->wire_;
  while (on.received().size() < most_ahead_bytes) {
    const result<> ready = co_await on.peer().readable();
    if (!ready) co_return;
    const result<> got = on.try_fill();
    if (got || got.error() == std::errc::operation_would_block) continue;
    self->is_broken_ = true;
    self->of_->cancel(self->id_);
    co_return;
  }
}

task<> connection::stop_watching() {
  sends_events_ = false;
  if (!watch_) co_return;
  watch_.cancel();
  co_await watch_.join();
  watch_ = {};
}

}  // namespace tartan::http::detail
