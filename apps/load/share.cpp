#include "load/share.h"

#include <stdexcept>

namespace load {

json_object share::to_json() const {
  json_object made;
  made.add("step", "load").add("first", first);
  for (std::size_t n = 0; n < load.urls.size(); ++n) made.add("url" + std::to_string(n), load.urls[n]);
  for (std::size_t n = 0; n < load.headers.size(); ++n) made.add("header" + std::to_string(n), load.headers[n]);
  made.add("clients", load.clients).add("requests_per_connection", load.requests_per_connection).add("seconds", load.seconds);
  made.add("requests", load.requests).add("rate", load.rate).add("timeout", load.timeout).add("pause_read", load.pause_read);
  made.add("seed", load.seed).add("tls_ca", load.tls_ca).add("tls_verify", std::uint64_t{load.tls_verify ? 1U : 0U});
  if (load.set) made.add("set", load::to_json(*load.set));
  if (load.body) made.add("body", *load.body);
  return made;
}

share share::parse(const flat_json& from) {
  const auto whole = [&from](const char* name) { return from.number<std::uint64_t>(name); };
  share read;
  if (from.text("step") != "load") throw std::runtime_error{"the master does not say what to do"};
  read.first = whole("first");
  for (std::size_t n = 0; from.has("url" + std::to_string(n)); ++n) read.load.urls.push_back(from.text("url" + std::to_string(n)));
  for (std::size_t n = 0; from.has("header" + std::to_string(n)); ++n) read.load.headers.push_back(from.text("header" + std::to_string(n)));
  read.load.clients = whole("clients");
  read.load.requests_per_connection = whole("requests_per_connection");
  read.load.seconds = from.number<double>("seconds");
  read.load.requests = whole("requests");
  read.load.rate = from.number<double>("rate");
  read.load.timeout = from.number<double>("timeout");
  read.load.pause_read = whole("pause_read");
  read.load.seed = whole("seed");
  read.load.tls_ca = from.text("tls_ca");
  read.load.tls_verify = whole("tls_verify") != 0;
  if (from.has("set")) read.load.set = set_of_json(from.text("set"));
  if (from.has("body")) read.load.body = from.text("body");
  if (read.load.urls.empty() || read.load.clients == 0) throw std::runtime_error{"the master does not say what to do"};
  return read;
}

std::vector<share> divided(const load_settings& all, std::size_t injectors) {
  if (all.clients < injectors) throw std::runtime_error{"there are fewer --clients than --injectors"};
  if (all.requests != 0 && all.requests < injectors) throw std::runtime_error{"there are fewer --requests than --injectors"};
  std::vector<share> made;
  std::uint64_t first = 0;
  for (std::size_t n = 0; n < injectors; ++n) {
    const auto part = [&](std::uint64_t of) { return of / injectors + (n < of % injectors ? 1 : 0); };
    share& each = made.emplace_back(share{all, first});
    each.load.clients = part(all.clients);
    each.load.requests = part(all.requests);
    each.load.rate = all.rate * static_cast<double>(each.load.clients) / static_cast<double>(all.clients);
    first += each.load.clients;
  }
  return made;
}

}  // namespace load
