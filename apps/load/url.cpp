#include "url.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace load {

tartan::address look_up(std::string_view place, std::string_view default_port) {
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
  return tartan::address::from(found->ai_addr, found->ai_addrlen);
}

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
  read.at = look_up(read.host, "80");
  return read;
}

}  // namespace load
