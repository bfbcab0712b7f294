#include "load/url.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "load/authority.h"
#include "load/header.h"
#include "load/url_bytes.h"

namespace load {

namespace {

constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument{why};
}

/// What follows the scheme, which has no case (RFC 3986, 3.1).
std::string_view without_scheme(std::string_view text, bool& is_sealed) {
  for (const std::string_view scheme : {std::string_view{"http://"}, std::string_view{"https://"}}) {
    is_sealed = scheme.starts_with("https");
    if (equals(text.substr(0, scheme.size()), scheme)) return text.substr(scheme.size());
  }
  refuse("expected http://HOST:PORT/path or https://HOST:PORT/path");
}

/// Of a path and a query.
void check_bytes(std::string_view text) {
  for (std::size_t n = 0; n < text.size(); ++n) {
    const char c = text[n];
    if (c == '%') {
      const std::string_view digits = text.substr(n + 1, 2);
      const bool are_hex = digits.size() == 2 && std::all_of(digits.begin(), digits.end(), is_hex_digit);
      if (!are_hex) refuse("two hexadecimal digits must follow '%': write %25 for '%' itself");
    } else if (!is_unreserved(c) && !is_sub_delimiter(c) &&
               std::string_view{":@/?"}.find(c) == std::string_view::npos) {
      refuse("a path or query cannot have " + shown(c) + ": write " + percent_encoded(c));
    }
  }
}

url read(std::string_view text) {
  bool is_sealed = false;
  const std::string_view rest = without_scheme(text, is_sealed);
  const std::string_view sent = rest.substr(0, rest.find('#'));
  const std::string_view before_query = sent.substr(0, sent.find('?'));
  const std::size_t end = std::min(before_query.find('/'), before_query.size());
  const authority where = parse_authority(sent.substr(0, end), "%25");
  check_bytes(sent.substr(end));
  url made{is_sealed, place::of(where, is_sealed ? https_port : http_port), where.host_header(), std::string{before_query.substr(end)},
           std::string{sent.substr(before_query.size())}};
  if (made.at.port == 0) refuse("port 0 cannot be connected to: ports are 1 to 65535");
  if (made.path.empty()) made.path = "/";
  return made;
}

}  // namespace

url parse_url(std::string_view text) {
  try {
    return read(text);
  } catch (const std::invalid_argument& why) {
    throw std::invalid_argument{"'" + printable(text) + "': " + why.what()};
  }
}

}  // namespace load
