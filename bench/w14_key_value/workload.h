#pragma once
// W14: what does shared state cost in a natural program? A key-value server speaks RESP. Its keys are spread over 64
// shards, and any connection may ask for any key. The server runs in a process of its own. The load is redis-benchmark
// with 50 connections: SET, then GET, then INCR, over 100 000 keys.

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "bench/harness/child.h"
#include "bench/harness/clock.h"
#include "bench/harness/cpu_clock.h"
#include "bench/harness/kernel_counts.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"

namespace bench {

inline constexpr std::size_t key_value_clients = 50;
inline constexpr std::size_t kinds_of_commands = 3;  ///< SET, GET, INCR
inline constexpr std::size_t most_loads = 5;         ///< processes of redis-benchmark

/// Counters that a server may report when it ends. They lie in memory that both processes share.
struct server_counters {
  bool told = false;
  double steals = 0;
  double wakes = 0;
  double sleeps = 0;
};

/// The CPUs of the server and of the load. The server gets one CPU for each worker, the load gets the upper half. If
/// the server has more workers than half of the CPUs, both share all of them.
class key_value_places {
 public:
  explicit key_value_places(unsigned workers) {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) std::exit((std::perror("sched_getaffinity"), 1));
    std::vector<int> all;
    for (int n = 0; n < CPU_SETSIZE; ++n) {
      if (CPU_ISSET(n, &usable)) all.push_back(n);
    }
    const std::size_t half = all.size() / 2;
    apart_ = workers <= half;
    server_.assign(all.begin(), apart_ ? all.begin() + workers : all.end());
    load_.assign(apart_ ? all.begin() + static_cast<std::ptrdiff_t>(half) : all.begin(), all.end());
  }

  void bind_server() const { bind(server_); }
  void bind_load() const { bind(load_); }
  /// How many processes of redis-benchmark there are: one would be slower than several workers. With its own threads, it
  /// would take a multiple of 250 ms, whatever it does.
  [[nodiscard]] std::size_t loads() const { return apart_ && load_.size() >= most_loads ? most_loads : 1; }

 private:
  static void bind(const std::vector<int>& to) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : to) CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) std::exit((std::perror("sched_setaffinity"), 1));
  }

  std::vector<int> server_;
  std::vector<int> load_;
  bool apart_ = false;
};

/// The words of an environment variable, separated by spaces; if it is not set, `otherwise`.
[[nodiscard]] inline std::vector<std::string> command_in(const char* variable, const std::string& otherwise) {
  const char* const chosen = std::getenv(variable);
  std::istringstream text{chosen != nullptr ? chosen : otherwise};
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

/// Replaces this process by the command. Its standard output goes to `output`; if that is negative, it is dropped.
/// `name`: argv[0], if that is not to be the path.
inline void become(const std::vector<std::string>& command, int output = -1, const char* name = nullptr) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (output >= 0 ? dup2(output, STDOUT_FILENO) < 0 : std::freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
  if (name != nullptr) words[0] = const_cast<char*>(name);
  execv(command[0].c_str(), words.data());
  std::perror(command[0].c_str());
  _exit(1);
}

/// A client that compares each answer with the expected one and throws if they differ.
class checking_client {
 public:
  /// Retries for 10 s until the server listens.
  explicit checking_client(std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int tries = 0; tries < 2000; ++tries) {
      socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (socket_ >= 0 && connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return;
      close(socket_);
      static_cast<void>(poll(nullptr, 0, 5));  // a foreign server does not announce that it listens
    }
    throw std::runtime_error{"the server does not listen"};
  }
  checking_client(const checking_client&) = delete;
  checking_client& operator=(const checking_client&) = delete;
  ~checking_client() { close(socket_); }

  void expect(std::string_view asked, std::string_view answer) {
    if (send(socket_, asked.data(), asked.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(asked.size()))
      throw std::runtime_error{"the server is gone"};
    std::string got(answer.size(), '\0');
    const ssize_t length = recv(socket_, got.data(), got.size(), MSG_WAITALL);
    got.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    if (got != answer)
      throw std::runtime_error{"asked " + std::string{asked} + "the server says " + got + ", and not " +
                               std::string{answer}};
  }

 private:
  int socket_ = -1;
};

/// Checks before the load that the server implements the commands. check_after looks whether a key that expires after a
/// second is gone, if the run has lasted that long.
inline void check_before(std::uint16_t port) {
  checking_client client{port};
  client.expect("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\n41\r\n", "+OK\r\n");
  client.expect("*2\r\n$4\r\nINCR\r\n$1\r\na\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n", ":42\r\n$2\r\n42\r\n");
  client.expect("*3\r\n$6\r\nEXPIRE\r\n$1\r\na\r\n$1\r\n0\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n", ":1\r\n$-1\r\n");
  client.expect("*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$1\r\nx\r\n*3\r\n$3\r\nDEL\r\n$1\r\nb\r\n$1\r\nc\r\n", "+OK\r\n:1\r\n");
  client.expect("*3\r\n$3\r\nSET\r\n$5\r\nshort\r\n$1\r\nx\r\n*3\r\n$6\r\nEXPIRE\r\n$5\r\nshort\r\n$1\r\n1\r\n",
                "+OK\r\n:1\r\n");
}
inline void check_after(std::uint16_t port, std::uint64_t lasted_ns) {
  checking_client client{port};
  if (lasted_ns > 1'100'000'000) client.expect("*2\r\n$3\r\nGET\r\n$5\r\nshort\r\n", "$-1\r\n");
}

/// The context switches of all threads of these processes.
struct switches {
  double voluntary = 0;
  double involuntary = 0;

  [[nodiscard]] static switches of(const std::vector<pid_t>& processes) {
    switches sum;
    for (const pid_t process : processes) {
      for (const auto& thread : std::filesystem::directory_iterator{"/proc/" + std::to_string(process) + "/task"}) {
        std::ifstream status{thread.path() / "status"};
        for (std::string name; status >> name;) {
          double count = 0;
          if (name == "voluntary_ctxt_switches:" && status >> count) sum.voluntary += count;
          if (name == "nonvoluntary_ctxt_switches:" && status >> count) sum.involuntary += count;
        }
      }
    }
    return sum;
  }
};

/// Runs redis-benchmark against one port.
class command_load {
 public:
  command_load(std::uint16_t port, std::size_t pipeline, const key_value_places& cpus)
      : port_{port}, pipeline_{pipeline}, cpus_{&cpus} {}

  /// Sends this many commands, a third of each kind, rounded up so that all processes send alike; gives the number, and
  /// the time in ns that the slowest process needed, by its own clock.
  ///
  /// Latency: the mean of the kinds' medians, the greatest of their 99th percentiles.
  struct sent {
    std::size_t commands;
    double took_ns;
    double p50_us;
    double p99_us;
  };
  [[nodiscard]] sent run(std::size_t commands) const {
    const std::size_t parts = kinds_of_commands * cpus_->loads();
    const std::size_t of_each = (commands + parts - 1) / parts;
    std::vector<started> all;
    for (std::size_t n = 0; n < cpus_->loads(); ++n) all.push_back(start(words(of_each)));
    sent sum{of_each * parts, 0, 0, 0};
    for (const started& each : all) {
      const sent one = figures_in(output_of(each), of_each);
      sum.took_ns = std::max(sum.took_ns, one.took_ns);
      sum.p50_us += one.p50_us / static_cast<double>(all.size());
      sum.p99_us = std::max(sum.p99_us, one.p99_us);
    }
    return sum;
  }

 private:
  struct started {
    pid_t process;
    int output;
  };

  [[nodiscard]] std::vector<std::string> words(std::size_t of_each) const {
    std::vector<std::string> all = command_in("BENCH_REDIS_BENCHMARK", "/usr/bin/redis-benchmark");
    const std::string clients = std::to_string(key_value_clients / cpus_->loads());
    for (const std::string& word :
         {std::string{"-p"}, std::to_string(port_), std::string{"-c"}, clients, std::string{"-n"},
          std::to_string(of_each), std::string{"-P"}, std::to_string(pipeline_), std::string{"-r"},
          std::string{"100000"}, std::string{"-t"}, std::string{"set,get,incr"}, std::string{"--csv"}}) {
      all.push_back(word);
    }
    return all;
  }

  [[nodiscard]] started start(const std::vector<std::string>& command) const {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error{"pipe"};
    const pid_t child = start_child([&] {
      cpus_->bind_load();
      become(command, ends[1]);
    });
    close(ends[1]);
    return {child, ends[0]};
  }

  /// Waits for its end.
  [[nodiscard]] static std::string output_of(const started& load) {
    std::string said;
    std::array<char, 4096> buffer;
    for (ssize_t got = 0; (got = read(load.output, buffer.data(), buffer.size())) > 0;) {
      said.append(buffer.data(), static_cast<std::size_t>(got));
    }
    close(load.output);
    static_cast<void>(await_child(load.process));
    return said;
  }

  /// From a line of each kind: "SET","commands/s","mean","least","median","95th","99th","greatest", the last six in ms.
  [[nodiscard]] static sent figures_in(const std::string& said, std::size_t of_each) {
    std::istringstream lines{said};
    double took_s = 0;
    sent sum{of_each * kinds_of_commands, 0, 0, 0};
    std::size_t kinds = 0;
    for (std::string line; std::getline(lines, line);) {
      const double rate = number_in(line, 1);
      if (rate <= 0) continue;
      took_s += static_cast<double>(of_each) / rate;
      sum.p50_us += number_in(line, 4) * 1e3 / static_cast<double>(kinds_of_commands);
      sum.p99_us = std::max(sum.p99_us, number_in(line, 6) * 1e3);
      ++kinds;
    }
    if (kinds != kinds_of_commands) throw std::runtime_error{"redis-benchmark does not tell how fast it was"};
    sum.took_ns = took_s * 1e9;
    return sum;
  }

  /// A field of such a line, counted from 0; 0 if it is no number, as in the head.
  [[nodiscard]] static double number_in(const std::string& line, std::size_t field) {
    std::size_t begin = 0;
    for (; field != 0 && begin != std::string::npos; --field) begin = line.find("\",\"", begin + 1);
    if (begin == std::string::npos) return 0;
    double value = 0;
    const auto [end, failed] = std::from_chars(line.data() + begin + 3, line.data() + line.size(), value);
    return failed == std::errc{} ? value : 0;
  }

  std::uint16_t port_;
  std::size_t pipeline_;
  const key_value_places* cpus_;
};

/// Warms up, then measures. System calls and wake-ups are counted in a separate run, because counting costs time.
inline void load_and_tell(const command_load& load, std::size_t commands, pid_t server, kernel_counts& kernel,
                          report& out) {
  static_cast<void>(load.run(commands / 8 + kinds_of_commands * key_value_clients));
  const std::vector<pid_t> servers = family_of(server);
  const switches before = switches::of(servers);
  const std::uint64_t cpu_ns = cpu_ns_of(servers);
  const command_load::sent sent = load.run(commands);
  const auto used_ns = static_cast<double>(cpu_ns_of(servers) - cpu_ns);
  const switches after = switches::of(servers);
  const auto count = static_cast<double>(sent.commands);
  out.add("commands", count);
  out.add("cpu_ns_per_command", used_ns / count);
  out.add("commands_per_s", count * 1e9 / sent.took_ns);
  out.add("p50_us", sent.p50_us);
  out.add("p99_us", sent.p99_us);
  out.add("cpus_used", used_ns / sent.took_ns);
  out.add("voluntary_switches_per_1000", (after.voluntary - before.voluntary) * 1e3 / count);
  out.add("involuntary_switches_per_1000", (after.involuntary - before.involuntary) * 1e3 / count);
  if (!kernel.works()) return;
  kernel.begin();
  const auto few = static_cast<double>(load.run(commands / 4).commands);
  kernel.end();
  out.add("system_calls_per_1000", kernel.system_calls() * 1e3 / few);
  out.add("wake_ups_per_1000", kernel.wake_ups() * 1e3 / few);
}

/// A port that is free now.
[[nodiscard]] inline std::uint16_t key_value_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (bind(probe, reinterpret_cast<const sockaddr*>(&at), size) != 0 ||
      getsockname(probe, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    throw std::runtime_error{"no port"};
  }
  close(probe);
  return ntohs(at.sin_port);
}

/// Variant: p<commands in a pipeline>. `serve(port, counters)` runs in a process of its own and serves until SIGTERM.
template <class F>
int key_value(request asked, F serve) try {
  const std::string name = std::exchange(asked.variant, {});
  const std::size_t pipeline = name.starts_with('p') ? std::strtoul(name.c_str() + 1, nullptr, 10) : 0;
  if (pipeline == 0 || pipeline > 1000)
    throw std::runtime_error{asked.contender + ": a variant is p<commands in a pipeline>"};
  const std::size_t commands = asked.size(pipeline == 1   ? 120'000
                                          : pipeline < 64 ? 900'000
                                                          : 1'800'000,
                                          kinds_of_commands);
  const key_value_places cpus{asked.workers};
  const std::uint16_t port = key_value_port();
  void* const shared =
      mmap(nullptr, sizeof(server_counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::array<int, 2> gate{};
  if (shared == MAP_FAILED || pipe2(gate.data(), O_CLOEXEC) != 0) throw std::runtime_error{"no memory"};
  auto* const told = new (shared) server_counters;
  report out{asked, "w14_" + name};
  server_process server{[&] {
    char open = 0;
    if (read(gate[0], &open, 1) != 1) _exit(1);
    cpus.bind_server();
    serve(port, *told);
  }};
  kernel_counts kernel{server.id(), "redis-benchmark"};
  const std::uint64_t began_ns = now_ns();
  if (write(gate[1], "x", 1) != 1) throw std::runtime_error{"the server is gone"};
  check_before(port);
  load_and_tell(command_load{port, pipeline, cpus}, commands, server.id(), kernel, out);
  check_after(port, now_ns() - began_ns);
  const process_usage used = server.end();
  if (told->told) {
    out.add("steals", told->steals);
    out.add("wakes", told->wakes);
    out.add("sleeps", told->sleeps);
  }
  out.print(used);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

}  // namespace bench
