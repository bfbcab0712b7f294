#include "load/result.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "load/json.h"

namespace load {

namespace {

double per(double what, double by) { return by > 0 ? what / by : 0; }

double micros(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

double mega(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

double kb_per_connection(const server_result& server, std::uint64_t connections) {
  return per(static_cast<double>(server.after.pss_kb) - static_cast<double>(server.before.pss_kb), static_cast<double>(connections));
}

json_object errors_json(const load_result& of) {
  json_object made;
  for (std::size_t n = 0; n < error_kinds; ++n) made.add(error_names[n], of.errors[n]);
  return made;
}

json_object server_json(const server_result& server, const load_result& of) {
  json_object made;
  made.add("cpu_s", server.used.cpu_s).add("user_s", server.used.user_s).add("system_s", server.used.system_s);
  made.add("cpu_us_per_request", per(server.used.cpu_s * 1e6, static_cast<double>(of.requests)));
  made.add("involuntary_switches", server.used.involuntary_switches);
  made.add("rss_kb", server.after.rss_kb).add("pss_kb", server.after.pss_kb).add("pss_kb_before", server.before.pss_kb);
  made.add("ended", server.used.ended_roots);
  made.add("kb_per_connection", kb_per_connection(server, of.open_connections));
  return made;
}

json_object latency_json(const histogram& latency) {
  json_object made;
  made.add("p50", micros(latency.quantile(0.5))).add("p90", micros(latency.quantile(0.9))).add("p99", micros(latency.quantile(0.99)));
  made.add("p99.9", micros(latency.quantile(0.999))).add("max", micros(latency.max())).add("mean", latency.mean() / 1000);
  return made;
}

}  // namespace

void load_result::add(const load_result& other) {
  requests += other.requests;
  bytes += other.bytes;
  unanswered += other.unanswered;
  renewed += other.renewed;
  connections += other.connections;
  open_connections += other.open_connections;
  starved += other.starved;
  abandoned += other.abandoned;
  longest_wait_ns = std::max(longest_wait_ns, other.longest_wait_ns);
  seconds = std::max(seconds, other.seconds);
  cpu_s += other.cpu_s;
  involuntary_switches += other.involuntary_switches;
  saturated += other.saturated;
  for (std::size_t n = 0; n < error_kinds; ++n) errors[n] += other.errors[n];
  latency.add(other.latency);
  shares.add(other.shares);
}

bool load_result::has_errors() const {
  return std::any_of(errors.begin(), errors.end(), [](std::uint64_t n) { return n != 0; });
}

std::string load_result::to_line() const {
  json_object made;
  made.add("requests", requests).add("bytes", bytes).add("unanswered", unanswered).add("renewed", renewed);
  made.add("connections", connections).add("starved", starved);
  made.add("open_connections", open_connections).add("abandoned", abandoned).add("longest_wait_ns", longest_wait_ns);
  made.add("seconds", seconds).add("cpu_s", cpu_s).add("involuntary_switches", involuntary_switches).add("saturated", saturated);
  for (std::size_t n = 0; n < error_kinds; ++n) made.add(error_names[n], errors[n]);
  made.add("latency", latency.to_text()).add("clients", shares.count()).add("shares", shares.sum()).add("squares", shares.squares());
  return made.text();
}

std::optional<load_result> load_result::parse(std::string_view line) {
  const std::optional<flat_json> from = flat_json::parse(line);
  if (!from || !from->has("latency")) return std::nullopt;
  const std::optional<histogram> latency = histogram::parse(from->text("latency"));
  if (!latency) return std::nullopt;
  const auto whole = [&from](const char* name) { return from->number<std::uint64_t>(name); };
  load_result read;
  read.requests = whole("requests");
  read.bytes = whole("bytes");
  read.unanswered = whole("unanswered");
  read.renewed = whole("renewed");
  read.connections = whole("connections");
  read.open_connections = whole("open_connections");
  read.starved = whole("starved");
  read.abandoned = whole("abandoned");
  read.longest_wait_ns = whole("longest_wait_ns");
  read.seconds = from->number<double>("seconds");
  read.cpu_s = from->number<double>("cpu_s");
  read.involuntary_switches = whole("involuntary_switches");
  read.saturated = whole("saturated");
  for (std::size_t n = 0; n < error_kinds; ++n) read.errors[n] = whole(error_names[n]);
  read.latency = *latency;
  read.shares = fairness::of(whole("clients"), from->number<double>("shares"), from->number<double>("squares"));
  return read;
}

std::string what_went_wrong(const load_result& of, const std::optional<server_result>& server) {
  std::string all;
  const auto add = [&all](const std::string& what) { all += (all.empty() ? "" : "; ") + what; };
  const auto errors = std::accumulate(of.errors.begin(), of.errors.end(), std::uint64_t{0});
  if (of.requests == 0) add("not one right answer in the measured time");
  if (errors != 0) add(std::to_string(errors) + (errors == 1 ? " error" : " errors"));
  if (server && server->used.ended_roots != 0)
    add(std::to_string(server->used.ended_roots) + " of the --server processes ended");
  return all;
}

std::string to_json(const load_result& of, const std::optional<server_result>& server, const http_settings& asked) {
  json_object made;
  made.add("requests", of.requests).add("seconds", of.seconds).add("requests_per_s", per(static_cast<double>(of.requests), of.seconds));
  made.add("bytes", of.bytes).add("megabytes_per_s", per(mega(of.bytes), of.seconds)).add("errors", errors_json(of));
  made.add("latency_us", latency_json(of.latency)).add("starved_clients", of.starved).add("jain", of.shares.jain());
  made.add("clients", of.shares.count()).add("connections", of.connections).add("unanswered", of.unanswered).add("renewed", of.renewed);
  made.add("open_connections", of.open_connections).add("abandoned_clients", of.abandoned).add("longest_wait_us", micros(of.longest_wait_ns));
  if (server) made.add("server", server_json(*server, of));
  made.add("own_cpu_s", of.cpu_s).add("own_involuntary_switches", of.involuntary_switches).add("saturated", of.saturated);
  made.add("injectors", std::max<std::size_t>(1, asked.injectors)).add("loop", asked.load.rate > 0 ? "open" : "closed");
  made.add("seed", asked.load.seed).add("command", asked.command);
  return made.text();
}

std::string to_text(const load_result& of, const std::optional<server_result>& server, const http_settings& asked) {
  std::string all;
  char line[256];
  const auto add = [&all, &line](auto... what) {
    std::snprintf(line, sizeof line, what...);
    all += line;
  };
  const auto requests = static_cast<double>(of.requests);
  add("%llu clients, %llu connections, seed %llu\n", static_cast<unsigned long long>(of.shares.count()),
      static_cast<unsigned long long>(of.connections), static_cast<unsigned long long>(asked.load.seed));
  add("%llu requests in %.3f s: %.0f/s, %.2f MB/s\n", static_cast<unsigned long long>(of.requests), of.seconds, per(requests, of.seconds),
      per(mega(of.bytes), of.seconds));
  add("latency in us: p50 %.0f, p90 %.0f, p99 %.0f, p99.9 %.0f, max %.0f, mean %.0f%s\n", micros(of.latency.quantile(0.5)),
      micros(of.latency.quantile(0.9)), micros(of.latency.quantile(0.99)), micros(of.latency.quantile(0.999)), micros(of.latency.max()),
      of.latency.mean() / 1000, asked.load.rate > 0 ? "; from when a request was due" : "");
  add("starved clients: %llu, Jain's index %.4f\n", static_cast<unsigned long long>(of.starved), of.shares.jain());
  if (of.unanswered != 0) add("due and unanswered at the end: %llu\n", static_cast<unsigned long long>(of.unanswered));
  if (of.abandoned != 0) {
    add("clients that waited at the end, for more than half of the time: %llu; the longest for %.0f us\n",
        static_cast<unsigned long long>(of.abandoned), micros(of.longest_wait_ns));
  }
  all += "errors:";
  for (std::size_t n = 0; n < error_kinds; ++n) {
    if (of.errors[n] != 0) add(" %s %llu", error_names[n], static_cast<unsigned long long>(of.errors[n]));
  }
  all += of.has_errors() ? "\n" : " none\n";
  add("own CPU: %.3f s, %.2f us per request, %llu involuntary switches\n", of.cpu_s, per(of.cpu_s * 1e6, requests),
      static_cast<unsigned long long>(of.involuntary_switches));
  if (of.saturated != 0) all += "the injector itself was at its limit: what is told is less than what the server can do\n";
  if (!server) return all;
  add("server CPU: %.3f s (user %.3f, system %.3f), %.2f us per request, %llu involuntary switches\n", server->used.cpu_s,
      server->used.user_s, server->used.system_s, per(server->used.cpu_s * 1e6, requests),
      static_cast<unsigned long long>(server->used.involuntary_switches));
  if (server->used.ended_roots != 0) {
    add("server processes that have ended, and whose CPU time is missing: %llu\n", static_cast<unsigned long long>(server->used.ended_roots));
  }
  add("server memory: %llu KB resident, %llu KB proportional, %llu KB before the first connection: %.2f KB per connection\n",
      static_cast<unsigned long long>(server->after.rss_kb), static_cast<unsigned long long>(server->after.pss_kb),
      static_cast<unsigned long long>(server->before.pss_kb), kb_per_connection(*server, of.open_connections));
  return all;
}

}  // namespace load
