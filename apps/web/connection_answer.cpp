// From a request to its response, as far as that needs no waiting: what has to be waited for is done by connection.cpp.
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
#include "web/connection.h"
#include "web/keep_fresh.h"
#include "web/log_line.h"
#include "web/sibling.h"

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

/// Answers what is there, as far as that needs no waiting.
connection::stop connection::answer() {
  exchange_->store = &site_->stores.local();
  for (;;) {
    if (ending_) return stop::end;
    if (exchange_->out.size() >= most_gathered || has_more_to_send()) return stop::output;
    if (draining_ && !has_looked_) [[unlikely]] look_again(exchange_->in.room());
    const request_body::outcome body = exchange_->body.drop_from(exchange_->in);
    if (body == request_body::outcome::refused) {
      refuse(exchange_->body.error());
      continue;
    }
    if (body == request_body::outcome::incomplete) return stop::input;
    if (!exchange_->held.empty()) {
      take_held();
    } else {
      if (exchange_->in.empty()) return stop::input;
      const http::request_parser::outcome head = exchange_->parser.parse(exchange_->in.text(), exchange_->request);
      if (head == http::request_parser::outcome::incomplete) return stop::input;
      if (head == http::request_parser::outcome::refused) {
        refuse(exchange_->parser.error());
        continue;
      }
      if (exchange_->request.has_body() && !is_answered_without_body()) {
        hold_request();
        continue;
      }
    }
    asked_ = true;
    asked_for_end_ = !exchange_->request.keep_alive && (exchange_->request.method == http::method::get || exchange_->request.method == http::method::head);
    if (!answer_request()) return stop::library;
  }
}

/// Whoever waits to be told that it may go on with a body that nobody wants gets the answer instead, and may then send the body or not: nobody
/// could tell which.
bool connection::is_answered_without_body() noexcept {
  if (!exchange_->request.expects_continue || exchange_->request.method == http::method::get || exchange_->request.method == http::method::head) return false;
  exchange_->request.keep_alive = false;
  return true;
}

/// Its answer waits for the end of its body: what comes there may show that it is no request.
void connection::hold_request() {
  const std::string_view sent = exchange_->in.text();
  exchange_->held.assign(sent.substr(0, exchange_->request.head_size));
  if (exchange_->request.expects_continue && sent.size() == exchange_->request.head_size) {  // else it does not wait
    if (exchange_->out.empty()) take_buffer();
    append_continue(exchange_->out);
  }
  exchange_->body.begin(exchange_->request);
  exchange_->in.drop(exchange_->request.head_size);
  exchange_->parser.reset();
}

/// It was complete when it came; and is by the limits of then, whatever a reload has brought.
void connection::take_held() {
  static_cast<void>(exchange_->parser.parse(exchange_->held, exchange_->request));
  exchange_->parser.reset();  // for the next head; who looks for one of these lines reads them again
}

/// Gives false if the library has to be asked: the worker has no page, or an old one, under target.
bool connection::answer_request() {
  if (exchange_->out.empty()) take_buffer();
  exchange_->response_at = exchange_->out.size();
  const http::target_result target = http::path_of(exchange_->request.target, exchange_->decoded);
  exchange_->target = target.found;
  exchange_->host = &site_->host_of(site_->has_several_hosts() ? host_name() : std::string_view{});
  if (exchange_->request.method != http::method::get && exchange_->request.method != http::method::head) {
    answer_status(exchange_->request.method == http::method::other ? http::status::not_implemented : http::status::method_not_allowed);
    return true;
  }
  const bool is_target = target.error != http::status::bad_request;
  const bool is_challenge = exchange_->target.path.starts_with("/.well-known/acme-challenge/");
  if (is_target && exchange_->host->https_only && tls_ == nullptr && !is_challenge) return send_to_tls(), true;
  if (target.error) return answer_failure(*target.error);
  if (exchange_->target.is_hidden && !exchange_->host->root.shows_hidden()) return answer_failure(http::status::not_found);
  exchange_->as = http::coding::identity;
  exchange_->gone = {};
  const shared_page* const known = current(exchange_->target.path);
  return known != nullptr && answer_best(*known);
}

void connection::send_to_tls() {
  std::string_view name = host_name();
  name = name.substr(0, name.starts_with('[') ? name.find(']') + 1 : name.find(':'));
  if (!exchange_->host->name.empty() && !site_->knows(name)) name = exchange_->host->name;  // nobody can make others be sent elsewhere
  if (name.empty()) return answer_status(http::status::forbidden);
  append_redirect(exchange_->out, std::string{"https://"}.append(name).append(exchange_->target.sent).append(exchange_->target.query), form_of_no_page());
  end_request(http::status::moved_permanently);
}

/// What the client calls the server; in the target that counts, not the header (RFC 9112, 3.2.2).
std::string_view connection::host_name() const {
  const std::string_view sent = exchange_->target.host;
  return !sent.empty() ? sent : exchange_->request.fields.only("Host");
}

/// The worker's, of the host that is asked.
page_cache& connection::kept_pages() {
  assert(exchange_->store == &site_->stores.local());  // after a wait it may be another worker's
  return exchange_->store->pages[exchange_->host->index];
}

/// What the worker has under a key; null if that is too old.
const shared_page* connection::current(std::string_view key) {
  page_cache::entry* const known = kept_pages().find(key);
  const library_settings& with = site_->settings.pages;
  if (known == nullptr || now_ - known->checked >= with.fresh_for(*known->content)) return nullptr;
  // It was left on the disk, and there may be room in memory by now.
  const bool may_be_read = known->content->is_large() && known->content->size <= exchange_->host->pages.largest_page();
  if (may_be_read) [[unlikely]] keep_fresh(site_, *exchange_->host, *known, now_, std::chrono::seconds{1});
  if (with.is_due(known->checked, now_)) [[unlikely]] keep_fresh(site_, *exchange_->host, *known, now_, with.pause());
  return &known->content;
}

/// With the page, or with a sibling that the client likes better. Gives false if the library has to be asked for that.
bool connection::answer_best(const shared_page& what, large_file large) {
  const http::coding_set there = what->siblings.without(exchange_->gone);
  if (!there.empty()) exchange_->as = http::best_coding(exchange_->request.fields, there);
  if (exchange_->as == http::coding::identity) {
    if (large != nullptr) return answer_page(what, std::move(large)), true;
    return answer_at_hand(what);
  }
  exchange_->sibling_key = key_of(exchange_->target.path, exchange_->as);
  const shared_page* const sibling = current(exchange_->sibling_key);
  return sibling != nullptr && answer_at_hand(*sibling);
}

/// Gives false if the library has to be asked for its file.
bool connection::answer_at_hand(const shared_page& what) {
  std::optional<large_file> large = at_hand(*what);
  if (large) answer_page(what, std::move(*large));
  return large.has_value();
}

/// In a drain: whether the client has sent nothing behind the request that is being answered. What has come since
/// look_again does not count, or a client that sends on and on would never be told that the connection ends.
bool connection::is_last_of_drain() const noexcept {
  if (!draining_) return false;
  std::string_view behind = exchange_->in.text();
  if (exchange_->held.empty()) behind.remove_prefix(std::min(exchange_->request.head_size, behind.size()));
  behind.remove_suffix(std::min(behind_look_, behind.size()));
  return behind.find_first_not_of("\r\n") == std::string_view::npos;
}

response_form connection::form() {
  if (leaves_ || is_last_of_drain()) exchange_->request.keep_alive = false;
  return {exchange_->store->date.text(), exchange_->request.keep_alive, exchange_->request.http_1_0, exchange_->request.method != http::method::head};
}

/// The host is known.
response_form connection::form_of_no_page() {
  response_form with = form();
  with.headers = exchange_->host->https_only && tls_ == nullptr ? exchange_->host->headers_before_tls : exchange_->host->headers;
  return with;
}

/// What is asked of this page, if the client's part is of it.
http::byte_ranges connection::ranges_of(const page& what) const {
  const http::header_lines& fields = exchange_->request.fields;
  const bool counts = http::range_counts(fields, {what.tag, what.modified}, std::time(nullptr));
  const http::byte_ranges asked{counts ? fields.only("Range") : std::string_view{}, what.size};
  const bool is_possible = what.as == http::coding::identity || asked.parts().size() <= 1;  // see append_parts
  return is_possible ? asked : http::byte_ranges{{}, what.size};
}

/// `large`: whose body is sent from the disk.
void connection::answer_page(const shared_page& what, large_file large) {
  const http::header_lines& fields = exchange_->request.fields;
  const http::validators known{what->tag, what->modified};
  if (exchange_->request.is_conditional) {
    const http::status wanted = http::check_preconditions(fields, known);
    if (wanted == http::status::precondition_failed) return answer_status(wanted);
    if (wanted == http::status::not_modified) {
      append_not_modified(exchange_->out, *what, form());
      return end_request(wanted);
    }
  }
  if (exchange_->request.asks_for_range) {
    const http::byte_ranges asked = ranges_of(*what);
    if (asked.what() != http::byte_ranges::outcome::whole) return answer_parts(what, asked, std::move(large));
  }
  const bool is_apart = large != nullptr || what->size > most_copied;
  append_page(exchange_->out, *what, form(), is_apart);
  if (is_apart) send_all_behind(what, std::move(large));
  end_request(http::status::ok);
}

/// Parts of a page, if its body is wanted; frame has what stands around them.
void connection::send_behind(const shared_page& what, large_file large, std::span<const http::byte_range> parts) {
  if (exchange_->request.method == http::method::head) return;
  if (large == nullptr) exchange_->kept = what;
  exchange_->large = std::move(large);
  exchange_->parts.assign(parts.begin(), parts.end());
}

void connection::send_all_behind(const shared_page& what, large_file large) {
  exchange_->frame.assign(2, {});
  send_behind(what, std::move(large), std::array{http::byte_range{0, what->size}});
}

void connection::answer_parts(const shared_page& what, const http::byte_ranges& asked, large_file large) {
  if (asked.what() == http::byte_ranges::outcome::unsatisfiable) {
    append_not_satisfiable(exchange_->out, *what, form_of_no_page());
    return end_request(http::status::range_not_satisfiable);
  }
  const std::span<const http::byte_range> parts = asked.parts();
  append_parts(exchange_->out, *what, parts, parts.size() > 1 ? new_boundary() : std::string{}, form(), exchange_->frame);
  send_behind(what, std::move(large), parts);
  end_request(http::status::partial_content);
}

void connection::answer_status(http::status s) {
  append_status(exchange_->out, s, form_of_no_page());
  end_request(s);
}

void connection::end_request(http::status answered) {
  if (site_->log != nullptr) log(answered);
  if (!exchange_->request.keep_alive) ending_ = true;
  if (!exchange_->held.empty()) return exchange_->drop_held();
  exchange_->in.drop(exchange_->request.head_size);
  exchange_->parser.reset();
}

/// It is no request: says why, and ends.
void connection::refuse(http::status why) {
  if (exchange_->out.empty()) take_buffer();
  const bool is_head = exchange_->held.empty() ? exchange_->parser.asks_for_head(exchange_->in.text()) : exchange_->request.method == http::method::head;
  exchange_->request = {};
  if (is_head) exchange_->request.method = http::method::head;
  exchange_->response_at = exchange_->out.size();
  append_status(exchange_->out, why, form());
  if (site_->log != nullptr) log(why);
  ending_ = true;
}

/// Adds a line for the last response. Its request is held, or still at the front of in.
void connection::log(http::status answered) {
  if (client_.empty()) client_ = host_of(peer_.peer_address());
  std::string_view line = exchange_->held.empty() ? exchange_->in.text() : exchange_->held;
  line.remove_prefix(std::min(line.find_first_not_of("\r\n"), line.size()));
  const std::string_view response = std::string_view{exchange_->out}.substr(exchange_->response_at);
  std::uint64_t bytes = response.size() - (response.find("\r\n\r\n") + 4);
  bytes += bytes_behind();
  const http::header_lines& fields = exchange_->request.fields;
  append(exchange_->log, {client_, exchange_->store->local_time.text(), line.substr(0, line.find_first_of("\r\n")), static_cast<unsigned>(answered), bytes,
                fields.only("Referer"), fields.only("User-Agent")});
}

/// What the library is to be asked for.
std::string_view connection::wanted_key() const {
  if (exchange_->error != http::status::ok) return exchange_->host->error_pages.at(exchange_->error);
  return exchange_->as == http::coding::identity ? exchange_->target.path : std::string_view{exchange_->sibling_key};
}

/// Gives false if the library has to be asked for something else.
bool connection::answer_finding(const finding& found) {
  if (found.code == http::status::ok) {
    kept_pages().put(wanted_key(), found.content, found.checked);  // of a large one, what it is known by, and the way to its file
  } else {
    kept_pages().drop(wanted_key());
  }
  if (exchange_->error != http::status::ok) {
    answer_error(found.content, found.large);
  } else if (found.code == http::status::ok) {
    if (exchange_->as == http::coding::identity) return answer_best(found.content, found.large);
    answer_page(found.content, found.large);
  } else if (exchange_->as != http::coding::identity) {
    exchange_->gone.add(exchange_->as);
    exchange_->as = http::coding::identity;
    return false;
  } else if (found.code == http::status::moved_permanently) {
    append_redirect(exchange_->out, std::string{exchange_->target.sent}.append("/").append(exchange_->target.query), form_of_no_page());
    end_request(http::status::moved_permanently);
  } else {
    return answer_failure(found.code);
  }
  return true;
}

/// With the host's own page, if it has one for that. Gives false if the library has to be asked for it.
bool connection::answer_failure(http::status why) {
  if (!exchange_->host->error_pages.contains(why)) {
    answer_status(why);
    return true;
  }
  exchange_->error = why;
  const shared_page* const known = current(wanted_key());
  std::optional<large_file> large = known != nullptr ? at_hand(**known) : std::nullopt;
  if (large) answer_error(*known, std::move(*large));
  return large.has_value();
}

/// `what`: null if there is none.
void connection::answer_error(const shared_page& what, large_file large) {
  const http::status why = std::exchange(exchange_->error, http::status::ok);
  if (what == nullptr) return answer_status(why);
  const bool is_apart = large != nullptr || what->size > most_copied;
  append_error_page(exchange_->out, why, *what, form_of_no_page(), is_apart);
  if (is_apart) send_all_behind(what, std::move(large));
  end_request(why);
}

}  // namespace web
