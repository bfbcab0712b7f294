#include "web/config.h"

#include <tartan/http/field.h>
#include <tartan/http/host_name.h>
#include <tartan/http/target.h>
#include <tartan/http/text.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <toml++/toml.h>
#include <utility>
#include <vector>

#include "web/address_family.h"

namespace web {

namespace {

/// Of integers.
struct range {
  std::int64_t least;
  std::int64_t most;
};

/// A table whose keys are taken one by one; what nobody has taken at the end is a mistake.
class section {
 public:
  section(std::string file, std::string name, const toml::table& keys) : file_{std::move(file)}, name_{std::move(name)}, keys_{keys} {}

  template <class Integer>
  void integer(std::string_view key, Integer& into, range of) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const std::optional<std::int64_t> value = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
    if (!value || *value < of.least || *value > of.most) {
      complain(*node, key, "is no integer from " + std::to_string(of.least) + " to " + std::to_string(of.most));
    }
    into = static_cast<Integer>(*value);
  }

  void seconds(std::string_view key, std::chrono::milliseconds& into) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const std::optional<double> value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !(*value >= 0 && *value <= 1e6)) complain(*node, key, "is no number of seconds from 0 to 1000000");
    into = std::chrono::milliseconds{static_cast<std::int64_t>(*value * 1000)};
  }

  void flag(std::string_view key, bool& into) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    if (!node->is_boolean()) complain(*node, key, "is neither true nor false");
    into = node->value<bool>().value();
  }

  void text(std::string_view key, std::string& into) {
    if (const toml::node* const node = find(key)) into = text_of(*node, key);
  }

  /// One text, or an array of them. `why_wrong`: of one; empty if it is right.
  void texts(std::string_view key, std::vector<std::string>& into, std::string (*why_wrong)(const std::string&) = nullptr) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    into.clear();
    const auto take = [&](const toml::node& each) {
      into.push_back(text_of(each, key));
      if (const std::string why = why_wrong != nullptr ? why_wrong(into.back()) : ""; !why.empty()) complain(each, key, why);
    };
    if (const toml::array* const all = node->as_array()) {
      for (const toml::node& each : *all) take(each);
    } else {
      take(*node);
    }
    if (into.empty()) complain(*node, key, "is empty");
  }

  /// Null: there is none.
  [[nodiscard]] const toml::table* table(std::string_view key) {
    const toml::node* const node = find(key);
    if (node != nullptr && !node->is_table()) complain(*node, key, "is no table; write [" + name_of(key) + "]");
    return node != nullptr ? node->as_table() : nullptr;
  }

  /// A table within this one; nothing if there is none.
  [[nodiscard]] std::optional<section> inner(std::string_view key) {
    const toml::table* const found = table(key);
    return found != nullptr ? std::optional{section{file_, name_of(key), *found}} : std::nullopt;
  }

  /// Calls `take(key, text)` for each key.
  template <class F>
  void each_text(F take) {
    for (const auto& [key, node] : keys_) {
      taken_.insert(std::string{key.str()});
      take(key.str(), text_of(node, key.str()));
    }
  }

  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key) {
    std::vector<const toml::table*> found;
    const toml::node* const node = find(key);
    if (node == nullptr) return found;
    if (!node->is_array_of_tables()) complain(*node, key, "is no list of tables; write [[" + std::string{key} + "]]");
    for (const toml::node& each : *node->as_array()) found.push_back(each.as_table());
    return found;
  }

  void end() const {
    for (const auto& [key, node] : keys_) {
      if (!taken_.contains(key.str())) complain(node, key.str(), "there is no such key; there are " + all_taken());
    }
  }

  [[noreturn]] void complain(const toml::node& at, std::string_view key, const std::string& what) const {
    throw config_error{place_of(at, key) + what};
  }

  /// "FILE:LINE: KEY: ", of a key that is there; else nothing.
  [[nodiscard]] std::string place_of(std::string_view key) const {
    const toml::node* const node = keys_.get(key);
    return node != nullptr ? place_of(*node, key) : std::string{};
  }

  /// Of a key that is there.
  [[noreturn]] void complain(std::string_view key, const std::string& what) const { complain(*keys_.get(key), key, what); }

  [[noreturn]] void lacks(std::string_view key) const { complain(keys_, key, "is missing"); }

 private:
  [[nodiscard]] std::string place_of(const toml::node& at, std::string_view key) const {
    return file_ + ":" + std::to_string(at.source().begin.line) + ": " + name_of(key) + ": ";
  }

  [[nodiscard]] std::string name_of(std::string_view key) const { return name_.empty() ? std::string{key} : name_ + "." + std::string{key}; }

  [[nodiscard]] const toml::node* find(std::string_view key) {
    taken_.insert(std::string{key});
    return keys_.get(key);
  }

  [[nodiscard]] std::string all_taken() const {
    std::string all;
    for (const std::string& each : taken_) all.append(all.empty() ? "" : ", ").append(each);
    return all;
  }

  [[nodiscard]] std::string text_of(const toml::node& node, std::string_view key) const {
    if (!node.is_string()) complain(node, key, "is no text in quotes");
    if (node.value<std::string>()->empty()) complain(node, key, "is empty");
    return *node.value<std::string>();
  }

  std::string file_;
  std::string name_;
  const toml::table& keys_;
  std::set<std::string, std::less<>> taken_;
};

void read_times(section from, time_limits& into) {
  from.seconds("header", into.header);
  from.seconds("idle", into.idle);
  from.seconds("write", into.write);
  from.seconds("drain", into.drain);
  from.end();
}

void read_cache(section from, library_settings& into) {
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
void read_types(section from, type_map& into) {
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
void read_headers(section from, std::string& into) {
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

/// As a request has it when it was decoded.
bool is_path(const std::string& path) {
  bool is_hidden = false;
  return path.starts_with('/') && path.find('\0') == std::string::npos && !http::check_segments(path, is_hidden);
}

/// Of those that a host can have: where a file was looked for.
void read_error_pages(section from, std::map<http::status, std::string>& into) {
  constexpr http::status possible[] = {http::status::forbidden, http::status::not_found, http::status::internal_error, http::status::unavailable};
  from.each_text([&](std::string_view key, const std::string& path) {
    const auto is_meant = [&](http::status s) { return http::text_of(s).substr(0, http::text_of(s).find(' ')) == key; };
    const auto* const found = std::find_if(std::begin(possible), std::end(possible), is_meant);
    if (found == std::end(possible)) from.complain(key, "is none of 403, 404, 500 and 503");
    if (!is_path(path)) from.complain(key, "'" + path + "' is no path, as \"/404.html\"");
    into[*found] = path;
  });
}

host_settings read_host(section from) {
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
  from.text("cache-control", host.with.pages.cache_control);
  if (!http::is_value(host.with.pages.cache_control)) from.complain("cache-control", "cannot be the value of a header");
  if (const auto headers = from.inner("headers")) read_headers(*headers, host.with.pages.headers);
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

toml::table parse(const std::string& path) {
  constexpr std::size_t most = 16 << 20;  // /dev/zero has no end
  std::ifstream file{path, std::ios::binary};
  std::string text;
  std::array<char, 16 * 1024> piece;
  while (file.is_open() && file.good() && text.size() <= most) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) throw config_error{path + ": cannot be read"};
  if (text.size() > most) throw config_error{path + ": is longer than 16 MB"};
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& wrong) {
    throw config_error{path + ":" + std::to_string(wrong.source().begin.line) + ": " + std::string{wrong.description()}};
  }
}

}  // namespace

settings read_config(const std::string& path, settings into) {
  const toml::table all = parse(path);
  section from{path, "", all};
  if (all.contains("listen-tls")) into.listen.clear();  // else who wants TLS would get both
  from.texts("listen", into.listen, &why_no_address);
  from.texts("listen-tls", into.listen_tls, &why_no_address);
  into.at.listen.text = from.place_of("listen");
  into.at.listen_tls.text = from.place_of("listen-tls");
  from.integer("workers", into.workers, {0, 1024});
  from.integer("max-connections", into.max_connections, {1, 1'000'000});
  from.text("user", into.user);
  into.at.user.text = from.place_of("user");
  from.text("access-log", into.access_log);
  into.at.access_log.text = from.place_of("access-log");
  if (const toml::table* const times = from.table("timeouts")) read_times({path, "timeouts", *times}, into.times);
  if (const toml::table* const cache = from.table("cache")) read_cache({path, "cache", *cache}, into.pages);
  type_map types;
  if (const toml::table* const found = from.table("types")) read_types({path, "types", *found}, types);
  std::set<std::string> names;
  for (const toml::table* const host : from.tables("host")) {
    section one{path, "host", *host};
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
    from.complain(*all.get("listen-tls"), "listen-tls", "needs a certificate and a key of the first host");
  }
  return into;
}

}  // namespace web
