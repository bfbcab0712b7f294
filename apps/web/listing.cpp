#include "web/listing.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>

namespace web {

namespace {

constexpr std::size_t longest_listing = 128 * 1024;  // bytes: each client that reads it slowly keeps a copy

/// Bytes that are no UTF-8 come out as they are: a browser shows a replacement, and the link beside has them encoded.
void append_text(std::string& to, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&': to.append("&amp;"); break;
      case '<': to.append("&lt;"); break;
      case '>': to.append("&gt;"); break;
      case '"': to.append("&quot;"); break;
      default: to.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c);
    }
  }
}

bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

void append_encoded(std::string& to, std::string_view name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(c)) {
      to.push_back(c);
    } else {
      to.append(1, '%').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
  }
}

std::string date_of(std::time_t at) {
  std::tm t{};
  ::gmtime_r(&at, &t);
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), "%04d-%02d-%02d %02d:%02d", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min);
  return {text.data(), static_cast<std::size_t>(size)};
}

void append_row(std::string& to, const listed& what) {
  const std::string_view slash = what.is_folder ? "/" : "";
  to.append("<tr><td><a href=\"./");  // "./": a name with a colon is no scheme
  append_encoded(to, what.name);
  to.append(slash).append("\">");
  append_text(to, what.name);
  to.append(slash).append("</a></td><td>").append(what.is_folder ? std::string{} : std::to_string(what.size));
  to.append("</td><td>").append(date_of(what.modified)).append("</td></tr>\n");
}

}  // namespace

std::string listing_page(std::string_view path, std::vector<listed> entries) {
  std::sort(entries.begin(), entries.end(), [](const listed& a, const listed& b) {
    return std::tuple{!a.is_folder, std::string_view{a.name}} < std::tuple{!b.is_folder, std::string_view{b.name}};
  });
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>";
  append_text(page, path);
  page.append("</title><style>body{font:1rem/1.5 system-ui,sans-serif;margin:2rem}td{padding-right:2rem}td:nth-child(2){text-align:right}"
              "td:nth-child(n+2){color:#666;font-variant-numeric:tabular-nums}</style></head><body><h1>");
  append_text(page, path);
  page.append("</h1><table>\n");
  if (path != "/") page.append("<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n");
  std::size_t shown = 0;
  while (shown < entries.size() && page.size() < longest_listing) append_row(page, entries[shown++]);
  if (shown < entries.size()) page.append("<tr><td>and " + std::to_string(entries.size() - shown) + " more</td><td></td><td></td></tr>\n");
  return page.append("</table></body></html>\n");
}

}  // namespace web
