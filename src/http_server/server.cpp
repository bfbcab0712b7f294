#include <tartan/http_server/server.h>

#include <stdexcept>
#include <system_error>
#include <tartan/core/on.h>
#include <utility>

#include "http_server/router.h"
#include "http_server/server_state.h"

namespace tartan::http {

route& route::in(color c) noexcept {
  entry_->in = c;
  return *this;
}

route& route::most_body(std::uint64_t bytes) noexcept {
  entry_->most_body = bytes;
  return *this;
}

server::server(runtime& rt, server_settings with)
    : state_{std::make_shared<detail::server_state>(rt, std::move(with))} {}

server::~server() {
  if (state_ != nullptr && state_.use_count() != 1) state_->abandon();
}

route server::add_handler(std::string_view method, std::string_view pattern, std::unique_ptr<detail::handler> h) {
  return route{state_->routes.add(method, pattern, std::move(h))};
}

address server::listen(std::string_view at, listen_with with) {
  const result<address> where = address::parse(at);
  if (!where) throw std::invalid_argument{"http::server: '" + std::string{at} + "' is no address"};
  if (where->is_unix()) {
    local::listener made = local::listen(state_->rt(), *where, {.unlink_on_close = true, .color = state_->where()});
    const address bound = made.local_address().value();
    serve(std::move(made), std::move(with));
    return bound;
  }
  tcp::listener made = tcp::listen(state_->rt(), *where, {.color = state_->where()});
  const address bound = made.local_address().value();
  serve(std::move(made), std::move(with));
  return bound;
}

void server::serve(tcp::listener from, listen_with with) {
  state_->serve(std::move(from), std::move(with));
}
void server::serve(local::listener from, listen_with with) {
  state_->serve(std::move(from), std::move(with));
}

task<> server::close(std::chrono::nanoseconds within) {
  return detail::server_state::close(state_, within);
}
task<std::size_t> server::connections() const {
  return detail::server_state::count(state_);
}

reply reply::of_error(std::error_code error) {
  http::status s = http::status::bad_request;
  if (error == errc::too_large) s = http::status::content_too_large;
  if (error == tartan::errc::timed_out) s = http::status::request_timeout;
  return std::move(text(error.message() + "\n", s).close());
}

}  // namespace tartan::http
