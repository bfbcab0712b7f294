#include "web/config.h"

#include <tartan/http/field.h>
#include <tartan/http/host_name.h>
#include <tartan/http/target.h>
#include <tartan/http/text.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "common/toml_section.h"
#include "web/address_family.h"

namespace web {

using tartan::apps::toml_section;

namespace {

void read_times(toml_section from, time_limits& into) {
  from.seconds("header", into.header);
  from.seconds("idle", into.idle);
  from.seconds("write", into.write);
  from.seconds("drain", into.drain);
  from.end();
}

void read_cache(toml_section from, library_settings& into) {
  from.integer("bytes", into.cache.bytes, {0, std::int64_t{1} << 40});
  from.integer("entries", into.cache.entries, {0, 1'000'000'000});
  from.integer("largest-page", into.largest_page, {0, 16 << 20});
  from.seconds("recheck", into.recheck);
  from.end();
}

/// "type/subtype", with or without parameters.
bool is_media_type(std::string_view text) noexcept {
  const std::string_view name = http::trimmed(text.substr(0, text.find(';')));
  const std::size_t slash = std::min(name.find('/'), name.size());
  const bool is_visible = std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  return is_visible && slash != name.size() && http::is_token(name.substr(0, slash)) && http::is_token(name.substr(slash + 1));
}

/// Text without a character set would be taken for one of the last century's.
void read_types(toml_section from, type_map& into) {
  from.each_text([&](std::string_view key, const std::string& type) {
    if (!http::is_token(key) || key.find('.') != std::string_view::npos) from.complain(key, "is no extension, as \"wasm\"");
    const std::string extension{http::lower_name{key}.text()};
    if (extension.empty() || into.contains(extension)) from.complain(key, extension.empty() ? "is too long" : "is there already");
    if (!is_media_type(type)) from.complain(key, "'" + type + "' is no type, as \"application/wasm\"");
    const bool needs_charset = type.starts_with("text/") && type.find("charset=") == std::string::npos;
    into[extension] = needs_charset ? type + "; charset=utf-8" : type;
  });
}

/// As lines, each with a CRLF before it.
void read_headers(toml_section from, std::string& into) {
  constexpr std::string_view own[] = {"accept-ranges", "age", "cache-control", "connection", "content-encoding", "content-length", "content-range",
                                      "content-type", "date", "etag", "last-modified", "location", "server", "trailer", "transfer-encoding", "upgrade", "vary"};
  from.each_text([&](std::string_view key, const std::string& value) {
    if (!http::is_token(key)) from.complain(key, "is no name of a header");
    if (std::any_of(std::begin(own), std::end(own), [key](std::string_view each) { return http::same_letters(each, key); })) {
      from.complain(key, "is one that the server sets");
    }
    if (!http::is_value(value)) from.complain(key, "cannot be the value of a header");
    into.append("\r\n").append(key).append(": ").append(http::trimmed(value));
  });
}

/// Of those that a host can have: where a file was looked for.
void read_error_pages(toml_section from, std::map<http::status, std::string>& into) {
  constexpr http::status possible[] = {http::status::forbidden, http::status::not_found, http::status::internal_error, http::status::unavailable};
  from.each_text([&](std::string_view key, const std::string& path) {
    const auto is_meant = [&](http::status s) { return http::text_of(s).substr(0, http::text_of(s).find(' ')) == key; };
    const auto* const found = std::find_if(std::begin(possible), std::end(possible), is_meant);
    if (found == std::end(possible)) from.complain(key, "is none of 403, 404, 500 and 503");
    if (!is_path(path)) from.complain(key, "'" + path + "' is no path, as \"/404.html\"");
    into[*found] = path;
  });
}

/// As Cache-Control has it.
void read_cache_control(toml_section& from, std::string& into) {
  from.text("cache-control", into);
  if (!http::is_value(into)) from.complain("cache-control", "cannot be the value of a header");
}

page_rule read_rule(toml_section from) {
  page_rule rule;
  from.text("path", rule.path);
  if (!rule.path.empty() && !is_path(rule.path)) from.complain("path", "'" + rule.path + "' is no beginning of a path, as \"/assets/\"");
  from.texts("extension", rule.extensions);
  for (std::string& each : rule.extensions) {
    const http::lower_name lower{each};
    if (!http::is_token(each) || each.find('.') != std::string::npos || lower.text().empty()) {
      from.complain("extension", "'" + each + "' is no extension, as \"js\"");
    }
    each.assign(lower.text());
  }
  read_cache_control(from, rule.cache_control);
  if (const auto headers = from.inner("headers")) read_headers(*headers, rule.headers);
  if (rule.path.empty() && rule.extensions.empty()) from.lacks("path");
  if (rule.cache_control.empty() && rule.headers.empty()) from.lacks("headers");
  from.end();
  return rule;
}

/// "trusted-proxies" and "proxy-protocol".
void read_proxies(toml_section& from, proxy_settings& into) {
  std::vector<std::string> trusted;
  from.texts("trusted-proxies", trusted, [](const std::string& text) {
    proxy_settings unused;
    return trust(unused, text);
  });
  for (const std::string& each : trusted) static_cast<void>(trust(into, each));
  from.flag("proxy-protocol", into.speaks_protocol);
}

host_settings read_host(toml_section from) {
  host_settings host;
  from.texts("names", host.names);
  for (std::string& each : host.names) {
    if (!each.starts_with('[') && each.find_first_of(":/") != std::string::npos) from.complain("names", "'" + each + "' is more than a name");
    if (each.find('*') != std::string::npos) from.complain("names", "'" + each + "' is a pattern: write each name out");
    const http::lower_name lower{each};
    if (lower.text().empty()) from.complain("names", "'" + each + "' is no name");
    each = lower.text();
  }
  from.text("root", host.root);
  from.flag("precompressed", host.with.precompressed);
  from.flag("listings", host.with.listings);
  from.flag("dot-files", host.with.dot_files);
  from.flag("clean-urls", host.with.clean_urls);
  from.text("fallback", host.fallback);
  const bool is_fallback = host.fallback.empty() || is_path(host.fallback);
  if (!is_fallback) from.complain("fallback", "'" + host.fallback + "' is no path, as \"/index.html\"");
  read_cache_control(from, host.with.pages.cache_control);
  if (const auto headers = from.inner("headers")) read_headers(*headers, host.with.pages.headers);
  for (const toml_section& one : from.tables("rule")) host.with.pages.rules.push_back(read_rule(one));
  from.flag("https-only", host.https_only);
  if (const auto pages = from.inner("error-pages")) read_error_pages(*pages, host.error_pages);
  from.text("certificate", host.certificate);
  from.text("key", host.key);
  host.root_at.text = from.place_of("root");
  host.https_only_at.text = from.place_of("https-only");
  host.certificate_at.text = from.place_of("certificate");
  if (host.root.empty()) from.lacks("root");
  if (host.certificate.empty() && !host.key.empty()) from.lacks("certificate");
  if (host.key.empty() && !host.certificate.empty()) from.lacks("key");
  from.end();
  return host;
}

}  // namespace

bool is_path(const std::string& text) {
  bool is_hidden = false;
  return text.starts_with('/') && text.find('\0') == std::string::npos && !http::check_segments(text, is_hidden);
}

settings read_config(const std::string& path, settings into) {
  const toml::table all = tartan::apps::parse_toml(path);
  toml_section from{path, "", all};
  if (from.has("listen-tls")) into.listen.clear();  // otherwise a file that asks for TLS would get both
  from.texts("listen", into.listen, &why_no_address);
  from.texts("listen-tls", into.listen_tls, &why_no_address);
  into.at.listen.text = from.place_of("listen");
  into.at.listen_tls.text = from.place_of("listen-tls");
  from.integer("workers", into.workers, {0, 1024});
  from.integer("max-connections", into.max_connections, {1, 1'000'000});
  read_proxies(from, into.proxies);
  from.text("user", into.user);
  into.at.user.text = from.place_of("user");
  from.text("access-log", into.access_log);
  into.at.access_log.text = from.place_of("access-log");
  if (const auto times = from.inner("timeouts")) read_times(*times, into.times);
  if (const auto cache = from.inner("cache")) read_cache(*cache, into.pages);
  type_map types;
  if (const auto found = from.inner("types")) read_types(*found, types);
  std::set<std::string> names;
  for (const toml_section& one : from.tables("host")) {
    into.hosts.push_back(read_host(one));
    into.hosts.back().with.pages.types = types;
    if (into.hosts.size() > 1 && into.hosts.back().names.empty()) one.lacks("names");
    for (const std::string& each : into.hosts.back().names) {
      if (!names.insert(each).second) one.complain("names", "'" + each + "' is another host's, too");
    }
  }
  from.end();
  if (into.hosts.empty()) from.lacks("host");
  if (!into.listen_tls.empty() && into.hosts.front().certificate.empty()) {
    from.complain("listen-tls", "needs a certificate and a key of the first host");
  }
  return into;
}

}  // namespace web
