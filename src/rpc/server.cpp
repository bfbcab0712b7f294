#include <tartan/rpc/server.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "rpc/server_state.h"

namespace tartan::rpc {

namespace {

address parsed(std::string_view at) {
  const result<address> where = address::parse(at);
  if (!where) throw std::invalid_argument{"tartan: rpc::server: '" + std::string{at} + "' is no address"};
  return *where;
}

}  // namespace

server::server(runtime& rt, std::shared_ptr<const programs> serves, server_settings with)
    : state_{std::make_shared<detail::server_state>(rt, std::move(serves), std::move(with))} {}
server::server(runtime& rt, programs serves, server_settings with)
    : server{rt, std::make_shared<const programs>(std::move(serves)), std::move(with)} {}

server::~server() {
  if (state_ != nullptr && state_.use_count() != 1) state_->abandon();
}

address server::listen(std::string_view at, stream_upgrade seal) {
  const address where = parsed(at);
  if (where.is_unix()) {
    local::listener made = local::listen(state_->rt(), where, {.unlink_on_close = true, .color = state_->where()});
    const address bound = made.local_address().value();
    serve(std::move(made), std::move(seal));
    return bound;
  }
  tcp::listener made = tcp::listen(state_->rt(), where, {.color = state_->where()});
  const address bound = made.local_address().value();
  serve(std::move(made), std::move(seal));
  return bound;
}

address server::listen_udp(std::string_view at) {
  strand where{state_->rt(), "rpc datagrams"};
  udp::socket made = udp::bind(state_->rt(), parsed(at), {.color = where.value()});
  const address bound = made.local_address().value();
  state_->keep(std::move(where));
  serve(std::move(made));
  return bound;
}

void server::serve(tcp::listener from, stream_upgrade seal) {
  state_->serve(std::move(from), std::move(seal));
}
void server::serve(local::listener from, stream_upgrade seal) {
  state_->serve(std::move(from), std::move(seal));
}
void server::serve(udp::socket from) {
  state_->serve(std::move(from));
}

task<> server::close(std::chrono::nanoseconds within) {
  return detail::server_state::close(state_, within);
}
task<std::size_t> server::connections() const {
  return detail::server_state::count(state_);
}

}  // namespace tartan::rpc
