#include "request.h"

#include <algorithm>
#include <cstddef>

namespace web {

namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_letter(char c) noexcept { return lower(c) >= 'a' && lower(c) <= 'z'; }

/// What a host's name may consist of, '%' for what is encoded among it.
bool is_name(std::string_view text) noexcept {
  constexpr std::string_view others = "-._~!$&'()*+,;=%";
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || is_digit(c) || others.find(c) != std::string_view::npos; });
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_host(std::string_view text) noexcept {
  std::string_view host = text;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(colon) + 1, text.end(), is_digit)) {
    host = text.substr(0, colon);
  }
  if (!host.starts_with('[')) return is_name(host);
  if (host.size() < 4 || host.back() != ']') return false;  // an IPv6 address
  host = host.substr(1, host.size() - 2);
  return std::all_of(host.begin(), host.end(), [](char c) { return c == ':' || is_name({&c, 1}); });
}

header_field cut_field(std::string_view& lines) noexcept {
  const std::size_t end = lines.find("\r\n");
  const std::string_view line = lines.substr(0, end);
  lines.remove_prefix(end + 2);
  const std::size_t colon = line.find(':');
  return {line.substr(0, colon), trimmed(line.substr(colon + 1))};
}

}  // namespace web
