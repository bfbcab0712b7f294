#include <tartan/http/host_name.h>
#include <tartan/http/text.h>
#include <tartan/http/url.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace tartan::http {

namespace {

constexpr std::uint16_t plain_port = 80;
constexpr std::uint16_t secure_port = 443;

bool is_visible(std::string_view text) noexcept {
  return text.empty() || (is_plain(text) && text.find(' ') == std::string_view::npos);
}

/// "http://" or "https://" at the front, in any letters; the length of it.
std::size_t scheme_of(std::string_view text, bool& secure) noexcept {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!same_letters(text.substr(0, scheme.size()), scheme)) continue;
    secure = scheme.size() == 8;
    return scheme.size();
  }
  return 0;
}

/// "example.org:8080" or "[::1]".
bool take_authority(std::string_view text, url& into) {
  if (text.empty() || !is_host(text)) return false;
  std::string_view host = text;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && text.back() != ']' && (text.front() != '[' || text[colon - 1] == ']')) {
    host = text.substr(0, colon);
    const std::string_view port = text.substr(colon + 1);
    if (!port.empty()) {
      const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), into.port);
      if (error != std::errc{} || end != port.data() + port.size() || into.port == 0) return false;
    }
  }
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  into.host = lower_name{host}.text();
  return !into.host.empty();
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (c > ' ' && c <= '~') {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', digits[byte / 16], digits[byte % 16]});
  }
  return out;
}

/// Resolves "." and ".." (RFC 3986, 5.2.4).
std::string without_dots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    path.remove_prefix(1);  // the '/'
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    const bool is_last = path.empty();
    if (segment == "..") {
      out.erase(std::min(out.rfind('/'), out.size()));
      if (is_last) out += '/';
    } else if (segment != ".") {
      out.append("/").append(segment);
    } else if (is_last) {
      out += '/';
    }
  }
  return out.empty() ? "/" : out;
}

}  // namespace

result<url> url::parse(std::string_view text) {
  const std::error_code wrong = std::make_error_code(std::errc::invalid_argument);
  text = text.substr(0, text.find('#'));
  url made;
  const std::size_t scheme = scheme_of(text, made.secure);
  if (scheme == 0 || !is_visible(text)) return wrong;
  made.port = made.secure ? secure_port : plain_port;
  const std::size_t end = std::min(text.find_first_of("/?", scheme), text.size());
  if (!take_authority(text.substr(scheme, end - scheme), made)) return wrong;
  made.target = text.substr(end);
  if (!made.target.starts_with('/')) made.target.insert(0, "/");
  return made;
}

result<url> url::resolve(std::string_view given) const {
  const std::string reference = percent_encoded(given.substr(0, given.find('#')));
  bool unused = false;
  if (scheme_of(reference, unused) != 0) return parse(reference);
  if (reference.starts_with("//")) return parse((secure ? "https:" : "http:") + reference);
  url made = *this;
  const std::string_view base = std::string_view{target}.substr(0, target.find('?'));
  const std::size_t query_at = std::min(reference.find('?'), reference.size());
  const std::string path = reference.substr(0, query_at);
  if (path.substr(0, path.find('/')).find(':') != std::string::npos) {
    return std::make_error_code(std::errc::invalid_argument);  // another scheme
  }
  if (reference.empty()) return made;
  const std::string query = reference.substr(query_at);
  if (path.empty()) {
    made.target = std::string{base} + query;
  } else if (path.starts_with('/')) {
    made.target = without_dots(path) + query;
  } else {
    made.target = without_dots(std::string{base.substr(0, base.rfind('/') + 1)} + path) + query;
  }
  return made;
}

std::string url::authority() const {
  std::string text = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  if (port != (secure ? secure_port : plain_port)) text += ":" + std::to_string(port);
  return text;
}

std::string url::origin() const {
  return (secure ? "https://" : "http://") + authority();
}

}  // namespace tartan::http
