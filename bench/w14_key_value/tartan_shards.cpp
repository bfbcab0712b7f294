// W14 by Tartan: a coroutine per connection, keys in 64 strands, one `co_await` of the shard for each command. No lock.
// The number is not that of a server that groups a pipeline by shard: here each command visits its shard on its own.

#include <csignal>
#include <span>
#include <string>
#include <tartan/core/runtime.h>
#include <tartan/core/sharded.h>
#include <tartan/core/spawn.h>
#include <tartan/io/tcp.h>
#include <utility>

#include "bench/lanes/tartan_options.h"
#include "bench/w14_key_value/conversation.h"
#include "bench/w14_key_value/workload.h"

namespace {

using store = tartan::sharded<bench::shard>;

tartan::task<> serve(tartan::tcp::stream peer, store& keys) {
  bench::conversation with;
  using step = bench::conversation::step;
  for (;;) {
    const auto got = co_await peer.read_some(std::as_writable_bytes(with.room()));
    if (!got) co_return;
    with.add(*got);
    step is = step::full;
    while (is == step::full) {
      while ((is = with.next()) == step::shard) {
        co_await keys.with(with.key(), [&with](bench::shard& here) { with.run(here); });
      }
      if (!with.output().empty() && !co_await peer.write(with.output())) co_return;
      with.clear_output();
    }
    if (is == step::over) co_return;
  }
}

tartan::task<> accept_all(tartan::tcp::listener& door, store& keys) {
  while (auto peer = co_await door.accept()) {
    tartan::spawn_in(peer->color(), serve, std::move(*peer), std::ref(keys)).detach();
  }
}

void run(unsigned workers, std::uint16_t port, bench::server_counters& told) {
  tartan::runtime rt{bench::tartan_options(workers)};
  rt.stop_on({SIGTERM});
  auto door = tartan::tcp::listen(rt, "127.0.0.1:" + std::to_string(port));
  store keys{rt, "keys", tartan::shards{bench::shard_count}};
  rt.spawn(accept_all, std::ref(door), std::ref(keys)).detach();
  rt.run();
  const tartan::runtime_counters seen = rt.counters();
  told = {true, static_cast<double>(seen.steals), static_cast<double>(seen.wakes), static_cast<double>(seen.sleeps)};
}

}  // namespace

int main(int argc, char** argv) {
  const bench::request asked{argc, argv, "tartan_shards"};
  return bench::key_value(asked,
                          [&](std::uint16_t port, bench::server_counters& told) { run(asked.workers, port, told); });
}
