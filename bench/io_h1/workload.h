#pragma once
// H1: what does a request cost a web server? One file of 1024 bytes, kept-alive connections, 200 clients. The server is a process of its
// own, whatever it is; this one is the clients, which check the status, the length and every byte of the body.

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <strings.h>
#include <sys/socket.h>
#include <system_error>
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

inline constexpr std::size_t page_bytes = 1024;
inline constexpr std::size_t web_clients = 200;

[[nodiscard]] inline std::string page_text() {
  std::string text = "<!doctype html>\n<title>A page</title>\n<p>";
  for (std::size_t n = 0; text.size() < page_bytes; ++n) text += "word " + std::to_string(n) + (n % 12 == 11 ? "\n" : " ");
  return text.substr(0, page_bytes);
}

/// A folder with the page in it, root/page.html, gone with this object.
class web_folder {
 public:
  web_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "bench-web-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::system_error{errno, std::system_category(), "mkdtemp"};
    path_ = name;
    std::filesystem::create_directory(root());
    std::filesystem::permissions(path_, std::filesystem::perms{0755});  // for workers of another user
    std::ofstream{root() / "page.html"} << page_text();
  }
  web_folder(const web_folder&) = delete;
  web_folder& operator=(const web_folder&) = delete;
  ~web_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path root() const { return path_ / "root"; }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

/// One that nobody listens on now.
[[nodiscard]] inline std::uint16_t free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (bind(probe, reinterpret_cast<const sockaddr*>(&at), size) != 0 || getsockname(probe, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    throw std::system_error{errno, std::system_category(), "bind"};
  }
  close(probe);
  return ntohs(at.sin_port);
}

/// A connection; tried again for 10 s while nobody listens yet.
[[nodiscard]] inline int connect_to(std::uint16_t port) {
  const sockaddr_in at = loopback(port);
  const int on = 1;
  for (int tries = 0; tries < 2000; ++tries) {
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) throw std::system_error{errno, std::system_category(), "socket"};
    if (connect(made, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) {
      setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return made;
    }
    close(made);
    static_cast<void>(poll(nullptr, 0, 5));  // a foreign server tells nobody that it listens
  }
  throw std::runtime_error{"the server does not listen"};
}

/// Checks responses.
class page_answer {
 public:
  explicit page_answer(const std::string& body) : body_{&body} {}

  bool add(std::string_view piece) {
    if (!partial_.empty()) piece = partial_.append(piece);
    const std::size_t end_of_head = piece.find("\r\n\r\n");
    if (end_of_head == std::string_view::npos || piece.size() < end_of_head + 4 + body_->size()) {
      if (partial_.empty()) partial_ = piece;
      return false;
    }
    check(piece.substr(0, end_of_head + 2), piece.substr(end_of_head + 4));
    partial_.clear();
    return true;
  }

 private:
  void check(std::string_view head, std::string_view body) const {
    const bool well = head.starts_with("HTTP/1.1 200 ") && length_in(head) == body_->size() && body == *body_;
    if (!well) throw std::runtime_error{"a wrong answer:\n" + std::string{head}};
  }
  static std::size_t length_in(std::string_view head) {
    constexpr std::string_view name = "\r\ncontent-length: ";
    std::size_t length = 0;
    for (std::size_t at = head.find('\r'); at + name.size() < head.size(); at = head.find('\r', at + 1)) {
      if (strncasecmp(head.data() + at, name.data(), name.size()) != 0) continue;
      std::from_chars(head.data() + at + name.size(), head.data() + head.size(), length);
      break;
    }
    return length;
  }

  const std::string* body_;
  std::string partial_;
};

/// Jain's index: 1 if all clients got as much, 1/n if one got all.
[[nodiscard]] inline double fairness(const std::vector<std::size_t>& answers) {
  double sum = 0;
  double squares = 0;
  for (const std::size_t each : answers) {
    sum += static_cast<double>(each);
    squares += static_cast<double>(each) * static_cast<double>(each);
  }
  return sum * sum / (squares * static_cast<double>(answers.size()));
}

/// What the clients have seen and the server has used, between two looks; reported.
inline void load(std::uint16_t port, pid_t server, std::size_t requests, const processors& cpus, report& out) {
  std::vector<int> sockets;
  for (std::size_t n = 0; n < web_clients; ++n) sockets.push_back(connect_to(port));
  const std::string body = page_text();
  const std::string request = "GET /page.html HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n";
  closed_loop<page_answer> clients{sockets, request, page_answer{body}, cpus.parted()};
  clients.run(requests / 8 + 2 * web_clients);
  const std::vector<pid_t> servers = family_of(server);
  const std::vector<pid_t> client{getpid()};
  const std::vector<std::size_t> warm = clients.answers();
  const std::uint64_t server_cpu_ns = cpu_ns_of(servers);
  const std::uint64_t client_cpu_ns = cpu_ns_of(client);
  const std::uint64_t began_ns = now_ns();
  clients.run(requests);
  const auto wall_ns = static_cast<double>(now_ns() - began_ns);
  const auto count = static_cast<double>(requests);
  const auto used_ns = static_cast<double>(cpu_ns_of(servers) - server_cpu_ns);
  std::vector<std::size_t> answers = clients.answers();
  for (std::size_t n = 0; n < answers.size(); ++n) answers[n] -= warm[n];
  out.add("requests", count);
  out.add("cpu_ns_per_request", used_ns / count);
  out.add("requests_per_s", count * 1e9 / wall_ns);
  out.add("cpus_used", used_ns / wall_ns);
  out.add("client_ns_per_request", static_cast<double>(cpu_ns_of(client) - client_cpu_ns) / count);
  out.add("fairness", fairness(answers));
  out.add("clients_with_nothing", static_cast<double>(std::ranges::count(answers, 0u)));
  for (const int each : sockets) close(each);
}

/// `serve(folder, port)` becomes the server, in a process of its own, until SIGTERM.
template <class F>
int web_server(const request& asked, F serve) try {
  const web_folder folder;
  const std::uint16_t port = free_port();
  const processors cpus{asked.workers};
  report out{asked, "h1"};
  server_process server{[&] {
    cpus.bind_server();
    serve(folder, port);
  }};
  cpus.bind_client();
  load(port, server.id(), asked.size(100'000), cpus, out);
  out.print(server.end());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

/// Replaces this process; its own output goes nowhere, what it complains of does not.
inline void become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
  execv(words[0], words.data());
  std::perror(words[0]);
  _exit(1);
}

}  // namespace bench
