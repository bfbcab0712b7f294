#include "load/plan.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "load/header.h"
#include "load/place.h"
#include "load/url.h"

namespace load {

namespace {

std::string request_of(const url& from, const std::string& path, const load_settings& of) {
  std::string made = "GET " + path + from.query + " HTTP/1.1\r\n";
  const bool has_host = std::any_of(of.headers.begin(), of.headers.end(), [](const std::string& line) { return is_named(line, "host"); });
  if (!has_host) made += "Host: " + from.host + "\r\n";
  for (const std::string& each : of.headers) made += each + "\r\n";
  if (of.requests_per_connection == 1) made += "Connection: close\r\n";
  return made + "\r\n";
}

/// Each connection makes a whole handshake: what it costs is a part of what is measured.
std::shared_ptr<tartan::tls::client> secured(const load_settings& of) {
  tartan::tls::client_settings with;
  with.authorities = of.tls_ca;
  with.verify = of.tls_verify;
  with.protocols = {"http/1.1"};
  with.most_sessions = 0;
  return std::make_shared<tartan::tls::client>(std::move(with));
}

}  // namespace

plan::plan(const load_settings& of) {
  std::shared_ptr<tartan::tls::client> secure;
  if (of.urls.empty()) throw std::invalid_argument{"no --url"};
  std::vector<double> weights;
  std::vector<set_file> files;
  if (of.set) {
    files = files_of(*of.set);
    for (std::size_t n = 0; n < files.size(); ++n) {
      weights.push_back(files[n].weight);
      bodies_.emplace_back(content_of(*of.set, n, files[n].bytes));
    }
    choice_ = weighted_choice{weights};
  }
  for (const std::string& each : of.urls) {
    const url read = parse_url(each);
    site& made = sites_.emplace_back();
    made.at = first_that_accepts(look_up(read.at));
    if (read.is_sealed) {
      if (secure == nullptr) secure = secured(of);
      made.secure = secure;
      made.host = read.at.host.substr(0, read.at.host.find('%'));  // without a zone
    }
    const std::string folder = read.path.ends_with('/') ? read.path : read.path + "/";
    for (std::size_t n = 0; n < files.size(); ++n) made.pages.push_back({request_of(read, folder + files[n].name, of), &bodies_[n]});
    if (of.set) continue;
    expectation& body = of.body ? bodies_.emplace_back(*of.body) : bodies_.emplace_back();
    made.pages.push_back({request_of(read, read.path, of), &body});
  }
}

}  // namespace load
