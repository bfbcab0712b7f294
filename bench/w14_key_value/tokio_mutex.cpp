// W14 by tokio: a task per connection on its multi_thread runtime, and a mutex per shard. The server is in
// bench/rivals/tokio. The number is not that of the C++ parser and table: both are written again in Rust, and the table
// uses Rust's own hash.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench/w14_key_value/workload.h"

int main(int argc, char** argv) {
  const bench::request asked{argc, argv, "tokio_mutex"};
  // This program is build/<preset>/bench/w14_key_value/tokio_mutex; bench/rivals/build puts the server into
  // build/<preset>/bench/rivals.
  const std::string here =
      (std::filesystem::read_symlink("/proc/self/exe") / "../../rivals/tokio_task").lexically_normal().string();
  return bench::key_value(asked, [&](std::uint16_t port, bench::server_counters&) {
    std::vector<std::string> words = bench::command_in("BENCH_TOKIO_TASK", here);
    for (const std::string& word :
         {std::string{"w14"}, std::to_string(asked.workers), std::string{"1"}, std::to_string(port)})
      words.push_back(word);
    bench::become(words);
  });
}
