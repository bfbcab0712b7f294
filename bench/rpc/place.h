#pragma once
// What the RPC contenders share: their command line, sockets, and the line that a client prints.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/cpu_clock.h"

namespace bench {

inline constexpr std::uint32_t rpc_program = 400199;
inline constexpr std::uint32_t rpc_version = 1;
inline constexpr std::uint32_t rpc_null = 0;
inline constexpr std::uint32_t rpc_echo = 1;
inline constexpr std::size_t echo_bytes = 1024;

/// Command line: serve <place>, or call <place> null|echo <window> <seconds> <the server's process>. A place is unix:<path>,
/// tcp:<port> or tls:<port>.
struct rpc_request {
  rpc_request(int argc, char** argv) {
    const bool serves_it = argc == 3 && std::string_view{argv[1]} == "serve";
    if (!serves_it && (argc != 7 || std::string_view{argv[1]} != "call")) usage(argv[0]);
    serves = serves_it;
    const std::string_view place = argv[2];
    kind = place.substr(0, place.find(':'));
    where = place.substr(place.find(':') + 1);
    if (kind != "unix" && kind != "tcp" && kind != "tls") usage(argv[0]);
    if (serves) return;
    echoes = std::string_view{argv[3]} == "echo";
    window = static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10));
    seconds = std::strtod(argv[5], nullptr);
    server = static_cast<pid_t>(std::strtol(argv[6], nullptr, 10));
    if (window == 0 || !(seconds > 0)) usage(argv[0]);
  }

  [[noreturn]] static void usage(const char* name) {
    std::fprintf(stderr, "usage: %s serve <place> | call <place> null|echo <window> <seconds> <process>\n", name);
    std::exit(2);
  }

  bool serves = false;
  std::string kind;
  std::string where;
  bool echoes = false;
  unsigned window = 1;
  double seconds = 1;
  pid_t server = 0;
};

/// A connected or listening socket.
inline int rpc_socket(const rpc_request& asked, bool listens) {
  sockaddr_in inet{};
  inet.sin_family = AF_INET;
  inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  inet.sin_port = htons(static_cast<std::uint16_t>(std::atoi(asked.where.c_str())));
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  std::strncpy(local.sun_path, asked.where.c_str(), sizeof local.sun_path - 1);
  const bool is_local = asked.kind == "unix";
  const auto* const at =
      is_local ? reinterpret_cast<const sockaddr*>(&local) : reinterpret_cast<const sockaddr*>(&inet);
  const socklen_t size = is_local ? sizeof local : sizeof inet;
  const int made = socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (!is_local) setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!is_local && listens) setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (listens ? bind(made, at, size) != 0 || listen(made, 16) != 0 : connect(made, at, size) != 0) {
    std::exit((std::perror("socket"), 1));
  }
  return made;
}

/// Says when to begin to count calls and when to end. Counts the processor time of both processes between.
class rpc_clock {
 public:
  explicit rpc_clock(const rpc_request& asked)
      : both_{getpid(), asked.server},
        begin_ns_{now_ns() + static_cast<std::uint64_t>(asked.seconds * 0.25e9)},
        end_ns_{begin_ns_ + static_cast<std::uint64_t>(asked.seconds * 1e9)} {}

  /// After calls were answered. False: it is over.
  bool count(std::uint64_t calls) {
    const std::uint64_t now = now_ns();
    if (now < begin_ns_ || ended_) return !ended_;
    if (first_ns_ == 0) {
      first_ns_ = now;
      cpu_ns_ = cpu_ns_of(both_);
      return true;
    }
    calls_ += calls;
    if (now < end_ns_) return true;
    ended_ = true;
    cpu_ns_ = cpu_ns_of(both_) - cpu_ns_;
    last_ns_ = now;
    return false;
  }
  void print() const {
    const auto per_call = [this](std::uint64_t ns) {
      return static_cast<double>(ns) / 1e3 / static_cast<double>(calls_);
    };
    std::printf("{\"cpu_us\": %.4f, \"wall_us\": %.4f}\n", per_call(cpu_ns_), per_call(last_ns_ - first_ns_));
  }

 private:
  std::vector<pid_t> both_;
  std::uint64_t begin_ns_;
  std::uint64_t end_ns_;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t cpu_ns_ = 0;
  std::uint64_t calls_ = 0;
  bool ended_ = false;
};

/// Tells the parent process that the server listens.
inline void say_ready() {
  std::puts("ready");
  std::fflush(stdout);
}

}  // namespace bench
