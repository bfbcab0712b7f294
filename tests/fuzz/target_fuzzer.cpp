// Targets: a path that was found names nothing outside of the folder that is served.
//
// Input: the target. Other bytes than visible ASCII never come here: a request_parser refuses them.

#include <tartan/http/host_name.h>
#include <tartan/http/target.h>

#include <algorithm>
#include <string>

#include "fuzz_target.h"

namespace tartan::http::fuzz {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

/// Every byte but '/' as "%xx".
std::string encoded(std::string_view path) {
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/') {
      text += c;
    } else {
      text.append(1, '%').append(1, digits[byte / 16]).append(1, digits[byte % 16]);
    }
  }
  return text;
}

void check_path(std::string_view path) {
  promise(path.starts_with('/'), "a path begins with a slash");
  promise(path.find('\0') == std::string_view::npos, "a path has no zero byte");
  for (std::string_view rest = path.substr(1);;) {
    const std::size_t end = rest.find('/');
    const std::string_view segment = rest.substr(0, end);
    promise(segment != "." && segment != "..", "no segment is '.' or '..'");
    if (end == std::string_view::npos) return;
    promise(!segment.empty(), "no segment is empty but the last");
    rest.remove_prefix(end + 1);
  }
}

/// Byte by byte: what each stands for in what was sent.
void check_decoding(std::string_view sent, std::string_view path) {
  for (const char c : path) {
    promise(!sent.empty(), "a path is no longer than what was sent");
    if (sent.front() == '%') {
      promise(
          sent.size() >= 3 && std::stoi(std::string{sent.substr(1, 2)}, nullptr, 16) == static_cast<unsigned char>(c),
          "bytes are decoded");
      promise(c != '/', "no slash is decoded");
      sent.remove_prefix(3);
    } else {
      promise(sent.front() == c, "other bytes stay");
      sent.remove_prefix(1);
    }
  }
  promise(sent.empty(), "all of it is decoded");
}

}  // namespace

void fuzz_target(std::string_view input) {
  if (!std::all_of(input.begin(), input.end(), [](char c) { return c > 0x20 && c < 0x7f; })) return;
  std::string scratch = "../left from before";
  const target_result result = path_of(input, scratch);
  if (result.error) {
    const int code = static_cast<int>(*result.error);
    promise(code == 400 || code == 403 || code == 404, "a target is refused with 400, 403 or 404");
    return;
  }
  const target_path& found = result.found;
  const std::string path{found.path};
  check_path(path);
  check_decoding(found.sent, path);
  promise(input.find('#') == std::string_view::npos, "a fragment is refused");
  promise(input.ends_with(std::string{found.sent} + std::string{found.query}) ||
              (found.sent == "/" && input.ends_with(found.query)),
          "what was sent is the end of the target");
  promise(found.query.empty() || found.query.front() == '?', "a query begins with '?'");
  promise(found.query.empty() == (input.find('?') == std::string_view::npos), "a query that was sent is kept");
  promise(found.sent.find('?') == std::string_view::npos, "a path ends before the query");
  promise(found.host.empty() ? input.starts_with('/') : is_host(found.host), "a target is a path, or has a host");
  for (const std::string& again : {encoded(path), "http://a" + encoded(path) + "?x"}) {
    std::string other;
    const target_result second = path_of(again, other);
    promise(!second.error && second.found.path == path, "a path that is encoded is found again");
  }
}

}  // namespace tartan::http::fuzz
