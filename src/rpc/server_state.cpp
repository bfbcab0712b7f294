#include "rpc/server_state.h"

#include <cstdio>
#include <new>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/time/with_timeout.h>
#include <utility>

#include "rpc/connection_state.h"

namespace tartan::rpc::detail {

server_state::server_state(runtime& rt, std::shared_ptr<const programs> serves, server_settings&& with)
    : rt_{&rt}, strand_{rt, "rpc server"}, programs_{std::move(serves)}, with_{std::move(with)} {
  check(with_);
}

template <class Listener>
void server_state::serve(Listener from, stream_upgrade seal) {
  const color where = from.color();
  auto self = shared_from_this();
  strand_.post([self] { ++self->accepting_; });
  auto made = spawn_in(*rt_, where, accept<Listener>, self, std::move(from), std::move(seal));
  strand_.post([self, made = std::move(made)]() mutable {
    if (self->is_closing_) made.cancel();
    self->listeners_.push_back(std::move(made));
  });
}
template void server_state::serve(tcp::listener, stream_upgrade);
template void server_state::serve(local::listener, stream_upgrade);

void server_state::serve(udp::socket from) {
  strand_.post([self = shared_from_this(), from = std::move(from)]() mutable {
    if (!self->is_closing_) self->add(connection{std::move(from), self->with_, self->programs_});
  });
}

template <class Listener>
task<> server_state::accept(std::shared_ptr<server_state> self, Listener from, stream_upgrade seal) {
  try {
    for (;;) {
      auto made = co_await from.accept();
      if (!made) break;
      const result<address> asked = made->peer_address();
      settings with = self->with_;
      if (asked) with.peer = *asked;
      any_stream accepted{*std::move(made)};
      co_await on(self->where());
      const std::size_t there = self->connections_.size() + self->sealing_;
      if (!self->is_closing_ && there < self->with_.most_connections) {
        if (seal) {
          ++self->sealing_;
          const color where = accepted.color();
          spawn_in(where, &server_state::seal_and_add, self, std::move(accepted), seal, std::move(with)).detach();
        } else {
          self->add(connection{std::move(accepted), std::move(with), self->programs_});
        }
      }
      co_await on(from.color());
    }
  } catch (const std::bad_alloc&) {
    std::fputs("tartan: rpc::server: a listener ends, because there is no memory\n", stderr);
  }
  co_await on(from.color());
  from.close();
  co_await on(self->where());
  --self->accepting_;
  self->begin_close();  // the runtime shuts down, or this server does
}

task<> server_state::seal_and_add(std::shared_ptr<server_state> self, any_stream accepted, stream_upgrade seal,
                                  settings with) {
  result<any_stream> sealed = co_await with_timeout(with.upgrade_limit, seal(std::move(accepted)));
  co_await on(self->where());
  --self->sealing_;
  if (sealed && !self->is_closing_) self->add(connection{*std::move(sealed), std::move(with), self->programs_});
  self->check_ended();
}

void server_state::add(connection made) {
  const std::uint64_t id = next_id_++;
  when_gone(made, [self = shared_from_this(), id] { self->strand_.post([self, id] { self->remove(id); }); });
  connections_.emplace(id, std::move(made));
}

void server_state::remove(std::uint64_t id) {
  connections_.erase(id);
  check_ended();
}

void server_state::abandon() {
  strand_.post([self = shared_from_this()] {
    self->begin_close();
    for (const auto& [id, each] : self->connections_) each.close();
  });
}

void server_state::begin_close() {
  if (!std::exchange(is_closing_, true)) {
    for (join_handle<>& each : listeners_) each.cancel();
    for (const auto& [id, each] : connections_) each.drain();
  }
  check_ended();
}

void server_state::check_ended() {
  if (is_closing_ && accepting_ == 0 && sealing_ == 0 && connections_.empty()) ended_.close();
}

task<> server_state::close(std::shared_ptr<server_state> self, std::chrono::nanoseconds within) {
  co_await on(self->where());
  self->begin_close();
  const result<bool> ended = co_await with_timeout(within, self->ended_.receive());
  if (ended.error() == tartan::errc::end_of_stream) co_return;
  for (const auto& [id, each] : self->connections_) each.close();
  static_cast<void>(co_await self->ended_.receive());
}

task<std::size_t> server_state::count(std::shared_ptr<server_state> self) {
  co_await on(self->where());
  co_return self->connections_.size();
}

}  // namespace tartan::rpc::detail
