#include "url.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <vector>

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

/// Of "HOST:PORT", in the system's order.
std::vector<tartan::address> addresses_of(std::string_view place, std::string_view default_port) {
  std::string host{place};
  std::string port{default_port};
  const std::size_t colon = place.rfind(':');
  if (colon != std::string_view::npos && place.find(']', colon) == std::string_view::npos) {
    host = place.substr(0, colon);
    port = place.substr(colon + 1);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || port.empty()) throw std::invalid_argument{"no HOST:PORT: " + std::string{place}};
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{error == 0 ? found : nullptr, &::freeaddrinfo};
  if (error != 0) throw std::invalid_argument{std::string{place} + ": " + ::gai_strerror(error)};
  std::vector<tartan::address> all;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) all.push_back(tartan::address::from(each->ai_addr, each->ai_addrlen));
  return all;
}

}  // namespace

const tartan::address& first_that_accepts(std::span<const tartan::address> all) noexcept {
  const auto found = all.size() == 1 ? all.begin() : std::find_if(all.begin(), all.end(), accepts);
  return found == all.end() ? all.front() : *found;
}

tartan::address look_up(std::string_view place, std::string_view default_port) { return addresses_of(place, default_port).front(); }

url parse_url(std::string_view text) {
  constexpr std::string_view scheme = "http://";
  const auto is_odd = [](char c) { return static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f; };
  if (!text.starts_with(scheme) || std::any_of(text.begin(), text.end(), is_odd)) {
    throw std::invalid_argument{"no http://HOST:PORT/path: " + std::string{text}};
  }
  text.remove_prefix(scheme.size());
  const std::size_t slash = std::min(text.find('/'), text.size());
  url read;
  read.host = text.substr(0, slash);
  read.path = slash == text.size() ? "/" : text.substr(slash);
  read.at = first_that_accepts(addresses_of(read.host, "80"));
  return read;
}

}  // namespace load
