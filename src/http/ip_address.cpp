#include <tartan/http/ip_address.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace tartan::http {

namespace {

constexpr std::array<std::uint8_t, 12> ipv4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/// Without leading zeros. Nothing: it is no number up to `most`.
std::optional<unsigned> number_of(std::string_view text, unsigned most) noexcept {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc{} && end == text.data() + text.size() && (text.size() == 1 || text.front() != '0');
  return is_number && value <= most ? std::optional{value} : std::nullopt;
}

}  // namespace

std::optional<ip_address> ip_address::parse(std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> copy{};
  if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::copy(text.begin(), text.end(), copy.begin());
  std::array<std::uint8_t, 4> four{};
  if (::inet_pton(AF_INET, copy.data(), four.data()) == 1) return of(std::span<const std::uint8_t, 4>{four});
  ip_address made;
  if (::inet_pton(AF_INET6, copy.data(), made.bytes_.data()) != 1) return std::nullopt;
  return made;
}

ip_address ip_address::of(std::span<const std::uint8_t, 4> bytes) noexcept {
  ip_address made;
  std::copy(bytes.begin(), bytes.end(), std::copy(ipv4_prefix.begin(), ipv4_prefix.end(), made.bytes_.begin()));
  return made;
}

ip_address ip_address::of(std::span<const std::uint8_t, 16> bytes) noexcept {
  ip_address made;
  std::copy(bytes.begin(), bytes.end(), made.bytes_.begin());
  return made;
}

bool ip_address::is_ipv4() const noexcept { return std::equal(ipv4_prefix.begin(), ipv4_prefix.end(), bytes_.begin()); }

std::string ip_address::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_ipv4()) {
    ::inet_ntop(AF_INET, bytes_.data() + ipv4_prefix.size(), text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, bytes_.data(), text.data(), text.size());
  }
  return text.data();
}

std::optional<ip_range> ip_range::parse(std::string_view text) noexcept {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::optional<ip_address> first = ip_address::parse(text.substr(0, slash));
  if (!first) return std::nullopt;
  const bool is_ipv4 = text.substr(0, slash).find(':') == std::string_view::npos;
  const unsigned most = is_ipv4 ? 32 : 128;
  const std::optional<unsigned> told = slash != text.size() ? number_of(text.substr(slash + 1), most) : most;
  if (!told) return std::nullopt;
  const unsigned prefix = *told + (128 - most);
  for (unsigned bit = prefix; bit < 128; ++bit) {
    if ((first->bytes()[bit / 8] >> (7 - bit % 8) & 1) != 0) return std::nullopt;
  }
  return ip_range{*first, prefix};
}

bool ip_range::contains(const ip_address& one) const noexcept {
  const std::size_t whole = prefix_ / 8;
  const std::span<const std::uint8_t, 16> bytes = one.bytes();
  if (!std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(whole), first_.bytes().begin())) return false;
  return prefix_ % 8 == 0 || (bytes[whole] ^ first_.bytes()[whole]) >> (8 - prefix_ % 8) == 0;
}

}  // namespace tartan::http
