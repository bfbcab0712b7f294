// From a request to its response, as far as that needs no waiting: what has to be waited for is done by connection.cpp.
#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <span>
#include <utility>

#include "connection.h"
#include "header_lines.h"
#include "keep_fresh.h"
#include "precondition.h"

namespace web {

namespace {

// What a client that does not read costs: the first two, and as much again until the string has the size that is needed.
constexpr std::size_t most_gathered = 8 * 1024;   // bytes of responses, then they are written before the next is added
constexpr std::size_t most_copied = 4 * 1024;     // bytes of a page; a longer one is sent from where it is

/// Without the port; "-" if the peer is gone already, or has no address.
std::string host_of(const tartan::result<tartan::address>& peer) {
  std::string text = peer ? peer->to_string() : std::string{};
  if (peer && peer->is_ip()) text.erase(text.rfind(':'));
  if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
  return text.empty() ? "-" : text;
}

}  // namespace

/// Answers what is there, as far as that needs no waiting.
connection::stop connection::answer() {
  for (;;) {
    if (ending_) return stop::end;
    if (out_.size() >= most_gathered || has_more_to_send()) return stop::output;
    const request_body::outcome body = body_.drop_from(in_);
    if (body == request_body::outcome::refused) {
      refuse(body_.error());
      continue;
    }
    if (body == request_body::outcome::incomplete) return stop::input;
    if (!held_.empty()) {
      take_held();
    } else {
      if (in_.empty()) return stop::input;
      const request_parser::outcome head = parser_.parse(in_.text(), request_);
      if (head == request_parser::outcome::incomplete) return stop::input;
      if (head == request_parser::outcome::refused) {
        refuse(parser_.error());
        continue;
      }
      if (request_.has_body() && !is_answered_without_body()) {
        hold_request();
        continue;
      }
    }
    asked_ = true;
    asked_for_end_ = !request_.keep_alive && (request_.method == method::get || request_.method == method::head);
    if (!answer_request()) return stop::library;
  }
}

/// Whoever waits to be told that it may go on with a body that nobody wants gets the answer instead, and may then send the body or not: nobody
/// could tell which.
bool connection::is_answered_without_body() noexcept {
  if (!request_.expects_continue || request_.method == method::get || request_.method == method::head) return false;
  request_.keep_alive = false;
  return true;
}

/// Its answer waits for the end of its body: what comes there may show that it is no request.
void connection::hold_request() {
  const std::string_view sent = in_.text();
  held_.assign(sent.substr(0, request_.head_size));
  if (request_.expects_continue && sent.size() == request_.head_size) {  // else it does not wait
    if (out_.empty()) take_buffer();
    append_continue(out_);
  }
  body_.begin(request_);
  in_.drop(request_.head_size);
  parser_.reset();
}

/// It was complete when it came.
void connection::take_held() { static_cast<void>(request_parser{site_->settings.requests}.parse(held_, request_)); }

/// Gives false if the library has to be asked: the worker has no page, or an old one, under target_.
bool connection::answer_request() {
  if (out_.empty()) take_buffer();
  response_at_ = out_.size();
  const target_result target = path_of(request_.target, decoded_);
  target_ = target.found;
  host_ = &site_->host_of(site_->has_several_hosts() ? host_name() : std::string_view{});
  if (request_.method == method::known || request_.method == method::unknown) {
    answer_status(request_.method == method::known ? status::method_not_allowed : status::not_implemented);
    return true;
  }
  const bool is_target = target.error != status::bad_request;
  if (is_target && host_->https_only && tls_ == nullptr && !target_.path.starts_with("/.well-known/acme-challenge/")) return send_to_tls(), true;
  if (target.error) return answer_failure(*target.error);
  if (target_.is_hidden && !host_->root.shows_hidden()) return answer_failure(status::not_found);
  as_ = coding::identity;
  gone_ = {};
  const shared_page* const known = current(target_.path);
  return known != nullptr && answer_best(*known);
}

void connection::send_to_tls() {
  std::string_view name = host_name();
  name = name.substr(0, name.starts_with('[') ? name.find(']') + 1 : name.find(':'));
  if (!host_->name.empty() && !site_->knows(name)) name = host_->name;  // nobody can make others be sent elsewhere
  if (name.empty()) return answer_status(status::forbidden);
  append_redirect(out_, std::string{"https://"}.append(name).append(target_.sent).append(target_.query), form_of_no_page());
  end_request(status::moved_permanently);
}

/// What the client calls the server; in the target that counts, not the header (RFC 9112, 3.2.2).
std::string_view connection::host_name() const { return !target_.host.empty() ? target_.host : header_lines{request_.fields}.only("Host"); }

/// The worker's, of the host that is asked.
page_cache& connection::kept_pages() { return site_->stores.local().pages[host_->index]; }

/// What the worker has under a key; null if that is too old.
const shared_page* connection::current(std::string_view key) {
  page_cache::entry* const known = kept_pages().find(key);
  const library_settings& with = site_->settings.pages;
  if (known == nullptr || now_ - known->checked >= with.recheck) return nullptr;
  if (with.is_due(known->checked, now_)) [[unlikely]] keep_fresh(site_, *host_, *known, now_);
  return &known->content;
}

/// With the file, or with a sibling that the client likes better. Gives false if the library has to be asked for that.
bool connection::answer_best(const shared_page& what, const std::shared_ptr<const file>& large) {
  const coding_set there = what->siblings.without(gone_);
  if (!there.empty()) as_ = best_coding(header_lines{request_.fields}, there);
  if (as_ == coding::identity) {
    if (what->is_large() && large == nullptr) return false;
    answer_page(what, large);
    return true;
  }
  sibling_key_ = key_of(target_.path, as_);
  const shared_page* const sibling = current(sibling_key_);
  if (sibling == nullptr || (*sibling)->is_large()) return false;
  answer_page(*sibling);
  return true;
}

response_form connection::form() {
  if (draining_ || leaves_) request_.keep_alive = false;
  return {site_->stores.local().date.text(), request_.keep_alive, request_.http_1_0, request_.method != method::head};
}

/// The host is known.
response_form connection::form_of_no_page() {
  response_form with = form();
  with.headers = host_->https_only && tls_ == nullptr ? host_->headers_before_tls : host_->headers;
  return with;
}

/// What is asked of this page, if the client's part is of it.
byte_ranges connection::ranges_of(const page& what) const {
  const header_lines fields{request_.fields};
  const bool counts = range_counts(fields, {what.tag, what.modified}, std::time(nullptr));
  const byte_ranges asked{counts ? fields.only("Range") : std::string_view{}, what.size};
  const bool is_possible = what.as == coding::identity || asked.parts().size() <= 1;  // see append_parts
  return is_possible ? asked : byte_ranges{{}, what.size};
}

/// `large`: whose body is sent from the disk.
void connection::answer_page(const shared_page& what, const std::shared_ptr<const file>& large) {
  const header_lines fields{request_.fields};
  const validators known{what->tag, what->modified};
  if (request_.is_conditional) {
    const status wanted = check_preconditions(fields, known);
    if (wanted == status::precondition_failed) return answer_status(wanted);
    if (wanted == status::not_modified) {
      append_not_modified(out_, *what, form());
      return end_request(wanted);
    }
  }
  if (request_.asks_for_range) {
    const byte_ranges asked = ranges_of(*what);
    if (asked.what() != byte_ranges::outcome::whole) return answer_parts(what, asked, large);
  }
  const bool is_apart = large != nullptr || what->size > most_copied;
  append_page(out_, *what, form(), is_apart);
  if (is_apart) send_all_behind(what, large);
  end_request(status::ok);
}

/// Parts of a page, if its body is wanted; frame_ has what stands around them.
void connection::send_behind(const shared_page& what, const std::shared_ptr<const file>& large, std::span<const byte_range> parts) {
  if (request_.method == method::head) return;
  large_ = large;
  if (large == nullptr) kept_ = what;
  parts_.assign(parts.begin(), parts.end());
}

void connection::send_all_behind(const shared_page& what, const std::shared_ptr<const file>& large) {
  frame_.assign(2, {});
  send_behind(what, large, std::array{byte_range{0, what->size}});
}

void connection::answer_parts(const shared_page& what, const byte_ranges& asked, const std::shared_ptr<const file>& large) {
  if (asked.what() == byte_ranges::outcome::unsatisfiable) {
    append_not_satisfiable(out_, *what, form_of_no_page());
    return end_request(status::range_not_satisfiable);
  }
  const std::span<const byte_range> parts = asked.parts();
  append_parts(out_, *what, parts, parts.size() > 1 ? new_boundary() : std::string{}, form(), frame_);
  send_behind(what, large, parts);
  end_request(status::partial_content);
}

void connection::answer_status(status s) {
  append_status(out_, s, form_of_no_page());
  end_request(s);
}

void connection::end_request(status answered) {
  if (site_->log != nullptr) log(answered);
  if (!request_.keep_alive) ending_ = true;
  if (!held_.empty()) return held_ = {}, void();
  in_.drop(request_.head_size);
  parser_.reset();
}

/// It is no request: says why, and ends.
void connection::refuse(status why) {
  if (out_.empty()) take_buffer();
  const bool is_head = held_.empty() ? parser_.asks_for_head(in_.text()) : request_.method == method::head;
  request_ = {};
  if (is_head) request_.method = method::head;
  response_at_ = out_.size();
  append_status(out_, why, form());
  if (site_->log != nullptr) log(why);
  ending_ = true;
}

/// Adds a line for the last response. Its request is held, or still at the front of in_.
void connection::log(status answered) {
  if (client_.empty()) client_ = host_of(peer_.peer_address());
  std::string_view line = held_.empty() ? in_.text() : held_;
  line.remove_prefix(std::min(line.find_first_not_of("\r\n"), line.size()));
  const std::string_view response = std::string_view{out_}.substr(response_at_);
  std::uint64_t bytes = response.size() - (response.find("\r\n\r\n") + 4);
  bytes += bytes_behind();
  const header_lines fields{request_.fields};
  append(log_, {client_, site_->stores.local().date.local(), line.substr(0, line.find_first_of("\r\n")), static_cast<unsigned>(answered), bytes,
                fields.only("Referer"), fields.only("User-Agent")});
}

/// What the library is to be asked for.
std::string_view connection::wanted_key() const {
  if (error_ != status::ok) return host_->error_pages.at(error_);
  return as_ == coding::identity ? target_.path : std::string_view{sibling_key_};
}

/// Gives false if the library has to be asked for something else.
bool connection::answer_finding(const finding& found) {
  if (found.code == status::ok) {
    kept_pages().put(wanted_key(), found.content, found.checked);  // of a large one, what it is known by
  } else {
    kept_pages().drop(wanted_key());
  }
  if (error_ != status::ok) {
    answer_error(found.content, found.large);
  } else if (found.code == status::ok) {
    if (as_ == coding::identity) return answer_best(found.content, found.large);
    answer_page(found.content, found.large);
  } else if (as_ != coding::identity) {
    gone_.add(as_);
    as_ = coding::identity;
    return false;
  } else if (found.code == status::moved_permanently) {
    append_redirect(out_, std::string{target_.sent}.append("/").append(target_.query), form_of_no_page());
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
  const shared_page* const known = current(wanted_key());
  if (known == nullptr || (*known)->is_large()) return false;
  answer_error(*known);
  return true;
}

/// `what`: null if there is none.
void connection::answer_error(const shared_page& what, const std::shared_ptr<const file>& large) {
  const status why = std::exchange(error_, status::ok);
  if (what == nullptr) return answer_status(why);
  const bool is_apart = large != nullptr || what->size > most_copied;
  append_error_page(out_, why, *what, form_of_no_page(), is_apart);
  if (is_apart) send_all_behind(what, large);
  end_request(why);
}

}  // namespace web
