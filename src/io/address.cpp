#include <tartan/io/address.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

namespace tartan {

namespace {

constexpr std::string_view unix_prefix = "unix:";

std::error_code invalid() noexcept { return std::make_error_code(std::errc::invalid_argument); }

template <class N>
bool read_number(std::string_view text, N& into) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

template <class S>
address made_of(const S& native, std::size_t size = sizeof(S)) noexcept {
  return address::from(reinterpret_cast<const sockaddr*>(&native), static_cast<unsigned>(size));
}

template <class S>
S native_of(const address& a) noexcept {
  S native{};
  std::memcpy(&native, a.data(), std::min<std::size_t>(a.size(), sizeof native));
  return native;
}

/// inet_pton wants a terminated string.
struct text_copy {
  char bytes[INET6_ADDRSTRLEN + 1] = {};
  bool fits = false;
  explicit text_copy(std::string_view text) noexcept
      : fits{text.size() < sizeof bytes && text.find('\0') == std::string_view::npos} {  // what is behind a NUL would not be looked at
    if (fits) text.copy(bytes, text.size());
  }
};

result<address> parse_ipv4(std::string_view host, std::uint16_t port) noexcept {
  sockaddr_in native{};
  native.sin_family = AF_INET;
  native.sin_port = htons(port);
  const text_copy text{host.empty() || host == "*" ? std::string_view{"0.0.0.0"} : host};
  if (!text.fits || ::inet_pton(AF_INET, text.bytes, &native.sin_addr) != 1) return invalid();
  return made_of(native);
}

result<address> parse_ipv6(std::string_view host, std::uint16_t port) noexcept {
  sockaddr_in6 native{};
  native.sin6_family = AF_INET6;
  native.sin6_port = htons(port);
  if (const auto zone = host.find('%'); zone != std::string_view::npos) {
    if (!read_number(host.substr(zone + 1), native.sin6_scope_id)) {
      char name[IF_NAMESIZE] = {};
      if (host.size() - zone - 1 >= sizeof name) return invalid();
      host.substr(zone + 1).copy(name, sizeof name - 1);
      native.sin6_scope_id = ::if_nametoindex(name);
      if (native.sin6_scope_id == 0) return invalid();
    }
    host = host.substr(0, zone);
  }
  const text_copy text{host};
  if (!text.fits || ::inet_pton(AF_INET6, text.bytes, &native.sin6_addr) != 1) return invalid();
  return made_of(native);
}

}  // namespace

result<address> address::parse(std::string_view text) noexcept {
  if (text.starts_with(unix_prefix)) return unix_path(text.substr(unix_prefix.size()));
  const auto colon = text.rfind(':');
  std::uint16_t port = 0;
  if (colon == std::string_view::npos || !read_number(text.substr(colon + 1), port)) return invalid();
  const std::string_view host = text.substr(0, colon);
  if (!host.starts_with('[')) return parse_ipv4(host, port);
  if (!host.ends_with(']')) return invalid();
  return parse_ipv6(host.substr(1, host.size() - 2), port);
}

address address::loopback(std::uint16_t port) noexcept {
  sockaddr_in native{};
  native.sin_family = AF_INET;
  native.sin_port = htons(port);
  native.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return made_of(native);
}

result<address> address::unix_path(std::string_view path) noexcept {
  sockaddr_un native{};
  native.sun_family = AF_UNIX;
  if (path.empty()) return invalid();
  const bool abstract = path.front() == '@';
  // An abstract name ends with the address, a path with a zero.
  if (path.size() + (abstract ? 0 : 1) > sizeof native.sun_path) return std::make_error_code(std::errc::filename_too_long);
  path.copy(native.sun_path, path.size());
  if (abstract) native.sun_path[0] = '\0';
  return made_of(native, offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
}

std::string address::to_string() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (family() == AF_INET) {
    const auto native = native_of<sockaddr_in>(*this);
    ::inet_ntop(AF_INET, &native.sin_addr, text, sizeof text);
    return std::string{text} + ':' + std::to_string(port());
  }
  if (family() == AF_INET6) {
    const auto native = native_of<sockaddr_in6>(*this);
    ::inet_ntop(AF_INET6, &native.sin6_addr, text, sizeof text);
    const std::string zone = native.sin6_scope_id != 0 ? '%' + std::to_string(native.sin6_scope_id) : std::string{};
    return '[' + std::string{text} + zone + "]:" + std::to_string(port());
  }
  constexpr std::size_t head = offsetof(sockaddr_un, sun_path);
  if (!is_unix() || size_ <= head) return {};
  const auto native = native_of<sockaddr_un>(*this);
  std::string path{native.sun_path, size_ - head};
  if (path.front() == '\0') {
    path.front() = '@';
  } else {
    path.resize(std::strlen(path.c_str()));
  }
  return std::string{unix_prefix} + path;
}

int address::family() const noexcept { return size_ >= sizeof(sa_family_t) ? data()->sa_family : AF_UNSPEC; }
bool address::is_ip() const noexcept { return family() == AF_INET || family() == AF_INET6; }
bool address::is_unix() const noexcept { return family() == AF_UNIX; }

// The port is at the same place in both.
static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));

std::uint16_t address::port() const noexcept { return is_ip() ? ntohs(native_of<sockaddr_in>(*this).sin_port) : std::uint16_t{0}; }

address address::with_port(std::uint16_t port) const noexcept {
  address changed = *this;
  if (!is_ip()) return changed;
  const in_port_t wire = htons(port);
  std::memcpy(changed.bytes_.data() + offsetof(sockaddr_in, sin_port), &wire, sizeof wire);
  return changed;
}

bool address::operator==(const address& other) const noexcept {
  return size_ == other.size_ && std::equal(bytes_.begin(), bytes_.begin() + size_, other.bytes_.begin());
}

address address::from(const sockaddr* data, unsigned size) noexcept {
  address made;
  made.size_ = static_cast<unsigned>(std::min<std::size_t>(size, capacity));
  std::memcpy(made.bytes_.data(), data, made.size_);
  return made;
}

}  // namespace tartan
