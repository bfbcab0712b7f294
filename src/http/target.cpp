#include <tartan/http/target.h>

#include <algorithm>

#include <tartan/http/byte_set.h>
#include <tartan/http/host_name.h>
#include <tartan/http/text.h>

namespace tartan::http {

namespace {

/// What stands in a target behind its host.
struct origin_form {
  std::string_view path;   ///< not decoded; nothing: it is no target
  std::string_view query;  ///< with its '?'
};

/// "http://host/path" has to be understood too (RFC 9112, 3.2.2); the host may be any, but not missing (RFC 9110, 4.2.1). Puts the host aside.
origin_form without_origin(std::string_view target, std::string_view& named) noexcept {
  std::string_view rest = target;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_letters(target.substr(0, scheme.size()), scheme)) continue;
    const std::size_t end = std::min(target.find_first_of("/?", scheme.size()), target.size());
    const std::string_view host = target.substr(scheme.size(), end - scheme.size());
    if (host.empty() || host.front() == ':' || !is_host(host)) return {};
    named = host;
    rest = target.substr(end);
  }
  const std::string_view path = rest.substr(0, rest.find('?'));
  return {path.empty() && !named.empty() ? "/" : path, rest.substr(path.size())};
}

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<status> decode(std::string_view sent, std::string& into) {
  into.clear();
  for (std::size_t at = 0; at < sent.size(); ++at) {
    if (sent[at] != '%') {
      into.push_back(sent[at]);
      continue;
    }
    if (sent.size() - at < 3) return status::bad_request;
    const int high = digit_of(sent[at + 1]);
    const int low = digit_of(sent[at + 2]);
    if (high < 0 || low < 0 || high + low == 0) return status::bad_request;
    const char byte = static_cast<char>(high * 16 + low);
    if (byte == '/') return status::not_found;
    into.push_back(byte);
    at += 2;
  }
  return std::nullopt;
}

/// Whether it is its own path, as most are: nothing is encoded, nothing is behind it, and no segment looks like one that is refused.
bool is_simple(std::string_view target) noexcept {
  constexpr byte_set special{"/?#%", false};
  std::size_t at = 0;
  while (at < target.size() && target[at] == '/') {
    ++at;
    if (at == target.size() || target[at] == '.') return at == target.size();
    const std::size_t segment = special.span_outside(target.substr(at));
    if (segment == 0) return false;
    at += segment;
  }
  return at == target.size() && at != 0;
}

}  // namespace

std::optional<status> check_segments(std::string_view path, bool& is_hidden) noexcept {
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view segment = path.substr(at, end - at);
    if (segment == "." || segment == "..") return status::forbidden;
    if (segment.empty() && end != path.size()) return status::not_found;
    if (segment.starts_with('.') && (at != 1 || segment != ".well-known")) is_hidden = true;
    at = end + 1;
  }
  return std::nullopt;
}

target_result path_of(std::string_view target, std::string& scratch) {
  if (is_simple(target)) return {std::nullopt, {target, target, {}, {}, false}};
  if (target.find('#') != std::string_view::npos) return {status::bad_request, {}};  // a client keeps that for itself
  std::string_view host;
  const auto [sent, query] = without_origin(target, host);
  if (!sent.starts_with('/')) return {status::bad_request, {}};
  target_result result{std::nullopt, {sent, sent, query, host, false}};
  if (sent.find('%') != std::string_view::npos) {
    result.error = decode(sent, scratch);
    result.found.path = scratch;
  }
  if (!result.error) result.error = check_segments(result.found.path, result.found.is_hidden);
  return result;
}

}  // namespace tartan::http
