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
// (read_buffer). Responses are short, but for those that the kernel sends from the disk: copied into one string, many leave with one
// write, and need no slice each. A server that hands bodies on, or writes more than its peers read, wants buf::chain and its marks.
#include "connection.h"

#include <tartan/core/await_blocking.h>
#include <tartan/core/hints.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <span>
#include <utility>

#include "header_lines.h"
#include "keep_fresh.h"
#include "precondition.h"

namespace web {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_gathered = 64 * 1024;  // bytes of responses, then they are written before the next is added
constexpr std::size_t sent_unasked = 8 * 1024;    // bytes of responses that the kernel surely takes at once
constexpr std::size_t most_kept = 512 * 1024;     // of the one that a worker keeps: few pages are that large
constexpr std::size_t piece = 256 * 1024;         // of a response, for which the write timeout counts
constexpr std::size_t sealed_piece = 32 * 1024;   // of a file, while TLS seals it: what a slow reader costs
constexpr auto linger_for = 2s;                   // while the peer sends nothing
constexpr auto most_lingering = 30s;
constexpr auto hurry = 1s;                        // instead, once the server is to end; also for a head that has begun

/// Without the port; "-" if the peer is gone already, or has no address.
std::string host_of(const tartan::result<tartan::address>& peer) {
  std::string text = peer ? peer->to_string() : std::string{};
  if (peer && peer->is_ip()) text.erase(text.rfind(':'));
  if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
  return text.empty() ? "-" : text;
}

}  // namespace

connection::connection(std::shared_ptr<site> of, tartan::tcp::stream peer, std::shared_ptr<const tls_certificates> certificates)
    : site_{std::move(of)}, color_{peer.color()}, peer_{std::move(peer)},
      tls_{certificates != nullptr ? std::make_unique<tls_stream>(std::move(certificates), peer_) : nullptr},
      parser_{site_->settings.requests}, body_{site_->settings.requests.body}, timer_{site_->runtime, color_} {}

tartan::task<> connection::run() {
  now_ = site_->runtime.now();
  bool may_begin = true;
  if (tls_ != nullptr) may_begin = co_await begin_tls();
  if (!may_begin) co_return co_await linger(hurry);  // who speaks no TLS understands no answer
  for (;;) {
    const stop next = answer();
    if (next == stop::library) co_await fetch();
    if (!log_.empty()) site_->log->add(std::exchange(log_, {}));
    if (next == stop::library && large_ == nullptr) continue;
    if (tls_ != nullptr) {
      const bool sent = co_await send_text(out_);
      if (!sent) co_return leave_buffer();
      out_.clear();
    }
    for (std::string_view rest = out_; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {  // send_text, without a frame of its own
      enter(phase::sending);
      if (!co_await peer_.write(rest.substr(0, piece))) co_return leave_buffer();
      now_ = site_->runtime.now();  // much later, if the peer is slow
    }
    sent_ += out_.size();
    if (large_ != nullptr || sent_ > sent_unasked) lingers_ = true;
    out_.clear();
    if (large_ != nullptr) leave_buffer();
    if (large_ != nullptr && !co_await send_large()) co_return;
    if (next == stop::end && may_close_at_once()) co_return leave_buffer();
    if (next_site_ != nullptr) site_ = std::move(next_site_);
    if (ending_ || (draining_ && next == stop::input && !parser_.has_begun())) break;
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
    } else if (timed_out_ && phase_ == phase::head) {
      refuse(status::request_timeout);
    } else {
      break;  // its time is up, or the server's
    }
  }
  leave_buffer();
  if (tls_ != nullptr) {
    enter(phase::sending);
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
  if (phase_ == phase::file || phase_ == phase::sending) return;
  // Where what is canceled has just ended, the next wait of the same operation may begin: it has no longer than that, either.
  deadline_ = std::min(deadline_, site_->runtime.now() + hurry);
  watch();
  if (phase_ == phase::idle || phase_ == phase::body) peer_.cancel();  // all that was asked is answered
}

void connection::renew(std::shared_ptr<site> with) noexcept {
  next_site_ = std::move(with);
  if (phase_ != phase::file && phase_ != phase::sending) site_ = std::move(next_site_);
}

/// Answers what is there, as far as that needs no waiting.
connection::stop connection::answer() {
  for (;;) {
    if (ending_) return stop::end;
    if (out_.size() >= most_gathered) return stop::output;
    const request_body::outcome body = body_.drop_from(in_);
    if (body == request_body::outcome::refused) {
      ending_ = true;  // the request is answered already; where the next one begins is not known
      return stop::end;
    }
    if (body == request_body::outcome::incomplete || in_.empty()) return stop::input;
    switch (parser_.parse(in_.text(), request_)) {
      case request_parser::outcome::incomplete:
        return stop::input;
      case request_parser::outcome::refused:
        refuse(parser_.error());
        break;
      case request_parser::outcome::complete:
        asked_ = true;
        asked_for_end_ = !request_.keep_alive && (request_.method == method::get || request_.method == method::head);
        if (!answer_request()) return stop::library;
        break;
    }
  }
}

/// Gives false if the library has to be asked: the worker has no page, or an old one, under target_.
bool connection::answer_request() {
  if (out_.empty()) take_buffer();
  response_at_ = out_.size();
  // Whoever waits for "100 Continue" gets the answer instead, and may then send the body or not: nobody could tell.
  if (request_.expects_continue) request_.keep_alive = false;
  if (request_.method == method::known || request_.method == method::unknown) {
    answer_status(request_.method == method::known ? status::method_not_allowed : status::not_implemented);
    return true;
  }
  const target_result target = path_of(request_.target, decoded_);
  target_ = target.found;
  host_ = &site_->host_of(site_->has_several_hosts() ? host_name() : std::string_view{});
  if (target.error) return answer_failure(*target.error);
  as_ = coding::identity;
  gone_ = {};
  takes_siblings_ = !request_.asks_for_range;  // of parts that are sent together, each would have to say its coding
  const page* const known = current(target_.path);
  return known != nullptr && answer_best(*known);
}

/// What the client calls the server; in the target that counts, not the header (RFC 9112, 3.2.2).
std::string_view connection::host_name() const { return !target_.host.empty() ? target_.host : header_lines{request_.fields}.only("Host"); }

/// The worker's, of the host that is asked.
page_cache& connection::kept_pages() { return site_->stores.local().pages[host_->index]; }

/// What the worker has under a key; null if that is too old.
const page* connection::current(std::string_view key) {
  page_cache::entry* const known = kept_pages().find(key);
  const library_settings& with = site_->settings.pages;
  if (known == nullptr || now_ - known->checked >= with.recheck) return nullptr;
  if (with.is_due(known->checked, now_)) [[unlikely]] keep_fresh(site_, *host_, *known, now_);
  return known->content.get();
}

/// With the file, or with a sibling that the client likes better. Gives false if the library has to be asked for that.
bool connection::answer_best(const page& what, const std::shared_ptr<const file>& large) {
  const coding_set there = takes_siblings_ ? what.siblings.without(gone_) : coding_set{};
  if (!there.empty()) as_ = best_coding(header_lines{request_.fields}, there);
  if (as_ == coding::identity) {
    if (what.is_large() && large == nullptr) return false;
    answer_page(what, large);
    return true;
  }
  sibling_key_ = key_of(target_.path, as_);
  const page* const sibling = current(sibling_key_);
  if (sibling == nullptr || sibling->is_large()) return false;
  answer_page(*sibling);
  return true;
}

response_form connection::form() {
  if (draining_) request_.keep_alive = false;
  return {site_->stores.local().date.text(), request_.keep_alive, request_.http_1_0, request_.method != method::head};
}

/// `large`: whose body is sent from the disk.
void connection::answer_page(const page& what, const std::shared_ptr<const file>& large) {
  const header_lines fields{request_.fields};
  const validators known{what.tag, what.modified};
  if (request_.is_conditional) {
    const status wanted = check_preconditions(fields, known);
    if (wanted == status::precondition_failed) return answer_status(wanted);
    if (wanted == status::not_modified) {
      append_not_modified(out_, what, form());
      return end_request(wanted);
    }
  }
  if (request_.asks_for_range && range_counts(fields, known, std::time(nullptr))) {
    const byte_ranges asked{fields.only("Range"), what.size};
    if (asked.what() != byte_ranges::outcome::whole) return answer_parts(what, asked, large);
  }
  append_page(out_, what, form());
  if (large != nullptr) send_behind(large, what.size);
  end_request(status::ok);
}

/// All of a file, if its body is wanted.
void connection::send_behind(const std::shared_ptr<const file>& large, std::uint64_t size) {
  if (request_.method == method::head) return;
  large_ = large;
  large_parts_.assign(1, {0, size});
  large_frame_.assign(2, {});
}

void connection::answer_parts(const page& what, const byte_ranges& asked, const std::shared_ptr<const file>& large) {
  if (asked.what() == byte_ranges::outcome::unsatisfiable) {
    append_not_satisfiable(out_, what, form());
    return end_request(status::range_not_satisfiable);
  }
  append_parts(out_, what, asked.parts(), new_boundary(), form(), large_frame_);
  large_ = large;
  large_parts_.assign(asked.parts().begin(), asked.parts().end());
  end_request(status::partial_content);
}

void connection::answer_status(status s) {
  append_status(out_, s, form());
  end_request(s);
}

void connection::end_request(status answered) {
  if (site_->log != nullptr) log(answered);
  if (!request_.keep_alive) ending_ = true;
  body_.begin(request_);
  in_.drop(request_.head_size);
  parser_.reset();
}

/// It is no request: says why, and ends.
void connection::refuse(status why) {
  if (out_.empty()) take_buffer();
  request_ = {};
  if (parser_.asks_for_head(in_.text())) request_.method = method::head;
  response_at_ = out_.size();
  append_status(out_, why, form());
  if (site_->log != nullptr) log(why);
  ending_ = true;
}

/// Adds a line for the last response. Its request is still at the front of in_.
void connection::log(status answered) {
  if (client_.empty()) client_ = host_of(peer_.peer_address());
  std::string_view line = in_.text();
  line.remove_prefix(std::min(line.find_first_not_of("\r\n"), line.size()));
  const std::string_view response = std::string_view{out_}.substr(response_at_);
  std::uint64_t bytes = response.size() - (response.find("\r\n\r\n") + 4);
  if (large_ != nullptr) {
    for (const std::string& each : large_frame_) bytes += each.size();
    for (const byte_range& each : large_parts_) bytes += each.size;
  }
  const header_lines fields{request_.fields};
  append(log_, {client_, site_->stores.local().date.local(), line.substr(0, line.find_first_of("\r\n")), static_cast<unsigned>(answered), bytes,
                fields.only("Referer"), fields.only("User-Agent")});
}

/// What the library is to be asked for.
std::string_view connection::wanted_key() const {
  if (error_ != status::ok) return host_->error_pages.at(error_);
  return as_ == coding::identity ? target_.path : std::string_view{sibling_key_};
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

/// Gives false if the library has to be asked for something else.
bool connection::answer_finding(const finding& found) {
  if (found.code == status::ok) {
    kept_pages().put(wanted_key(), found.content, found.checked);  // of a large one, what it is known by
  } else {
    kept_pages().drop(wanted_key());
  }
  if (error_ != status::ok) {
    answer_error(found.content.get(), found.large);
  } else if (found.code == status::ok) {
    if (as_ == coding::identity) return answer_best(*found.content, found.large);
    answer_page(*found.content, found.large);
  } else if (as_ != coding::identity) {
    gone_.add(as_);
    as_ = coding::identity;
    return false;
  } else if (found.code == status::moved_permanently) {
    append_redirect(out_, target_, form());
    end_request(status::moved_permanently);
  } else {
    return answer_failure(found.code);
  }
  return true;
}

/// With the host's own page, if it has one for that. Gives false if the library has to be asked for it.
bool connection::answer_failure(status why) {
  if (!host_->error_pages.contains(why)) {
    answer_status(why);
    return true;
  }
  error_ = why;
  const page* const known = current(wanted_key());
  if (known == nullptr || known->is_large()) return false;
  answer_error(known);
  return true;
}

/// `what`: null if there is none.
void connection::answer_error(const page* what, const std::shared_ptr<const file>& large) {
  const status why = std::exchange(error_, status::ok);
  if (what == nullptr) return answer_status(why);
  append_error_page(out_, why, *what, form());
  if (large != nullptr) send_behind(large, what->size);
  end_request(why);
}

/// Sends parts of a file, with what stands around them.
tartan::task<bool> connection::send_large() {
  const std::shared_ptr<const file> sent = std::move(large_);
  for (std::size_t n = 0; n < large_parts_.size(); ++n) {
    const bool is_framed = co_await send_text(large_frame_[n]);
    if (!is_framed) co_return false;
    for (byte_range rest = large_parts_[n]; rest.size != 0;) {
      const byte_range next{rest.first, std::min<std::uint64_t>(piece, rest.size)};
      enter(phase::sending);
      bool went = false;
      if (tls_ != nullptr) {
        went = co_await send_sealed(*sent, next);
      } else {
        went = co_await send_part(*sent, next);
      }
      if (!went) co_return false;
      now_ = site_->runtime.now();
      rest = {rest.first + next.size, rest.size - next.size};
    }
  }
  co_return co_await send_text(large_frame_.back());
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
  for (const time end = now_ + most; now_ < end; now_ = site_->runtime.now()) {
    enter(phase::lingering);
    deadline_ = std::min(deadline_, end);
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
  timed_out_ = false;
  const auto limit = [&]() -> std::chrono::milliseconds {
    switch (next) {
      case phase::head: return draining_ ? std::min<std::chrono::milliseconds>(limits.header, hurry) : limits.header;
      case phase::idle: return asked_ ? limits.idle : limits.header;  // nobody connects in order to wait
      case phase::body: return limits.idle;
      case phase::lingering: return draining_ ? hurry : linger_for;
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
    case phase::sending:
      static_cast<void>(peer_.set_reset_on_close(true));  // else the kernel keeps what was not read
      [[fallthrough]];
    case phase::lingering:
      return peer_.close();
  }
}

}  // namespace web
