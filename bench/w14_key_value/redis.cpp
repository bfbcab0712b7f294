// W14 by Redis itself, Debian's, on one CPU and without persistence.
// The number is not about more workers: one thread runs all commands.

#include <cstdlib>
#include <string>

#include "bench/w14_key_value/workload.h"

int main(int argc, char** argv) {
  const bench::request asked{argc, argv, "redis"};
  return bench::key_value(asked, [](std::uint16_t port, bench::server_counters&) {
    std::vector<std::string> words = bench::command_in("BENCH_REDIS_SERVER", "/usr/bin/redis-server");
    for (const char* const word : {"--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "/tmp", "--port"}) words.emplace_back(word);
    words.push_back(std::to_string(port));
    bench::become(words);
  });
}
