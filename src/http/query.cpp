#include <tartan/http/query.h>

#include <charconv>
#include <system_error>

namespace tartan::http {

std::string form_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned char byte = 0;
    const char* const digits = text.data() + at + 1;
    if (text[at] == '+') {
      out.push_back(' ');
    } else if (text[at] == '%' && text.size() - at > 2 &&
               std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out.push_back(static_cast<char>(byte));
      at += 2;
    } else {
      out.push_back(text[at]);
    }
  }
  return out;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  if (query.starts_with('?')) query.remove_prefix(1);
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(part.size() + (part.size() < query.size() ? 1 : 0));
    const std::size_t equals = part.find('=');
    if (form_decoded(part.substr(0, equals)) != name) continue;
    return equals == std::string_view::npos ? std::string{} : form_decoded(part.substr(equals + 1));
  }
  return std::nullopt;
}

}  // namespace tartan::http
