#pragma once
// Ping-pong: what does a round trip cost the side that answers? A client sends 64 bytes on each connection, the server under test reads
// up to 4096 and writes back what it got. The client is a process of its own, and the same program for all.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "bench/harness/child.h"
#include "bench/harness/clock.h"
#include "bench/harness/closed_loop.h"
#include "bench/harness/cpu_clock.h"
#include "bench/harness/processors.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"

namespace bench {

inline constexpr std::size_t message_bytes = 64;
inline constexpr std::size_t read_buffer_bytes = 4096;  // of each connection, with each contender

enum class transport { pair, tcp };

/// Connected sockets: non-blocking, and with TCP_NODELAY; [0] the server's, [1] the client's.
class connections {
 public:
  connections(transport over, std::size_t count) {
    raise_descriptor_limit();
    const int door = over == transport::tcp ? listen_somewhere() : -1;
    for (std::size_t n = 0; n < count; ++n) {
      std::array<int, 2> ends{};
      if (over == transport::pair) {
        check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
      } else {
        connect_to(door, ends);
      }
      for (const unsigned side : {0u, 1u}) {
        check(fcntl(ends[side], F_SETFL, O_NONBLOCK), "fcntl");
        of_[side].push_back(ends[side]);
      }
    }
    if (door >= 0) close(door);
  }

  [[nodiscard]] const std::vector<int>& of(unsigned side) const { return of_[side]; }
  /// In the other process.
  void close_side(unsigned side) {
    for (const int each : of_[side]) close(each);
    of_[side].clear();
  }

 private:
  static int check(int result, const char* call) {
    if (result < 0) std::exit((std::perror(call), 1));
    return result;
  }
  static void raise_descriptor_limit() {
    rlimit limit{};
    check(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    check(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
  }
  static int listen_somewhere() {
    const int door = check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(bind(door, reinterpret_cast<const sockaddr*>(&here), sizeof here), "bind");
    check(listen(door, 16), "listen");
    return door;
  }
  static void connect_to(int door, std::array<int, 2>& ends) {
    sockaddr_in there{};
    socklen_t size = sizeof there;
    check(getsockname(door, reinterpret_cast<sockaddr*>(&there), &size), "getsockname");
    ends[1] = check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    check(connect(ends[1], reinterpret_cast<const sockaddr*>(&there), size), "connect");
    ends[0] = check(accept4(door, nullptr, nullptr, SOCK_CLOEXEC), "accept4");
    const int on = 1;
    for (const int end : ends) check(setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
  }

  std::array<std::vector<int>, 2> of_;
};

/// What the client has seen of one run, between its two looks.
struct ping_figures {
  std::uint64_t wall_ns;
  std::uint64_t server_cpu_ns;
  std::uint64_t client_cpu_ns;
};

/// Counts the bytes of an echo.
struct echo_answer {
  std::size_t got = 0;

  bool add(std::string_view piece) {
    got += piece.size();
    if (got < message_bytes) return false;
    got = 0;
    return true;
  }
};

/// The client: warms up, then measures the server from outside. Its sockets close with its process, which ends the server.
inline ping_figures ping(const std::vector<int>& sockets, std::size_t round_trips, bool spins) {
  closed_loop<echo_answer> clients{sockets, std::string(message_bytes, 'x'), {}, spins};
  clients.run(round_trips / 8 + 2 * sockets.size());
  const std::vector<pid_t> server{getppid()};
  const std::vector<pid_t> client{getpid()};
  const ping_figures before{now_ns(), cpu_ns_of(server), cpu_ns_of(client)};
  clients.run(round_trips);
  return {now_ns() - before.wall_ns, cpu_ns_of(server) - before.server_cpu_ns, cpu_ns_of(client) - before.client_cpu_ns};
}

/// Variant: what the connections are, and how many: pair_64, tcp_1000.
struct ping_pong_request {
  explicit ping_pong_request(const request& asked) {
    const std::size_t line = asked.variant.find('_');
    const std::string_view name = std::string_view{asked.variant}.substr(0, line);
    over = name == "tcp" ? transport::tcp : transport::pair;
    count = line == std::string::npos ? 0 : std::strtoul(asked.variant.c_str() + line + 1, nullptr, 10);
    if (count == 0 || (name != "tcp" && name != "pair")) {
      std::fprintf(stderr, "%s: a variant is pair_<connections> or tcp_<connections>\n", asked.contender.c_str());
      std::exit(2);
    }
  }

  transport over = transport::pair;
  std::size_t count = 0;
};

/// Server offers: a constructor from the number of workers; echo(transport, sockets), which answers on all of them, returns when all
/// clients are gone, and closes them; perhaps tell(report).
template <class Server>
int ping_pong(request asked) {
  const ping_pong_request wanted{asked};
  const std::string question = "io_" + std::exchange(asked.variant, {});
  const std::size_t round_trips = asked.size(wanted.count == 1 ? 30'000 : 100'000);
  connections all{wanted.over, wanted.count};
  void* const shared = mmap(nullptr, sizeof(ping_figures), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) std::exit((std::perror("mmap"), 1));
  auto* const seen = static_cast<ping_figures*>(shared);
  const processors cpus{asked.workers};
  const pid_t client = start_child([&] {
    cpus.bind_client();
    all.close_side(0);
    *seen = ping(all.of(1), round_trips, cpus.parted());
  });
  cpus.bind_server();
  all.close_side(1);
  report out{asked, question};
  Server server{asked.workers};
  server.echo(wanted.over, all.of(0));
  static_cast<void>(await_child(client));
  const auto trips = static_cast<double>(round_trips);
  out.add("round_trips", trips);
  out.add("cpu_ns_per_round_trip", static_cast<double>(seen->server_cpu_ns) / trips);
  out.add("round_trips_per_s", trips * 1e9 / static_cast<double>(seen->wall_ns));
  out.add("cpus_used", static_cast<double>(seen->server_cpu_ns) / static_cast<double>(seen->wall_ns));
  out.add("client_ns_per_round_trip", static_cast<double>(seen->client_cpu_ns) / trips);
  add_own_figures(server, out);
  out.print();
  return 0;
}

}  // namespace bench
