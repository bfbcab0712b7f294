#include "web/exchange.h"

#include <tartan/http/forwarded_for.h>
#include <tartan/http/header_lines.h>
#include <tartan/http/precondition.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "web/address_family.h"
#include "web/keep_fresh.h"
#include "web/log_line.h"
#include "web/sibling.h"
#include "web/site.h"

namespace web {

namespace {

// What a client that does not read costs: the first two, and as much again until the string has the size that is needed.
constexpr std::size_t most_gathered = 8 * 1024;   // bytes of responses, then they are written before the next is added
constexpr std::size_t most_copied = 4 * 1024;     // bytes of a page; a longer one is sent from where it is

/// "-" if the peer is gone already, or has no address.
std::string host_of(const tartan::result<tartan::address>& peer) {
  const std::string text = peer ? host_text(*peer) : std::string{};
  return text.empty() ? "-" : text;
}

/// The file of a page that is current: null for one that is in memory. Nothing: it is not open, or was written to.
std::optional<large_file> at_hand(const page& what) noexcept {
  if (!what.is_large()) return large_file{};
  large_file large = what.large.lock();
  if (large == nullptr || !large->is_as_it_was()) return std::nullopt;
  large->note_use();
  return large;
}

}  // namespace

exchange::stop exchange::answer() {
  store_ = &with_->site->stores.local();
  for (;;) {
    if (with_->ending) return stop::end;
    if (out.text.size() >= most_gathered || out.has_more()) return stop::output;
    if (with_->draining && !with_->has_looked) [[unlikely]] in.add(with_->look_again(in.room()));
    const request_body::outcome body = body_.drop_from(in);
    if (body == request_body::outcome::refused) {
      refuse(body_.error());
      continue;
    }
    if (body == request_body::outcome::incomplete) return stop::input;
    if (!held_.empty()) {
      take_held();
    } else {
      if (in.empty()) return stop::input;
      const http::request_parser::outcome head = parser_.parse(in.text(), request_);
      if (head == http::request_parser::outcome::incomplete) return stop::input;
      if (head == http::request_parser::outcome::refused) {
        refuse(parser_.error());
        continue;
      }
      if (request_.has_body() && !is_answered_without_body()) {
        hold_request();
        continue;
      }
    }
    with_->asked = true;
    with_->asked_for_end = !request_.keep_alive && (request_.method == http::method::get || request_.method == http::method::head);
    if (!answer_request()) return stop::library;
  }
}

/// A client that waits for "100 Continue", with a body that is not wanted, gets the answer instead. Nobody can tell whether the body comes then, so the
/// connection ends.
bool exchange::is_answered_without_body() noexcept {
  if (!request_.expects_continue || request_.method == http::method::get || request_.method == http::method::head) return false;
  request_.keep_alive = false;
  return true;
}

/// The answer waits for the end of the body, which may show that this is no request.
void exchange::hold_request() {
  const std::string_view sent = in.text();
  held_.assign(sent.substr(0, request_.head_size));
  if (request_.expects_continue && sent.size() == request_.head_size) {  // else it does not wait
    if (out.text.empty()) out.take_buffer(*store_);
    append_continue(out.text);
  }
  body_.begin(request_);
  in.drop(request_.head_size);
  parser_.reset();
}

/// The head was complete when it came, by the limits of that time: a reload changes nothing about that.
void exchange::take_held() {
  static_cast<void>(parser_.parse(held_, request_));
  parser_.reset();  // for the next head; a later search for one of these lines scans them again
}

/// Gives false if the library has to be asked: the worker has no page under the target, or an old one.
bool exchange::answer_request() {
  begin_response();
  const http::target_result target = http::path_of(request_.target, decoded_);
  target_ = target.found;
  host_ = &with_->site->host_of(with_->site->has_several_hosts() ? host_name() : std::string_view{});
  if (request_.method != http::method::get && request_.method != http::method::head) {
    answer_status(request_.method == http::method::other ? http::status::not_implemented : http::status::method_not_allowed);
    return true;
  }
  const bool is_target = target.error != http::status::bad_request;
  const bool is_challenge = target_.path.starts_with("/.well-known/acme-challenge/");
  if (is_target && host_->https_only && !with_->peer.is_sealed() && !is_challenge) return send_to_tls(), true;
  if (target.error) return answer_failure(*target.error);
  if (target_.is_hidden && !host_->root.shows_hidden()) return answer_failure(http::status::not_found);
  as_ = http::coding::identity;
  gone_ = {};
  const shared_page* const known = current(target_.path);
  return known != nullptr && answer_best(*known);
}

void exchange::send_to_tls() {
  std::string_view name = host_name();
  name = name.substr(0, name.starts_with('[') ? name.find(']') + 1 : name.find(':'));
  if (!host_->name.empty() && !with_->site->knows(name)) name = host_->name;  // nobody can make others be sent elsewhere
  if (name.empty()) return answer_status(http::status::forbidden);
  append_redirect(out.text, std::string{"https://"}.append(name).append(target_.sent).append(target_.query), form_of_no_page());
  end_request(http::status::moved_permanently);
}

/// What the client calls the server. A host in the target goes before the Host field (RFC 9112, 3.2.2).
std::string_view exchange::host_name() const {
  const std::string_view sent = target_.host;
  return !sent.empty() ? sent : request_.fields.only("Host");
}

/// The worker's pages of the host that is asked.
page_cache& exchange::kept_pages() {
  assert(store_ == &with_->site->stores.local());  // after a wait it may be another worker's
  return store_->pages[host_->index];
}

/// The worker's page under a key; null if there is none, or it is too old.
const shared_page* exchange::current(std::string_view key) {
  page_cache::entry* const known = kept_pages().find(key);
  const library_settings& with = with_->site->settings.pages;
  if (known == nullptr || with_->now - known->checked >= with.fresh_for(*known->content)) return nullptr;
  // It was left on the disk, and there may be room in memory by now.
  const bool may_be_read = known->content->is_large() && known->content->size <= host_->pages.largest_page();
  if (may_be_read) [[unlikely]] keep_fresh(with_->site, *host_, *known, with_->now, std::chrono::seconds{1});
  if (with.is_due(known->checked, with_->now)) [[unlikely]] keep_fresh(with_->site, *host_, *known, with_->now, with.pause());
  return &known->content;
}

/// Answers with the page, or with a sibling that the client prefers. Gives false if the library has to be asked for that.
bool exchange::answer_best(const shared_page& what, large_file large) {
  const http::coding_set there = what->siblings.without(gone_);
  if (!there.empty()) as_ = http::best_coding(request_.fields, there);
  if (as_ == http::coding::identity) {
    if (large != nullptr) return answer_page(what, std::move(large)), true;
    return answer_at_hand(what);
  }
  sibling_key_ = key_of(target_.path, as_);
  const shared_page* const sibling = current(sibling_key_);
  return sibling != nullptr && answer_at_hand(*sibling);
}

/// Gives false if the library has to be asked for its file.
bool exchange::answer_at_hand(const shared_page& what) {
  std::optional<large_file> large = at_hand(*what);
  if (large) answer_page(what, std::move(*large));
  return large.has_value();
}

/// Whether the server drains and the client has sent nothing behind the request that is being answered. Bytes that came after
/// look_again do not count: a client that goes on sending would never be told that the connection ends.
bool exchange::is_last_of_drain() const noexcept {
  if (!with_->draining) return false;
  std::string_view behind = in.text();
  if (held_.empty()) behind.remove_prefix(std::min(request_.head_size, behind.size()));
  behind.remove_suffix(std::min(with_->behind_look, behind.size()));
  return behind.find_first_not_of("\r\n") == std::string_view::npos;
}

response_form exchange::form() {
  if (with_->leaves || is_last_of_drain()) request_.keep_alive = false;
  return {store_->date.text(), request_.keep_alive, request_.http_1_0, request_.method != http::method::head};
}

/// The host is known.
response_form exchange::form_of_no_page() {
  response_form with = form();
  with.headers = host_->https_only && !with_->peer.is_sealed() ? host_->headers_before_tls : host_->headers;
  return with;
}

/// The ranges that the client asks for, if they are of this version of the page.
http::byte_ranges exchange::ranges_of(const page& what) const {
  const http::header_lines& fields = request_.fields;
  const bool counts = http::range_counts(fields, {what.tag, what.modified}, std::time(nullptr));
  const http::byte_ranges asked{counts ? fields.only("Range") : std::string_view{}, what.size};
  const bool is_possible = what.as == http::coding::identity || asked.parts().size() <= 1;  // see append_parts
  return is_possible ? asked : http::byte_ranges{{}, what.size};
}

/// `large`: the file whose body is sent from the disk; null: the body is in the page.
void exchange::answer_page(const shared_page& what, large_file large) {
  const http::header_lines& fields = request_.fields;
  const http::validators known{what->tag, what->modified};
  if (request_.is_conditional) {
    const http::status wanted = http::check_preconditions(fields, known);
    if (wanted == http::status::precondition_failed) return answer_status(wanted);
    if (wanted == http::status::not_modified) {
      append_not_modified(out.text, *what, form());
      return end_request(wanted);
    }
  }
  if (request_.asks_for_range) {
    const http::byte_ranges asked = ranges_of(*what);
    if (asked.what() != http::byte_ranges::outcome::whole) return answer_parts(what, asked, std::move(large));
  }
  const bool is_apart = large != nullptr || what->size > most_copied;
  append_page(out.text, *what, form(), is_apart);
  if (is_apart) send_all_behind(what, std::move(large));
  end_request(http::status::ok);
}

/// Sends parts of a page behind the text, if a body is wanted; out.frame has what stands around them.
void exchange::send_behind(const shared_page& what, large_file large, std::span<const http::byte_range> parts) {
  if (request_.method == http::method::head) return;
  if (large == nullptr) out.kept = what;
  out.large = std::move(large);
  out.parts.assign(parts.begin(), parts.end());
}

void exchange::send_all_behind(const shared_page& what, large_file large) {
  out.frame.assign(2, {});
  send_behind(what, std::move(large), std::array{http::byte_range{0, what->size}});
}

void exchange::answer_parts(const shared_page& what, const http::byte_ranges& asked, large_file large) {
  if (asked.what() == http::byte_ranges::outcome::unsatisfiable) {
    append_not_satisfiable(out.text, *what, form_of_no_page());
    return end_request(http::status::range_not_satisfiable);
  }
  const std::span<const http::byte_range> parts = asked.parts();
  append_parts(out.text, *what, parts, parts.size() > 1 ? new_boundary() : std::string{}, form(), out.frame);
  send_behind(what, std::move(large), parts);
  end_request(http::status::partial_content);
}

void exchange::answer_status(http::status s) {
  append_status(out.text, s, form_of_no_page());
  end_request(s);
}

void exchange::end_request(http::status answered) {
  if (with_->site->log != nullptr) log(answered);
  if (!request_.keep_alive) with_->ending = true;
  if (!held_.empty()) return drop_held();
  in.drop(request_.head_size);
  parser_.reset();
}

void exchange::begin_response() {
  if (out.text.empty()) out.take_buffer(*store_);
  response_at_ = out.text.size();
}

void exchange::refuse(http::status why) {
  const bool is_head = held_.empty() ? parser_.asks_for_head(in.text()) : request_.method == http::method::head;
  request_ = {};
  if (is_head) request_.method = http::method::head;
  begin_response();
  append_status(out.text, why, form());
  if (with_->site->log != nullptr) log(why);
  with_->ending = true;
}

void exchange::refuse_plain_http() {
  request_ = {};
  begin_response();
  append_plain_http(out.text, form());
  if (with_->site->log != nullptr) log(http::status::bad_request);
  with_->ending = true;
}

/// The client's address, for the log.
std::string exchange::client_text() {
  if (with_->is_proxied) {
    const std::optional<http::ip_address> told = http::forwarded_client(request_.fields, with_->site->settings.proxies.trusted);
    if (told) return told->to_string();
  }
  if (with_->client.empty()) with_->client = host_of(with_->peer.socket().peer_address());
  return with_->client;
}

/// Adds a line for the last response. Its request is held, or still at the front of in.
void exchange::log(http::status answered) {
  const std::string client = client_text();
  std::string_view line = held_.empty() ? in.text() : held_;
  line.remove_prefix(std::min(line.find_first_not_of("\r\n"), line.size()));
  const std::string_view response = std::string_view{out.text}.substr(response_at_);
  std::uint64_t bytes = response.size() - (response.find("\r\n\r\n") + 4);
  bytes += out.bytes_behind();
  const http::header_lines& fields = request_.fields;
  append(log_, {client, store_->local_time.text(), line.substr(0, line.find_first_of("\r\n")), static_cast<unsigned>(answered), bytes,
                fields.only("Referer"), fields.only("User-Agent")});
}

/// What the library is to be asked for.
std::string_view exchange::wanted_key() const {
  if (error_ != http::status::ok) return host_->error_pages.at(error_);
  return as_ == http::coding::identity ? target_.path : std::string_view{sibling_key_};
}

bool exchange::answer_finding(const finding& found) {
  if (found.code == http::status::ok) {
    kept_pages().put(wanted_key(), found.content, found.checked);  // of a large one, what it is known by, and the way to its file
  } else {
    kept_pages().drop(wanted_key());
  }
  if (error_ != http::status::ok) {
    answer_error(found.content, found.large);
  } else if (found.code == http::status::ok) {
    if (as_ == http::coding::identity) return answer_best(found.content, found.large);
    answer_page(found.content, found.large);
  } else if (as_ != http::coding::identity) {
    gone_.add(as_);
    as_ = http::coding::identity;
    return false;
  } else if (found.code == http::status::moved_permanently) {
    append_redirect(out.text, std::string{target_.sent}.append("/").append(target_.query), form_of_no_page());
    end_request(http::status::moved_permanently);
  } else if (found.code == http::status::not_found && falls_back()) {
    return answer_fallback();
  } else {
    return answer_failure(found.code);
  }
  return true;
}

/// Whether a path without a file is one of a program in the browser. A name with a dot is a file's: a script that is missing is
/// better a 404 than a page. What lies below /.well-known/ is asked for by programs, which take a page for an answer.
bool exchange::falls_back() const noexcept {
  const std::string_view path = target_.path;
  const bool is_file = path.find('.', path.rfind('/')) != std::string_view::npos;
  return !host_->fallback.empty() && path != host_->fallback && !is_file && !path.starts_with("/.well-known/");
}

/// From here on the fallback is what is asked for. Gives false if the library has to be asked for it.
bool exchange::answer_fallback() {
  target_.path = host_->fallback;
  const shared_page* const known = current(target_.path);
  return known != nullptr && answer_best(*known);
}

/// Answers with the host's own page for a status, if there is one. Gives false if the library has to be asked for it.
bool exchange::answer_failure(http::status why) {
  if (!host_->error_pages.contains(why)) {
    answer_status(why);
    return true;
  }
  error_ = why;
  const shared_page* const known = current(wanted_key());
  std::optional<large_file> large = known != nullptr ? at_hand(**known) : std::nullopt;
  if (large) answer_error(*known, std::move(*large));
  return large.has_value();
}

/// `what`: null if the host's page cannot be had.
void exchange::answer_error(const shared_page& what, large_file large) {
  const http::status why = std::exchange(error_, http::status::ok);
  if (what == nullptr) return answer_status(why);
  const bool is_apart = large != nullptr || what->size > most_copied;
  append_error_page(out.text, why, *what, form_of_no_page(), is_apart);
  if (is_apart) send_all_behind(what, std::move(large));
  end_request(why);
}

}  // namespace web
