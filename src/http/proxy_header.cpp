#include <tartan/http/proxy_header.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace tartan::http {

namespace {

using outcome = proxy_header::outcome;

constexpr std::string_view signature{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr std::string_view word = "PROXY ";
constexpr std::size_t shortest_line = std::string_view{"PROXY UNKNOWN\r\n"}.size();
constexpr std::size_t longest_line = 107;
constexpr std::size_t fixed = 16;  // bytes in front of the addresses, in version 2
constexpr std::size_t most = 4096;

proxy_header refused() noexcept { return {.what = outcome::refused, .source = {}, .port = 0, .size = 0, .missing = 0}; }
proxy_header incomplete(std::size_t missing) noexcept { return {.what = outcome::incomplete, .source = {}, .port = 0, .size = 0, .missing = missing}; }

/// What is there of either begins as the other does.
bool is_beginning(std::string_view bytes, std::string_view of) noexcept {
  return bytes.substr(0, of.size()) == of.substr(0, bytes.size());
}

std::optional<std::uint16_t> port_of(std::string_view text) noexcept {
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc{} && end == text.data() + text.size() && (text.size() == 1 || text.front() != '0');
  return is_number ? std::optional{value} : std::nullopt;
}

/// Up to the next space, which is taken, too.
std::string_view next_word(std::string_view& rest) noexcept {
  const std::string_view found = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(found.size() + 1, rest.size()));
  return found;
}

/// The address of a line that names its family.
std::optional<ip_address> address_of(std::string_view text, bool is_ipv4) noexcept {
  const bool has_colon = text.find(':') != std::string_view::npos;
  return has_colon != is_ipv4 ? ip_address::parse(text) : std::nullopt;
}

/// `line`: without its end.
proxy_header parse_line(std::string_view line) noexcept {
  const std::size_t size = line.size() + 2;
  std::string_view rest = line.substr(word.size());
  const std::string_view family = next_word(rest);
  if (family == "UNKNOWN") return {.what = outcome::complete, .source = {}, .port = 0, .size = size, .missing = 0};
  if (family != "TCP4" && family != "TCP6") return refused();
  if (std::count(line.begin(), line.end(), ' ') != 5) return refused();
  const bool is_ipv4 = family == "TCP4";
  const std::optional<ip_address> source = address_of(next_word(rest), is_ipv4);
  const std::optional<ip_address> target = address_of(next_word(rest), is_ipv4);
  const std::optional<std::uint16_t> port = port_of(next_word(rest));
  if (!source || !target || !port || !port_of(rest)) return refused();
  return {.what = outcome::complete, .source = source, .port = *port, .size = size, .missing = 0};
}

/// Each word that is missing takes a space and a byte, and the end two.
std::size_t missing_of_line(std::string_view bytes) noexcept {
  if (bytes.size() < shortest_line) return shortest_line - bytes.size();
  if (bytes.ends_with('\r')) return 1;
  if (bytes.starts_with("PROXY UNKNOWN")) return 2;
  const auto spaces = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), ' '));
  return (spaces < 5 ? 2 * (5 - spaces) : 0) + (bytes.ends_with(' ') ? 1 : 0) + 2;
}

proxy_header parse_v1(std::string_view bytes) noexcept {
  const std::string_view beginning = bytes.substr(0, longest_line);
  const std::size_t end = beginning.find('\n');
  if (end != std::string_view::npos) return end != 0 && bytes[end - 1] == '\r' ? parse_line(bytes.substr(0, end - 1)) : refused();
  const bool may_end = beginning.size() < longest_line;
  return may_end ? incomplete(missing_of_line(bytes)) : refused();
}

std::uint8_t byte_at(std::string_view bytes, std::size_t at) noexcept { return static_cast<std::uint8_t>(bytes[at]); }

template <std::size_t Size>
ip_address address_at(std::string_view bytes, std::size_t at) noexcept {
  std::array<std::uint8_t, Size> copy;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), Size, copy.begin());
  return ip_address::of(std::span<const std::uint8_t, Size>{copy});
}

proxy_header parse_v2(std::string_view bytes) noexcept {
  if (bytes.size() < fixed) return incomplete(fixed - bytes.size());
  const std::uint8_t command = byte_at(bytes, 12);
  const std::uint8_t family = byte_at(bytes, 13);
  const std::size_t length = std::size_t{byte_at(bytes, 14)} << 8 | byte_at(bytes, 15);
  const std::size_t size = fixed + length;
  if ((command != 0x20 && command != 0x21) || family >> 4 > 3 || (family & 15) > 2 || size > most) return refused();
  if (bytes.size() < size) return incomplete(size - bytes.size());
  proxy_header found{.what = outcome::complete, .source = {}, .port = 0, .size = size, .missing = 0};
  const bool is_local = command == 0x20;
  const std::size_t address = family == 0x11 ? 4 : family == 0x21 ? 16 : 0;  // TCP over IPv4, over IPv6
  if (is_local || address == 0) return found;
  if (length < 2 * address + 4) return refused();
  found.source = address == 4 ? address_at<4>(bytes, fixed) : address_at<16>(bytes, fixed);
  const std::size_t port = fixed + 2 * address;
  found.port = static_cast<std::uint16_t>(byte_at(bytes, port) << 8 | byte_at(bytes, port + 1));
  return found;
}

}  // namespace

proxy_header parse_proxy_header(std::string_view bytes) noexcept {
  if (bytes.empty()) return incomplete(shortest_line);
  if (is_beginning(bytes, word)) return parse_v1(bytes);
  return is_beginning(bytes, signature) ? parse_v2(bytes) : refused();
}

}  // namespace tartan::http
