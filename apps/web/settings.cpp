#include "web/settings.h"

#include <tartan/core/usable_memory.h>
#include <tartan/http/field.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include "web/address_family.h"
#include "web/config.h"
#include "common/one_line.h"

namespace web {

namespace {

/// All of the text is one number from `least` to `most`. The parser's own conversions make a large number of "-1", and its range has
/// room for "nan".
template <class Number>
CLI::Validator from_to(Number least, Number most, std::string range) {
  const auto what_is_wrong = [least, most, range = std::move(range)](const std::string& text) -> std::string {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most) return {};
    return "'" + text + "' is no number from " + range;
  };
  return CLI::Validator{what_is_wrong, ""};
}

CLI::Validator from_to(std::uint64_t least, std::uint64_t most) {
  return from_to(least, most, std::to_string(least) + " to " + std::to_string(most));
}

/// What a header can have.
const CLI::Validator header_value{[](const std::string& text) -> std::string { return http::is_value(text) ? "" : "it has a control character"; }, ""};

const CLI::Validator trusted_proxy{[](const std::string& text) {
                                     proxy_settings unused;
                                     return trust(unused, text);
                                   },
                                   ""};

/// What a host can have a page under.
const CLI::Validator page_path{[](const std::string& text) -> std::string { return is_path(text) ? "" : "'" + text + "' is no path, as \"/index.html\""; }, ""};

const CLI::Validator address{[](const std::string& text) { return why_no_address(text); }, ""};

/// What cannot be set.
std::string fixed_limits(const http::request_limits& r) {
  return "Limits: " + std::to_string(r.line) + " bytes of a request line (beyond: 414), " + std::to_string(r.head) + " bytes of headers and " +
         std::to_string(r.fields) + " of them (431), " + std::to_string(r.body) +
         " bytes of a body (413;\nin chunks: the connection ends). Bodies are dropped: GET and HEAD need none.";
}

/// An option in seconds, or parts of one.
void add_time(CLI::App& app, const char* name, std::chrono::milliseconds& into, const char* help) {
  const auto set = [&into](double seconds) { into = std::chrono::milliseconds{static_cast<long>(seconds * 1000)}; };
  app.add_option_function<double>(name, set, help)
      ->check(from_to(0.0, 1e6, "0 to 1000000"))
      ->type_name("SECONDS")
      ->default_str(std::to_string(into.count() / 1000));
}

void add_options(CLI::App& app, settings& s) {
  app.add_option("--listen", s.listen, "Where to listen; :80 is every IPv4 address, [::]:80 every one of IPv6, and of IPv4 unless an IPv4 address with "
                 "its port is named too; port 0 any that is free; may be said again")
      ->check(address)
      ->type_name("ADDR:PORT")
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--workers", s.workers, "Threads that run events; 0: one for each CPU")
      ->check(from_to(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--max-connections", s.max_connections, "Connections at a time; who comes then waits for one to end, or to be idle")
      ->check(from_to(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  add_time(app, "--header-timeout", s.times.header, "For the head of a request: then 408; for the first byte of a connection");
  add_time(app, "--idle-timeout", s.times.idle, "For the next request: then the connection is closed; for all of a body: then 408");
  add_time(app, "--write-timeout", s.times.write, "For each 256 KB of a response: then the connection is closed");
  add_time(app, "--drain-timeout", s.times.drain, "For requests in progress, after SIGINT or SIGTERM; "
           "idle connections get half of it, 1 s at most, for one more request");
  app.add_option("--cache-bytes", s.pages.cache.bytes, "Memory for pages; workers keep as much again of old ones, at most. "
                 "If it is not said: a 16th of what there is, 256 MB at most")
      ->check(from_to(0, std::uint64_t{1} << 40))
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_option("--cache-entries", s.pages.cache.entries, "Pages in memory")
      ->check(from_to(0, 1'000'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--largest-page", s.pages.largest_page, "A larger file, or one beyond a 128th of --cache-bytes "
                 "or a quarter of a worker's part of it, is sent from the disk")
      ->check(from_to(0, std::uint64_t{16} << 20))
      ->type_name("BYTES")
      ->capture_default_str();
  const auto add_trusted = [&s](const std::vector<std::string>& all) {
    s.proxies.trusted.clear();
    s.proxies.trusts_unix = false;
    for (const std::string& each : all) static_cast<void>(trust(s.proxies, each));
  };
  app.add_option_function<std::vector<std::string>>("--trusted-proxy", add_trusted, "An address, a range as 10.0.0.0/8, or unix: requests from there come "
                                                    "from whom X-Forwarded-For names; may be said again")
      ->check(trusted_proxy)
      ->type_name("RANGE")
      ->allow_extra_args(false);
  app.add_flag("--proxy-protocol", s.proxies.speaks_protocol, "Connections of trusted proxies begin with a header of the PROXY protocol, version 1 or 2");
  app.add_option("--user", s.user, "Whose rights to take when the ports are open; only root can")->type_name("NAME");
  app.add_option("--access-log", s.access_log, "Append a line for each answer, in the combined format; SIGUSR1 and SIGHUP open the file anew")
      ->type_name("FILE");
  add_time(app, "--recheck", s.pages.recheck, "How long ago a page that is served was compared with the disk, at most, if that answers");
}

/// What is no setting.
struct other_options {
  std::string config;  ///< a file; empty: none
  bool only_check = false;
};

/// Parses the options into the settings, over what is there.
other_options parse_options(int argc, const char* const* argv, settings& into) {
  CLI::App app{"Serves the files of a folder over HTTP/1.1: GET and HEAD, on all CPUs.\nSIGINT and SIGTERM end it when requests in "
               "progress are answered; a second one ends it at once.",
               "tartan-web"};
  host_settings host;
  other_options others;
  CLI::Option* const root = app.add_option("--root", host.root, "The folder to serve")->type_name("DIR");
  CLI::Option* const file = app.add_option("--config", others.config, "A file in TOML with all of this, and hosts; options go before it, SIGHUP reads it anew")
                                ->type_name("FILE");
  app.add_flag("!--no-precompressed", host.with.precompressed, "Send no page.html.br or page.html.gz instead of page.html, to whoever accepts them")
      ->excludes(file);
  app.add_flag("--listings", host.with.listings, "Name what is in a folder that has no index.html")->excludes(file);
  app.add_flag("--dot-files", host.with.dot_files, "Serve also what has a name with a '.' first; without it only /.well-known/")->excludes(file);
  app.add_flag("--clean-urls", host.with.clean_urls, "Answer /about with about.html, if no file is called about")->excludes(file);
  app.add_option("--fallback", host.fallback, "The path of a page that is sent where there is no file and the name has no '.', as \"/index.html\" for "
                 "a single-page application")
      ->type_name("PATH")
      ->check(page_path)
      ->excludes(file);
  app.add_option("--cache-control", host.with.pages.cache_control, "Sent with each file, as \"max-age=3600\"; without it clients guess how long to keep it")
      ->type_name("TEXT")
      ->check(header_value)
      ->excludes(file);
  CLI::Option* const certificate = app.add_option("--certificate", host.certificate, "For TLS, in PEM, with those that vouch for it")->type_name("FILE");
  CLI::Option* const key = app.add_option("--key", host.key, "Of the certificate, in PEM")->type_name("FILE");
  certificate->excludes(file)->needs(key);
  key->excludes(file)->needs(certificate);
  CLI::Option* const secure = app.add_option("--listen-tls", into.listen_tls, "Where to listen for TLS; may be said again")
                                  ->check(address)
                                  ->type_name("ADDR:PORT")
                                  ->allow_extra_args(false);
  root->excludes(file);
  add_options(app, into);
  app.add_flag("--check", others.only_check, "Say what is wrong with all of this, if anything is, and end: nothing is served or written, no port opened");
  app.set_version_flag("--version", "tartan-web " TARTAN_VERSION, "Print the version");
  app.footer(fixed_limits(into.requests));
  try {
    app.parse(argc, argv);
    if (root->count() + file->count() == 0) throw CLI::RequiredError{"--root or --config"};
    if (secure->count() != 0 && file->count() == 0 && certificate->count() == 0) throw CLI::RequiredError{"--certificate for --listen-tls"};
    if (secure->count() != 0 && app.count("--listen") == 0) into.listen.clear();  // else who wants TLS would get both
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    throw;
  } catch (const CLI::CallForVersion& version) {
    std::puts(version.what());
    throw;
  }
  if (root->count() != 0) into.hosts.assign(1, host);
  return others;
}

/// Both, where they may serve or be checked.
command_line read_all(int argc, const char* const* argv) {
  const settings usual = usual_settings();
  command_line found{.what = usual};
  const other_options others = parse_options(argc, argv, found.what);
  found.only_check = others.only_check;
  const auto check_proxies = [&found] {  // of file and options together
    if (found.what.proxies.speaks_protocol && !found.what.proxies.are_any()) {
      throw CLI::ValidationError{"--proxy-protocol", "needs --trusted-proxy, or trusted-proxies of the file: anybody else could say anything"};
    }
  };
  if (others.config.empty()) {
    check_proxies();
    return found;
  }
  found.what = read_config(others.config, usual);
  settings& now = found.what;
  const settings of_file = now;
  static_cast<void>(parse_options(argc, argv, now));  // options go before the file
  check_proxies();
  if (now.listen != of_file.listen) now.at.listen = {};
  if (now.listen_tls != of_file.listen_tls) now.at.listen_tls = {};
  if (now.user != of_file.user) now.at.user = {};
  if (now.access_log != of_file.access_log) now.at.access_log = {};
  return found;
}

}  // namespace

settings usual_settings() {
  settings made;
  made.pages.cache.bytes = std::min(tartan::usable_memory() / 16, std::size_t{256} << 20);
  made.pages.largest_page = std::size_t{1} << 20;
  return made;
}

settings read_again(int argc, const char* const* argv) { return read_all(argc, argv).what; }

command_line read_command_line(int argc, const char* const* argv) {
  command_line result;
  const auto refuse = [&result](const char* why) {
    std::fprintf(stderr, "tartan-web: %s\n", tartan::apps::one_line(why).c_str());
    result.serve = false;
    result.exit_status = 2;
  };
  try {
    result = read_all(argc, argv);
  } catch (const CLI::Success&) {  // it has been said
    result.serve = false;
  } catch (const CLI::ParseError& wrong) {
    refuse((std::string{wrong.what()} + " (see tartan-web --help)").c_str());
  } catch (const tartan::apps::config_error& wrong) {
    refuse(wrong.what());
  }
  return result;
}

}  // namespace web
