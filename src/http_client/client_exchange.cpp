#include "http_client/client_exchange.h"

#include <array>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/when_any.h>
#include <tartan/dns/connect.h>
#include <tartan/http/chunk.h>
#include <tartan/http/request_writer.h>
#include <tartan/http/text.h>
#include <tartan/io/local.h>
#include <tartan/io/tcp.h>
#include <tartan/time/with_timeout.h>
#include <utility>

namespace tartan::http::detail {

namespace {

/// A body of up to so many bytes is sent before the answer is listened for.
constexpr int most_interim = 32;  // 1xx heads before an answer
constexpr std::size_t small_body_bytes = std::size_t{16} * 1024;

bool is_the_clients(std::string_view name) {
  for (const std::string_view each : {"Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect"}) {
    if (same_letters(name, each)) return true;
  }
  return false;
}

response_limits limits_of(const client_settings& with) {
  return {.head = with.most_head};
}

std::string origin_name(const url& to, const std::optional<address>& at) {
  return to.origin() + (at ? " at " + at->to_string() : std::string{});
}

}  // namespace

client_exchange::~client_exchange() {
  if (wire_ == nullptr) return;
  const bool is_over = has_head_ && body_ && body_->is_complete() && !body_->error();
  const bool may_go_on = is_over && has_sent_all_ && head_.keep_alive && head_.body != body_end::connection &&
                         head_.status != status::switching_protocols && wire_->received().empty();
  if (!may_go_on) return;
  wire_->received().release_room();
  on_.keep();
}

task<result<>> client_exchange::run(const client_request& what, bool is_fresh) {
  const color caller = current_color();
  method_ = method_of(what.method());
  parser_ = response_parser{limits_of(of_->settings)};
  piece_limit_ = what.piece_limit_.value_or(of_->settings.piece_limit);
  result<std::string> head = head_for(what);
  if (!head) co_return head.error();
  result<> done = co_await reach(what, is_fresh);
  if (!done) co_return done;
  co_await on(wire_->color());
  done = co_await talk(what, *std::move(head), caller);
  if (!done) co_return done;
  begin_body(what);
  co_return result<>{};
}

/// A connection, a kept one or a new one.
task<result<>> client_exchange::reach(const client_request& what, bool is_fresh) {
  result<lease> place =
      co_await with_timeout(of_->settings.wait_limit, pool::take(of_, origin_name(to_, what.at_), is_fresh));
  if (!place) co_return place.error();
  on_ = *std::move(place);
  if (on_.connection() != nullptr) {
    wire_ = on_.connection().get();
    co_await on(wire_->color());
    const result<> heard = wire_->try_fill();
    is_kept_ = !heard && heard.error() == std::errc::operation_would_block;
    if (is_kept_) co_return result<>{};
    wire_ = nullptr;  // it has ended, or says something that nobody has asked for
    on_.connection().reset();
  }
  co_await on(color::unordered);  // a color of its own
  result<any_stream> made = co_await with_timeout(of_->settings.connect_limit, connect(what));
  if (!made) co_return made.error();
  on_.connection() = std::make_unique<wire>();
  wire_ = on_.connection().get();
  wire_->open(*std::move(made));
  co_return result<>{};
}

task<result<any_stream>> client_exchange::connect(const client_request& what) {
  any_stream under;
  if (what.at_ && what.at_->is_unix()) {
    auto made = co_await local::connect(*what.at_);
    if (!made) co_return made.error();
    under = any_stream{*std::move(made)};
  } else if (what.at_) {
    auto made = co_await tcp::connect(*what.at_);
    if (!made) co_return made.error();
    under = any_stream{*std::move(made)};
  } else {
    auto made = co_await tcp::connect(of_->names(), to_.host, to_.port);
    if (!made) co_return made.error();
    under = any_stream{*std::move(made)};
  }
  if (!to_.secure) co_return under;
  const std::shared_ptr<tls::client> with = co_await pool::secure(of_);
  auto sealed = co_await with->connect(std::move(under), to_.host);
  if (!sealed) co_return sealed.error();
  co_return any_stream{*std::move(sealed)};
}

result<std::string> client_exchange::head_for(const client_request& what) const {
  std::string text;
  try {
    request_writer out{text, what.method(), to_.target, to_.authority()};
    if (!of_->settings.user_agent.empty() && !what.fields().has("User-Agent"))
      out.field("User-Agent", of_->settings.user_agent);
    for (const auto& [name, value] : what.fields()) {
      if (!is_the_clients(name)) out.field(name, value);
    }
    const bool has_body = what.from_ || !what.content_.empty();
    if (has_body && what.asks_first_) out.field("Expect", "100-continue");
    const bool is_usual = method_ == method::post || method_ == method::put || method_ == method::patch;
    if (what.from_ && !what.length_) {
      out.chunked();
    } else if (what.from_) {
      out.length(*what.length_);
    } else if (has_body || is_usual) {
      out.length(what.content_.size());
    } else {
      out.no_body();
    }
  } catch (const std::invalid_argument&) {
    return std::make_error_code(std::errc::invalid_argument);
  }
  return text;
}

/// The request, and its answer's head: at the same time, for a server need not take all of a body.
task<result<>> client_exchange::talk(const client_request& what, std::string head, color caller) {
  left_ = what.length_;
  is_chunked_ = what.from_ && !what.length_;
  buf::chain all;
  all.append(buf::slice{std::move(head)});
  if (what.asks_first_ && (what.from_ || !what.content_.empty())) {
    const result<> asked = co_await ask(std::exchange(all, {}));
    if (!asked || has_head_) co_return asked;
  }
  if (!what.from_) all.append(buf::slice::of_static(what.content_));  // the request lives until it is sent
  result<> sent;
  if (!what.from_ && what.content_.size() <= small_body_bytes) {
    sent = co_await wire_->send(std::move(all), piece_limit_);
  } else {
    auto first = co_await when_any(send_all(what, std::move(all), caller), hear_early());
    sent = first.index == 0 ? std::get<0>(first.value) : result<>{tartan::errc::canceled};
    if (first.index == 1 && !std::get<1>(first.value)) co_return std::get<1>(first.value);
  }
  has_sent_all_ = sent.has_value() && !is_torn_;
  const bool is_cut = !sent && (sent.error() == std::errc::broken_pipe || sent.error() == std::errc::connection_reset);
  const bool has_failed = !sent && !is_cut && static_cast<unsigned>(head_.status) < 300;
  if (has_head_) co_return has_failed ? sent : result<>{};  // an answer that has come early does not make up for that
  if (!sent && sent.error() != std::errc::broken_pipe && sent.error() != std::errc::connection_reset) co_return sent;
  // A server that has refused the body may have said why.
  const result<> heard = co_await hear_head(wire::in(of_->settings.head_limit));
  co_return heard || sent ? heard : sent;
}

/// Sends the head; success: the body is wanted, or the answer has come without it.
task<result<>> client_exchange::ask(buf::chain head) {
  const result<> sent = co_await wire_->send(std::move(head), piece_limit_);
  if (!sent) co_return sent;
  const result<> told = co_await hear_head(wire::in(of_->settings.ask_limit), true);
  const bool goes_on = told.error() == std::errc::interrupted || told.error() == tartan::errc::timed_out;
  co_return goes_on ? result<>{} : told;
}

task<result<>> client_exchange::send_all(const client_request& what, buf::chain first, color caller) {
  const result<> begun = co_await wire_->send(std::move(first), piece_limit_);
  if (!begun || !what.from_) co_return begun;
  upload into{*this};
  const result<> filled = co_await fill_upload(what, into, caller);
  if (!filled) co_return filled;
  if (left_ && *left_ != 0) co_return errc::truncated;
  if (!is_chunked_) co_return result<>{};
  buf::chain last;
  append_last_chunk(last);
  co_return co_await wire_->send(std::move(last), piece_limit_);
}

task<result<>> client_exchange::fill_upload(const client_request& what, upload& into, color caller) {
  co_await on(caller);
  co_return co_await what.from_(into);
}

task<result<>> client_exchange::write_piece(buf::chain piece) {
  co_await on(wire_->color());
  if (is_torn_) co_return tartan::errc::closed;
  if (left_ && piece.size() > *left_) co_return errc::too_large;
  if (left_) *left_ -= piece.size();
  if (piece.empty()) co_return result<>{};
  buf::chain all;
  if (is_chunked_) all.print(buf::hex{piece.size()}, "\r\n");
  all.append(std::move(piece));
  if (is_chunked_) all.print("\r\n");
  is_torn_ = true;  // until all of it has gone
  const result<> sent = co_await wire_->send(std::move(all), piece_limit_);
  if (sent) is_torn_ = false;
  co_return sent;
}

/// While a body is being sent: ends if its sending need not go on.
task<result<>> client_exchange::hear_early() {
  const result<> heard = co_await hear_head(wire::time_point::max());
  if (heard && static_cast<unsigned>(head_.status) < 300) co_await stop_requested();
  co_return heard;
}

task<result<>> client_exchange::hear_head(wire::time_point until, bool stops_at_continue) {
  for (int interim = 0;; ++interim) {
    if (interim > most_interim) co_return errc::malformed;
    parser_.reset(method_);
    for (;;) {
      const response_parser::outcome found = parser_.parse(wire_->received(), head_bytes_, head_);
      if (found == response_parser::outcome::complete) break;
      if (found == response_parser::outcome::refused) co_return errc::malformed;
      const result<> more = co_await wire_->fill(until);
      if (!more && more.error() == tartan::errc::end_of_stream)
        co_return has_heard_ ? errc::truncated : errc::no_answer;
      if (!more) co_return more;
      has_heard_ = true;
    }
    if (!head_.is_interim()) break;
    if (stops_at_continue && head_.status == status::continue_sending)
      co_return std::make_error_code(std::errc::interrupted);
  }
  has_head_ = true;
  co_return result<>{};
}

void client_exchange::begin_body(const client_request& what) {
  fields_ = field_list{head_.fields};
  body_reader reader;
  reader.begin(head_);
  body_.emplace(*wire_, body_stream::settings{.reader = reader,
                                              .most = std::numeric_limits<std::uint64_t>::max(),
                                              .piece_limit = what.piece_limit_.value_or(of_->settings.piece_limit)});
}

task<result<server_event>> client_exchange::next_event() {
  std::array<char, 4096> room;
  for (;;) {
    if (std::optional<server_event> next = events_.next()) co_return *std::move(next);
    if (events_.is_full()) co_return make_error_code(errc::too_large);
    const result<std::size_t> got = co_await body_->read_some(std::as_writable_bytes(std::span{room}));
    if (!got) co_return got.error();
    events_.add({room.data(), *got});
  }
}

}  // namespace tartan::http::detail

namespace tartan::http {

task<result<>> upload::write(const_bytes piece) {
  buf::chain all;
  // The caller keeps the bytes until they have left.
  if (piece.size() != 0) all.append(buf::slice::of_static({reinterpret_cast<const char*>(piece.data()), piece.size()}));
  co_return co_await of_->write_piece(std::move(all));
}

task<result<>> upload::write(buf::chain piece) {
  return of_->write_piece(std::move(piece));
}

}  // namespace tartan::http
