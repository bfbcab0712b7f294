// W14 by Redis itself (Debian's), without persistence.
// The number says nothing of more workers: Redis runs all commands on one thread.

#include <string>
#include <vector>

#include "bench/w14_key_value/workload.h"

int main(int argc, char** argv) {
  const bench::request asked{argc, argv, "redis"};
  return bench::key_value(asked, [](std::uint16_t port, bench::server_counters&) {
    // The package redis-server would start a service. Its program is the one of redis-tools, which acts by its name.
    std::vector<std::string> words = bench::command_in("BENCH_REDIS_SERVER", "/usr/bin/redis-check-rdb");
    for (const char* const word :
         {"--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "/tmp", "--port"})
      words.emplace_back(word);
    words.push_back(std::to_string(port));
    bench::become(words, -1, "redis-server");
  });
}
