// H1 by nginx, from Debian, with a configuration of its own.
// The number is not that of nginx as it is installed: no access log, and open files are kept for a second, as long as tartan-web serves
// a page from memory without a look at the disk.

#include "bench/io_h1/workload.h"

namespace {

/// The system's, or one that was only unpacked.
std::string program() {
  const char* const chosen = std::getenv("BENCH_NGINX");
  return chosen != nullptr ? chosen : "/usr/sbin/nginx";
}

std::string configuration(const bench::web_folder& folder, std::uint16_t port, unsigned workers) {
  const std::string at = folder.path().string();
  std::string text = "daemon off;\nworker_processes " + std::to_string(workers) + ";\npid " + at + "/pid;\nerror_log stderr error;\n";
  text += "events { worker_connections 1024; }\nhttp {\n  access_log off;\n  default_type text/html;\n";
  for (const char* const kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    text += "  " + std::string{kind} + "_temp_path " + at + "/" + kind + ";\n";
  }
  // For so small a file sendfile would be one system call more.
  text += "  sendfile off;\n  tcp_nodelay on;\n  keepalive_requests 1000000000;\n  open_file_cache max=100;\n  open_file_cache_valid 1s;\n";
  return text + "  server { listen 127.0.0.1:" + std::to_string(port) + " backlog=1024; root " + (folder.root()).string() + "; }\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const bench::request asked{argc, argv, "nginx"};
  if (access(program().c_str(), X_OK) != 0) {
    std::fprintf(stderr, "no %s: apt-get install nginx-light, or BENCH_NGINX=<program>\n", program().c_str());
    return 1;
  }
  return bench::web_server(asked, [&asked](const bench::web_folder& folder, std::uint16_t port) {
    const std::string file = (folder.path() / "nginx.conf").string();
    std::ofstream{file} << configuration(folder, port, asked.workers);
    bench::become({program(), "-p", folder.path().string(), "-c", file, "-e", "stderr"});
  });
}
