#include "request.h"

#include <algorithm>

namespace web {

namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

header_field cut_field(std::string_view& lines) noexcept {
  const std::size_t end = lines.find("\r\n");
  const std::string_view line = lines.substr(0, end);
  lines.remove_prefix(end + 2);
  const std::size_t colon = line.find(':');
  return {line.substr(0, colon), trimmed(line.substr(colon + 1))};
}

std::optional<std::string_view> request::field(std::string_view name) const noexcept {
  for (std::string_view rest = fields; !rest.empty();) {
    const header_field next = cut_field(rest);
    if (same_letters(next.name, name)) return next.value;
  }
  return std::nullopt;
}

}  // namespace web
