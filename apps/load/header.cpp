#include "load/header.h"

#include <tartan/http/field.h>

#include <algorithm>
#include <cstddef>

namespace load {

bool equals(std::string_view a, std::string_view small_letters) noexcept {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return a.size() == small_letters.size() && std::equal(a.begin(), a.end(), small_letters.begin(), [&](char x, char y) { return small(x) == y; });
}

bool is_named(std::string_view line, std::string_view name) noexcept {
  return line.size() > name.size() && line[name.size()] == ':' && equals(line.substr(0, name.size()), name);
}

std::string wrong_with_header(const std::string& line) {
  const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; };
  if (std::any_of(line.begin(), line.end(), is_control)) return "a control character is in it";
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos || !tartan::http::is_token(std::string_view{line}.substr(0, colon))) return "'" + line + "' is no \"Name: value\"";
  for (const std::string_view own : {"connection", "content-length", "expect", "keep-alive", "te", "transfer-encoding", "upgrade"}) {
    if (is_named(line, own)) return "'" + line.substr(0, colon) + "' is the injector's own: it says where a request ends, or what becomes of its connection";
  }
  return {};
}

}  // namespace load
