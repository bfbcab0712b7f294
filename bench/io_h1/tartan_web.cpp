// H1 by this repository's web server.
// The number is not that of a cold start: the page is in memory, and the disk is asked once a second whether it has changed.

#include "bench/io_h1/workload.h"

int main(int argc, char** argv) {
  const bench::request asked{argc, argv, "tartan_web"};
  // build/<preset>/bench/io_h1/tartan_web: the server is in build/<preset>/apps/web.
  const std::string program = (std::filesystem::read_symlink("/proc/self/exe") / "../../../apps/web/tartan-web").lexically_normal().string();
  return bench::web_server(asked, [&](const bench::web_folder& folder, std::uint16_t port) {
    bench::become({program, "--root", folder.root().string(), "--listen", "127.0.0.1:" + std::to_string(port), "--workers", std::to_string(asked.workers)});
  });
}
