#include "web/page.h"

#include <tartan/http/date.h>
#include <tartan/http/text.h>

#include <algorithm>
#include <array>
#include <string>

#include "web/file_tag.h"
#include "web/sibling.h"


namespace web {

namespace {

struct type {
  std::string_view extension;
  std::string_view name;
};
constexpr std::array types{
    type{"html", "text/html; charset=utf-8"},
    type{"htm", "text/html; charset=utf-8"},
    type{"css", "text/css; charset=utf-8"},
    type{"js", "text/javascript; charset=utf-8"},
    type{"mjs", "text/javascript; charset=utf-8"},
    type{"txt", "text/plain; charset=utf-8"},
    type{"log", "text/plain; charset=utf-8"},
    type{"md", "text/markdown; charset=utf-8"},
    type{"csv", "text/csv; charset=utf-8"},
    type{"tsv", "text/tab-separated-values; charset=utf-8"},
    type{"ics", "text/calendar; charset=utf-8"},
    type{"vtt", "text/vtt; charset=utf-8"},
    type{"json", "application/json"},
    type{"map", "application/json"},
    type{"jsonld", "application/ld+json"},
    type{"geojson", "application/geo+json"},
    type{"webmanifest", "application/manifest+json"},
    type{"xml", "application/xml"},
    type{"xhtml", "application/xhtml+xml"},
    type{"rss", "application/rss+xml"},
    type{"atom", "application/atom+xml"},
    type{"yaml", "application/yaml"},
    type{"yml", "application/yaml"},
    type{"toml", "application/toml"},
    type{"wasm", "application/wasm"},
    type{"pdf", "application/pdf"},
    type{"rtf", "application/rtf"},
    type{"epub", "application/epub+zip"},
    type{"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    type{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    type{"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    type{"odt", "application/vnd.oasis.opendocument.text"},
    type{"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    type{"odp", "application/vnd.oasis.opendocument.presentation"},
    type{"zip", "application/zip"},
    type{"gz", "application/gzip"},
    type{"tgz", "application/gzip"},
    type{"tar", "application/x-tar"},
    type{"bz2", "application/x-bzip2"},
    type{"xz", "application/x-xz"},
    type{"zst", "application/zstd"},
    type{"7z", "application/x-7z-compressed"},
    type{"svg", "image/svg+xml"},
    type{"png", "image/png"},
    type{"apng", "image/apng"},
    type{"jpg", "image/jpeg"},
    type{"jpeg", "image/jpeg"},
    type{"gif", "image/gif"},
    type{"webp", "image/webp"},
    type{"avif", "image/avif"},
    type{"jxl", "image/jxl"},
    type{"bmp", "image/bmp"},
    type{"tif", "image/tiff"},
    type{"tiff", "image/tiff"},
    type{"ico", "image/vnd.microsoft.icon"},
    type{"woff", "font/woff"},
    type{"woff2", "font/woff2"},
    type{"ttf", "font/ttf"},
    type{"otf", "font/otf"},
    type{"mp3", "audio/mpeg"},
    type{"m4a", "audio/mp4"},
    type{"aac", "audio/aac"},
    type{"oga", "audio/ogg"},
    type{"ogg", "audio/ogg"},
    type{"opus", "audio/ogg"},
    type{"flac", "audio/flac"},
    type{"wav", "audio/wav"},
    type{"mp4", "video/mp4"},
    type{"m4v", "video/mp4"},
    type{"webm", "video/webm"},
    type{"ogv", "video/ogg"},
    type{"mov", "video/quicktime"},
    type{"m3u8", "application/vnd.apple.mpegurl"},
    type{"mpd", "application/dash+xml"},
};

/// Without its dot; empty: it has none.
std::string_view extension_of(std::string_view path) noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos && dot != 0 ? name.substr(dot + 1) : std::string_view{};
}

/// `path`: with or without its first '/'.
bool fits(const page_rule& rule, std::string_view path) noexcept {
  if (path.starts_with('/')) path.remove_prefix(1);
  if (!rule.path.empty() && !path.starts_with(std::string_view{rule.path}.substr(1))) return false;
  const std::string_view extension = extension_of(path);
  const auto is_it = [extension](const std::string& each) { return http::same_letters(extension, each); };
  return rule.extensions.empty() || std::any_of(rule.extensions.begin(), rule.extensions.end(), is_it);
}

/// Adds lines, in place of those of the same name.
void add_lines(std::string& to, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, std::min(lines.find("\r\n", 2), lines.size()));
    const std::string_view name = line.substr(0, line.find(':') + 1);
    for (std::size_t at = 0; at < to.size();) {
      const std::size_t end = std::min(to.find("\r\n", at + 2), to.size());
      const bool is_replaced = http::same_letters(std::string_view{to}.substr(at, std::min(name.size(), end - at)), name);
      if (is_replaced) {
        to.erase(at, end - at);
      } else {
        at = end;
      }
    }
    to.append(line);
    lines.remove_prefix(line.size());
  }
}

/// What a host says of a page, by its own lines and its rules.
std::string lines_for(std::string_view path, const page_options& more) {
  std::string cache_control = more.cache_control;
  std::string headers = more.headers;
  for (const page_rule& each : more.rules) {
    if (!fits(each, path)) continue;
    if (!each.cache_control.empty()) cache_control = each.cache_control;
    add_lines(headers, each.headers);
  }
  return cache_control.empty() ? headers : "\r\nCache-Control: " + cache_control + headers;
}

}  // namespace

std::string_view content_type(std::string_view path, const type_map& more) noexcept {
  const std::string_view extension = extension_of(path);
  for (const auto& [known, its_name] : more) {
    if (http::same_letters(extension, known)) return its_name;
  }
  for (const type& each : types) {
    if (http::same_letters(extension, each.extension)) return each.name;
  }
  return "application/octet-stream";
}

std::optional<std::time_t> date_of(const file_state& state, std::time_t now) noexcept {
  const file_time& modified = state.version.modified;
  const bool is_known = state.certain && modified.is_credible() && modified.seconds < now - 1;
  return is_known ? std::optional<std::time_t>{modified.seconds} : std::nullopt;
}

void describe(page& what, std::string_view path, const file_state& state, std::time_t now, const page_options& more) {
  what.type = content_type(path, more.types);
  what.as = state.as;
  what.tag = state.certain ? file_tag(state.version, suffix_of(state.as), state.opened) : std::string{};
  what.modified = date_of(state, now);
  what.known_by.clear();
  if (!what.tag.empty()) what.known_by.append("\r\nETag: ").append(what.tag);
  if (what.modified) what.known_by.append("\r\nLast-Modified: ").append(http::format_date(*what.modified));
  what.known_by.append(lines_for(path, more));
  if (state.as != http::coding::identity || !what.siblings.empty()) what.known_by.append("\r\nVary: Accept-Encoding");
  what.head.assign("HTTP/1.1 200 OK\r\nServer: tartan\r\nContent-Type: ").append(what.type);
  if (state.as != http::coding::identity) what.head.append("\r\nContent-Encoding: ").append(http::name_of(state.as));
  what.head.append("\r\nContent-Length: ").append(std::to_string(what.size)).append("\r\nAccept-Ranges: bytes");
  what.head.append(what.known_by).append("\r\nDate: ");
}

}  // namespace web
