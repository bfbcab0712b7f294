#include "server.h"

#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/time/with_timeout.h>

#include <cstdio>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

namespace web {

server::server(tartan::runtime& rt, const settings& with)
    : site_{rt, with}, door_{tartan::tcp::listen(rt, with.listen)}, places_{with.max_connections}, connections_{rt} {}

tartan::task<> server::run() {
  for (;;) {
    tartan::result<tartan::semaphore::permit> place = co_await places_.acquire();
    tartan::result<tartan::tcp::stream> peer = co_await door_.accept();
    if (draining_ || !place) co_return;
    if (!peer) throw std::system_error{peer.error(), "cannot accept connections"};
    try {
      admit(std::move(*peer), std::move(*place));
    } catch (const std::bad_alloc&) {  // there will be memory again when others have gone
      complain(std::current_exception());
    }
  }
}

void server::admit(tartan::tcp::stream peer, tartan::semaphore::permit place) {
  auto client = std::make_unique<connection>(site_, std::move(peer));
  connection* const known = client.get();
  const tartan::color own = client->color();
  open_.insert(known);
  try {
    connections_.spawn_in(own, &server::serve, this, std::move(client), std::move(place));
  } catch (...) {
    open_.erase(known);
    throw;
  }
}

/// Color: the connection's.
tartan::task<> server::serve(std::unique_ptr<connection> client, tartan::semaphore::permit /*place*/) {
  const tartan::color own = client->color();
  std::exception_ptr wrong;
  try {
    co_await client->run();
  } catch (const std::exception&) {  // no memory, no thread for the disk: this connection's misfortune
    wrong = std::current_exception();
  }
  // What drain has posted to this color runs before the way back from there: it never meets a connection that is gone. Neither way
  // needs memory.
  co_await tartan::on(tartan::color{});
  open_.erase(client.get());
  if (wrong) complain(wrong);
  co_await tartan::on(own);
}

/// Once a second: what is missing is missing for all.
void server::complain(const std::exception_ptr& why) noexcept {
  ++untold_;
  const auto now = site_.runtime.now();
  if (now < next_complaint_) return;
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tartan-web: connections that had to be given up: %zu (%s)\n", untold_, e.what());
  }
  untold_ = 0;
  next_complaint_ = now + std::chrono::seconds{1};
}

tartan::task<> server::drain() {
  draining_ = true;
  door_.close();
  for (connection* const client : open_) {
    tartan::post(client->color(), [client] { client->drain(); });
  }
  // Those that are left when the time is up are canceled by the end of the join.
  static_cast<void>(co_await tartan::with_timeout(site_.settings.times.drain, connections_.join()));
}

}  // namespace web
