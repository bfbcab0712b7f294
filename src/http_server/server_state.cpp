#include "http_server/server_state.h"

#include <cstdio>
#include <new>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/time/with_timeout.h>
#include <utility>
#include <vector>

#include "http_io/wire.h"
#include "http_server/connection.h"

namespace tartan::http::detail {

namespace {

/// Connections beyond the limit that are told so, at a time.
constexpr std::size_t most_refused = 100;

}  // namespace

server_state::server_state(runtime& rt, server_settings with)
    : settings{std::move(with)}, rt_{&rt}, strand_{rt, "http server"} {}

template <class Listener>
void server_state::serve(Listener from, listen_with with) {
  const color where = from.color();
  auto self = shared_from_this();
  strand_.post([self] { ++self->accepting_; });
  auto made = spawn_in(*rt_, where, accept<Listener>, self, std::move(from),
                       std::make_shared<const listen_with>(std::move(with)));
  strand_.post([self, made = std::move(made)]() mutable {
    if (self->is_closing_) made.cancel();
    self->listeners_.push_back(std::move(made));
  });
}
template void server_state::serve(tcp::listener, listen_with);
template void server_state::serve(local::listener, listen_with);

template <class Listener>
task<> server_state::accept(std::shared_ptr<server_state> self, Listener from,
                            std::shared_ptr<const listen_with> with) {
  try {
    for (;;) {
      auto made = co_await from.accept();
      if (!made) break;
      const result<address> asked = made->peer_address();
      address peer = asked ? *asked : address{};
      any_stream accepted{*std::move(made)};
      co_await on(self->where());
      self->add(std::move(accepted), peer, with);
      co_await on(from.color());
    }
  } catch (const std::bad_alloc&) {
    std::fputs("tartan: http::server: a listener ends, because there is no memory\n", stderr);
  }
  co_await on(from.color());
  from.close();
  co_await on(self->where());
  --self->accepting_;
  self->begin_close();  // the runtime shuts down, or this server does
}

void server_state::add(any_stream accepted, address peer, std::shared_ptr<const listen_with> with) {
  const std::size_t count = connections_.size();
  if (is_closing_ || count >= settings.most_connections + most_refused) return;
  const std::uint64_t id = next_id_++;
  const color where = accepted.color();
  auto served = std::make_shared<connection>(shared_from_this(), id, where, peer, count >= settings.most_connections);
  entry& made = connections_[id];
  made.served = served;
  try {
    made.coroutine = spawn_in(where, connection::run, std::move(served), std::move(accepted), std::move(with));
  } catch (const std::bad_alloc&) {  // this client goes away, and others may be luckier
  }
  if (!made.coroutine) connections_.erase(id);
}

void server_state::remove(std::uint64_t connection) {
  strand_.post([self = shared_from_this(), connection] {
    self->connections_.erase(connection);
    self->check_ended();
  });
}

void server_state::cancel(std::uint64_t connection) {
  strand_.post([self = shared_from_this(), connection] {
    const auto place = self->connections_.find(connection);
    if (place != self->connections_.end()) place->second.coroutine.cancel();
  });
}

void server_state::abandon() {
  strand_.post([self = shared_from_this()] {
    self->begin_close();
    self->cancel_all();
  });
}

void server_state::begin_close() {
  if (!std::exchange(is_closing_, true)) {
    for (join_handle<>& each : listeners_) each.cancel();
    for (auto& [id, each] : connections_) {
      if (const std::shared_ptr<connection> served = each.served.lock()) {
        post(served->where(), [served] { served->begin_closing(); });
      }
    }
  }
  check_ended();
}

void server_state::cancel_all() {
  for (auto& [id, each] : connections_) each.coroutine.cancel();
}

void server_state::check_ended() {
  if (is_closing_ && accepting_ == 0 && connections_.empty()) ended_.close();
}

task<> server_state::close(std::shared_ptr<server_state> self, std::chrono::nanoseconds within) {
  co_await on(self->where());
  self->begin_close();
  const result<bool> ended = co_await with_timeout(within, self->ended_.receive());
  if (ended.error() == tartan::errc::end_of_stream) co_return;
  self->cancel_all();
  // By joins, which a caller that was canceled waits for, too: handlers may use what it is about to destroy.
  std::vector<join_handle<>> left = std::move(self->listeners_);
  for (auto& [id, each] : self->connections_) left.push_back(std::move(each.coroutine));
  for (join_handle<>& each : left) {
    if (each) co_await each.join();
  }
}

task<std::size_t> server_state::count(std::shared_ptr<server_state> self) {
  co_await on(self->where());
  co_return self->connections_.size();
}

}  // namespace tartan::http::detail
