#include <tartan/http_client/client.h>

#include <algorithm>
#include <tartan/core/strand.h>
#include <tartan/http/text.h>
#include <tartan/time/with_timeout.h>
#include <utility>

#include "http_client/client_exchange.h"
#include "http_client/pool.h"

namespace tartan::http {

namespace {

using exchange_or_error = result<std::unique_ptr<detail::client_exchange>>;

/// Of a redirect: read, so that its connection can be used again.
constexpr std::size_t most_of_a_redirect = std::size_t{16} * 1024;

bool is_redirect(status s) {
  return s == status::moved_permanently || s == status::found || s == status::see_other ||
         s == status::temporary_redirect || s == status::permanent_redirect;
}

bool may_be_repeated(std::string_view method) {
  const std::string_view all[]{"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"};
  return std::ranges::find(all, method) != std::end(all);
}

/// On a kept connection, or a new one.
task<exchange_or_error> exchange_with(std::shared_ptr<detail::pool> of, const client_request& what, url to,
                                      bool can_repeat) {
  auto made = std::make_unique<detail::client_exchange>(of, to);
  const result<> done = co_await made->run(what, false);
  if (done) co_return std::move(made);
  const bool again = can_repeat && made->was_stale() && done.error() != tartan::errc::canceled &&
                     done.error() != tartan::errc::timed_out;
  if (!again) co_return done.error();
  made = std::make_unique<detail::client_exchange>(std::move(of), std::move(to));
  const result<> second = co_await made->run(what, true);
  if (!second) co_return second.error();
  co_return std::move(made);
}

/// The rest of a small body; a large one ends its connection.
task<> skip_body(detail::client_exchange& of) {
  const result<std::string> rest = co_await of.body().read_all(most_of_a_redirect);
  static_cast<void>(rest);
}

}  // namespace

client::client(runtime& rt, client_settings with)
    : pool_{std::make_shared<detail::pool>(strand{rt, "http client"}, dns::resolver{rt, with.names}, with)} {}

client::client(client_settings with, std::source_location site)
    : pool_{std::make_shared<detail::pool>(strand{"http client", site}, dns::resolver{with.names, site}, with)} {}

client::~client() {
  if (pool_ != nullptr && pool_.use_count() != 1) close();
}

void client::close() noexcept {
  pool_->close();
}

task<result<answer>> client::get(std::string url) const {
  return send(client_request{url});
}

namespace {

task<result<answer>> read_whole(result<open_answer> coming, std::size_t most) {
  if (!coming) co_return coming.error();
  result<std::string> text = co_await coming->body().read_all(most);
  if (!text) co_return text.error();
  answer whole;
  whole.status = coming->status();
  whole.fields = coming->fields();
  whole.body = *std::move(text);
  whole.from = coming->from();
  co_return whole;
}

/// RFC 9110, 15.4: what is asked for next is the answer's description, or the new place is asked in the old way.
bool becomes_get(status s, std::string_view method) {
  return (s == status::see_other && method != "HEAD") ||
         ((s == status::moved_permanently || s == status::found) && method == "POST");
}

}  // namespace

result<url> detail::redirect_of(const client_exchange& from, client_request& what, const client_settings& with) {
  const result<url> next = from.to().resolve(from.fields().value("Location"));
  if (!next) return make_error_code(errc::bad_redirect);
  if (from.to().secure && !next->secure && !with.follows_to_plain_http) return make_error_code(errc::insecure_redirect);
  if (becomes_get(from.status(), what.method_)) {
    what.method_ = "GET";
    what.content_.clear();
    what.from_ = {};
    for (const char* const name : {"Content-Type", "Content-Encoding", "Content-Language", "Content-Location"})
      what.fields_.remove(name);
  }
  if (next->origin() != from.to().origin()) {
    for (const char* const name : {"Authorization", "Cookie", "Proxy-Authorization"}) what.fields_.remove(name);
    what.at_.reset();
  }
  return next;
}

task<result<open_answer>> client::open_within(std::shared_ptr<detail::pool> of, client_request what) {
  result<url> to = url::parse(what.url());
  if (!to) co_return to.error();
  if (what.method_ == "CONNECT") co_return std::make_error_code(std::errc::invalid_argument);
  for (unsigned followed = 0;; ++followed) {
    const bool can_repeat = may_be_repeated(what.method_) && !what.from_;
    exchange_or_error made = co_await exchange_with(of, what, *to, can_repeat);
    if (!made) co_return made.error();
    detail::client_exchange& from = **made;
    const bool needs_body_again = what.from_ && !becomes_get(from.status(), what.method_);
    const bool leads_on = is_redirect(from.status()) && from.fields().has("Location") && !needs_body_again;
    if (!leads_on || of->settings.most_redirects == 0) co_return open_answer{*std::move(made)};
    if (followed == of->settings.most_redirects) co_return make_error_code(errc::too_many_redirects);
    result<url> next = detail::redirect_of(from, what, of->settings);
    if (!next) co_return next.error();
    co_await skip_body(from);
    to = *std::move(next);
  }
}

task<result<open_answer>> client::open(client_request what) const {
  const std::shared_ptr<detail::pool> of = pool_;
  co_return co_await with_timeout(of->settings.whole_limit, open_within(of, std::move(what)));
}

task<result<answer>> client::send_within(std::shared_ptr<detail::pool> of, client_request what) {
  result<open_answer> coming = co_await open_within(of, std::move(what));
  co_return co_await read_whole(std::move(coming), of->settings.most_body);
}

task<result<answer>> client::send(client_request what) const {
  const std::shared_ptr<detail::pool> of = pool_;
  co_return co_await with_timeout(of->settings.whole_limit, send_within(of, std::move(what)));
}

open_answer::open_answer(std::unique_ptr<detail::client_exchange> of) noexcept : exchange_{std::move(of)} {}
open_answer::open_answer(open_answer&&) noexcept = default;
open_answer& open_answer::operator=(open_answer&&) noexcept = default;
open_answer::~open_answer() = default;
http::status open_answer::status() const noexcept {
  return exchange_->status();
}
const field_list& open_answer::fields() const noexcept {
  return exchange_->fields();
}
const url& open_answer::from() const noexcept {
  return exchange_->to();
}
body_stream& open_answer::body() noexcept {
  return exchange_->body();
}
task<result<server_event>> open_answer::next_event() {
  return exchange_->next_event();
}

}  // namespace tartan::http
