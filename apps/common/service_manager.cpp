#include "common/service_manager.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "common/file.h"

namespace tartan::apps {

namespace {

std::optional<long> number_of(const char* text) noexcept {
  long number = 0;
  const std::string_view all{text};
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
  return error == std::errc{} && end == all.data() + all.size() ? std::optional{number} : std::nullopt;
}

}  // namespace

std::vector<passed_socket> passed_sockets() {
  constexpr int first = 3;
  std::vector<passed_socket> found;
  const char* const all_names = std::getenv("LISTEN_FDNAMES");
  std::string_view names = all_names != nullptr ? all_names : "";
  const char* const pid = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  if (pid != nullptr && count != nullptr && number_of(pid) == ::getpid()) {
    const std::optional<long> number = number_of(count);
    for (int n = first; n - first < number.value_or(0); ++n) {
      if (::fcntl(n, F_SETFD, FD_CLOEXEC) != 0) break;
      const std::size_t colon = std::min(names.find(':'), names.size());
      found.push_back({n, std::string{names.substr(0, colon)}});
      names.remove_prefix(std::min(colon + 1, names.size()));
    }
    if (number != static_cast<long>(found.size())) {
      throw std::invalid_argument{std::string{"LISTEN_FDS is '"} + count + "', which is no number of open descriptors"};
    }
  }
  for (const char* each : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(each);
  return found;
}

void notify_manager(std::string_view state) noexcept {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un to{};
  if (path == nullptr || (path[0] != '/' && path[0] != '@') || std::strlen(path) >= sizeof to.sun_path) return;
  to.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(path);
  std::memcpy(to.sun_path, path, length);
  if (path[0] == '@') to.sun_path[0] = '\0';
  const file socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  // MSG_DONTWAIT: a manager that does not read must not keep the program from its work.
  static_cast<void>(::sendto(socket.descriptor(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                             reinterpret_cast<const sockaddr*>(&to), size));
}

}  // namespace tartan::apps
