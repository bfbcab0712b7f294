#include "server.h"

#include <tartan/core/in.h>
#include <tartan/core/post.h>
#include <tartan/time/with_timeout.h>

#include <cstdio>
#include <exception>
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
    auto client = std::make_unique<connection>(site_, std::move(*peer));
    open_.insert(client.get());
    const tartan::color own = client->color();
    connections_.spawn_in(own, &server::serve, this, std::move(client), std::move(*place));
  }
}

/// Color: the connection's.
tartan::task<> server::serve(std::unique_ptr<connection> client, tartan::semaphore::permit /*place*/) {
  try {
    co_await client->run();
  } catch (const std::exception& e) {  // no memory, no thread for the disk: this connection's misfortune
    std::fprintf(stderr, "tartan-web: a connection ends: %s\n", e.what());
  }
  // What drain has posted to this color runs before the way back from there: it never meets a connection that is gone.
  co_await tartan::in(tartan::color{}, [&] { open_.erase(client.get()); });
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
