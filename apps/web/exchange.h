#pragma once
/// A request and its answer.

#include <tartan/core/task.h>
#include <tartan/http/byte_range.h>
#include <tartan/http/content_coding.h>
#include <tartan/http/request.h>
#include <tartan/http/request_parser.h>
#include <tartan/http/status.h>
#include <tartan/http/target.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "web/conversation.h"
#include "web/host.h"
#include "web/http.h"
#include "web/outgoing.h"
#include "web/page.h"
#include "web/read_buffer.h"
#include "web/request_body.h"
#include "web/response.h"

namespace web {

struct worker_store;

/// What a connection has while there is something to answer, and not while it waits for the next request: what has come, the request that is
/// being answered, and the responses so far. It reads and writes nothing.
///
/// So of thousands of connections that wait none has a buffer; and those that a worker serves one after the other use the same memory, which is
/// in its cache. What is a connection's own is read and written once for each request, when it has long been out of the cache.
///
/// In the usual case a request needs no allocation: the parser finds its head, the path is looked up in the worker's cache, the response is
/// appended to the text that leaves. What is not in the cache comes from the library, and is then answered in the same way.
///
/// A head is parsed in one piece, and buf::chain's slices may end anywhere in it; so what is read goes into one piece of memory (read_buffer).
/// Most responses are short: copied into one string, many leave with one write, and need no slice each. A server that hands bodies on, or
/// writes more than its peers read, wants buf::chain and its marks.
class exchange {
 public:
  /// Why it has stopped answering: it needs the rest of a request, or what it has said to be written, or the library; or there will be no more.
  enum class stop : std::uint8_t { input, output, library, end };

  explicit exchange(const http::request_limits& limits) noexcept : parser_{limits}, body_{limits.body} {}
  exchange(exchange&&) = delete;

  /// It is lent to this connection, on this worker; or its coroutine has come to this worker. Neither is to be kept over a co_await.
  void serve(conversation& with, worker_store& on) noexcept {
    with_ = &with;
    store_ = &on;
  }
  void move_to(worker_store& on) noexcept { store_ = &on; }

  /// Answers what is there, as far as that needs no waiting.
  [[nodiscard]] stop answer();
  /// Asks the library for what it needs: the page, and what is to be sent instead, a sibling or the host's page for an error.
  [[nodiscard]] tartan::task<finding> ask() { return host_->pages.ask(wanted_key(), with_->now); }
  /// Gives false if the library has to be asked for something else.
  [[nodiscard]] bool answer_finding(const finding& found);
  /// It is no request: says why, and ends.
  void refuse(http::status why);
  /// A request without TLS, where TLS is spoken: OpenSSL has it.
  void refuse_plain_http();

  /// What a connection waits for that has this much of a request.
  [[nodiscard]] conversation::phase awaited() const noexcept {
    if (!body_.is_complete()) return conversation::phase::body;
    return has_begun() ? conversation::phase::head : conversation::phase::idle;
  }
  [[nodiscard]] bool has_begun() const noexcept { return parser_.has_begun(); }
  /// A head waits for the end of its body.
  [[nodiscard]] bool holds_request() const noexcept { return !held_.empty(); }
  /// Lines of the access log, for the responses so far.
  [[nodiscard]] bool has_lines() const noexcept { return !log_.empty(); }
  [[nodiscard]] std::string take_lines() noexcept { return std::exchange(log_, {}); }

  /// Forgets all that has come and was said. `limits`: as it was made by.
  void clear(const http::request_limits& limits) noexcept {
    in.drop(in.size());
    parser_.reset();
    error_ = http::status::ok;
    body_ = request_body{limits.body};
    drop_held();
    out.clear();
    log_.clear();
  }

  /// In its buffers.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return in.capacity() + out.text.capacity() + held_.capacity() + decoded_.capacity() + sibling_key_.capacity() + log_.capacity();
  }

  /// Nothing of a request has come, or all of it is answered, and sent.
  [[nodiscard]] bool is_over() const noexcept {
    return in.empty() && !parser_.has_begun() && body_.is_complete() && held_.empty() && out.is_empty() && log_.empty();
  }

  read_buffer in;         ///< what has come
  outgoing out;           ///< responses that are to be written
  bool is_stale = false;  ///< made by settings that are no longer those of its connection

 private:
  [[nodiscard]] bool answer_request();
  [[nodiscard]] bool is_answered_without_body() noexcept;
  void hold_request();
  void take_held();
  /// It is answered. Few heads are held, and none for the sake of the next.
  void drop_held() noexcept {
    if (held_.capacity() > read_buffer::usual) {
      std::string{}.swap(held_);
    } else {
      held_.clear();
    }
  }
  void send_to_tls();
  [[nodiscard]] bool answer_best(const shared_page& what, large_file large = nullptr);
  [[nodiscard]] bool answer_at_hand(const shared_page& what);
  void answer_page(const shared_page& what, large_file large);
  void answer_parts(const shared_page& what, const http::byte_ranges& asked, large_file large);
  void answer_status(http::status s);
  [[nodiscard]] bool falls_back() const noexcept;
  [[nodiscard]] bool answer_fallback();
  [[nodiscard]] bool answer_failure(http::status why);
  void answer_error(const shared_page& what, large_file large);
  void send_behind(const shared_page& what, large_file large, std::span<const http::byte_range> parts);
  void send_all_behind(const shared_page& what, large_file large);
  void end_request(http::status answered);
  void begin_response();
  void log(http::status answered);
  [[nodiscard]] std::string client_text();
  [[nodiscard]] http::byte_ranges ranges_of(const page& what) const;
  [[nodiscard]] std::string_view wanted_key() const;
  [[nodiscard]] const shared_page* current(std::string_view key);
  [[nodiscard]] std::string_view host_name() const;
  [[nodiscard]] page_cache& kept_pages();
  [[nodiscard]] response_form form();
  [[nodiscard]] response_form form_of_no_page();
  [[nodiscard]] bool is_last_of_drain() const noexcept;

  conversation* with_ = nullptr;
  worker_store* store_ = nullptr;
  http::request_parser parser_;
  http::request request_;        ///< the one that is being answered; its views point into in, and into parser_
  std::string decoded_;          ///< its path, if that has to be decoded
  http::target_path target_;
  web::host* host_ = nullptr;    ///< that is asked
  std::string sibling_key_;      ///< of that which is wanted instead of the file
  http::coding as_ = http::coding::identity;   ///< what is asked for: the file under target_, or that sibling
  http::coding_set gone_;                      ///< siblings that were to be sent, and cannot be
  http::status error_ = http::status::ok;      ///< else: the host's page that stands for it is asked for
  request_body body_;            ///< the last request's: what is still to come of it is dropped
  std::string held_;             ///< the head of a request whose body has not ended: it is answered then; request_'s views are dead meanwhile
  std::size_t response_at_ = 0;  ///< where in out.text the last one begins
  std::string log_;              ///< lines for responses in out, if there is an access log
};

}  // namespace web
