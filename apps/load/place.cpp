#include "load/place.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>

#include "load/url_bytes.h"

namespace load {

namespace {

bool accepts(const tartan::address& at) noexcept {
  constexpr int patience_ms = 1000;
  const int door = ::socket(at.data()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (door < 0) return false;
  int error = ::connect(door, at.data(), at.size()) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd made{door, POLLOUT, 0};
    socklen_t size = sizeof error;
    int ready = -1;
    do ready = ::poll(&made, 1, patience_ms);
    while (ready < 0 && errno == EINTR);
    if (ready != 1 || ::getsockopt(door, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = ETIMEDOUT;
  }
  ::close(door);
  return error == 0;
}

}  // namespace

place place::of(const authority& from, std::uint16_t default_port) {
  return {from.zone.empty() ? from.host : from.host + "%" + from.zone, from.port.value_or(default_port)};
}

place parse_place(std::string_view text) {
  try {
    const authority read = parse_authority(text, "%");
    if (!read.port) throw std::invalid_argument{"the port is missing: expected HOST:PORT"};
    return place::of(read, 0);
  } catch (const std::invalid_argument& why) {
    throw std::invalid_argument{"'" + printable(text) + "': " + why.what()};
  }
}

// The port is set here: getaddrinfo() takes the low 16 bits of a larger number.
std::vector<tartan::address> look_up(const place& where) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(where.host.c_str(), nullptr, &wanted, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{error == 0 ? found : nullptr, &::freeaddrinfo};
  if (error != 0) throw std::invalid_argument{where.host + ": " + ::gai_strerror(error)};
  std::vector<tartan::address> all;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    all.push_back(tartan::address::from(each->ai_addr, each->ai_addrlen).with_port(where.port));
  }
  return all;
}

const tartan::address& first_that_accepts(std::span<const tartan::address> all) noexcept {
  const auto found = all.size() == 1 ? all.begin() : std::find_if(all.begin(), all.end(), accepts);
  return found == all.end() ? all.front() : *found;
}

}  // namespace load
