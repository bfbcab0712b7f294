#include "load/settings.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <utility>

#include "load/header.h"
#include "load/place.h"
#include "load/url.h"

namespace load {

namespace {

constexpr const char* exit_statuses =
    "Exit status: 0 if at least one answer was counted and there was no error;\n"
    "1 if there was an error, not one right answer in the measured time, or a --server process that ended: "
    "the result is still written;\n"
    "2 if there is no result: wrong options, too few descriptors, a lost master or injector, "
    "a result that cannot be written.";

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

/// 0 says that there is none; time between two requests has to be one that a clock can tell.
CLI::Validator rate_range() {
  const std::string range = "0, or 0.001 to 10000000";
  const CLI::Validator number = from_to(0.0, 1e7, range);
  return CLI::Validator{[number, range](const std::string& text) mutable -> std::string {
                          std::string checked = text;
                          const std::string wrong = number(checked);
                          if (!wrong.empty()) return wrong;
                          const double rate = std::stod(text);
                          return rate == 0 || rate >= 0.001 ? std::string{} : "'" + text + "' is no number from " + range;
                        },
                        ""};
}

/// A wrong URL is refused here, before a result file is opened, or a master waits for injectors that would refuse it.
const CLI::Validator is_url{[](const std::string& text) -> std::string {
                              try {
                                static_cast<void>(parse_url(text));
                                return {};
                              } catch (const std::invalid_argument& wrong) {
                                return wrong.what();
                              }
                            },
                            ""};

/// HOST:PORT, with a port from `least` on.
CLI::Validator is_place(std::uint16_t least, const char* otherwise) {
  return CLI::Validator{[least, otherwise](const std::string& text) -> std::string {
                          try {
                            return parse_place(text).port >= least ? std::string{} : "'" + text + "': " + otherwise;
                          } catch (const std::invalid_argument& wrong) {
                            return wrong.what();
                          }
                        },
                        ""};
}

template <class Number>
CLI::Option* add_number(CLI::App& app, const char* name, Number& into, const CLI::Validator& check, const char* type, const char* help) {
  return app.add_option(name, into, help)->check(check)->type_name(type)->capture_default_str();
}

constexpr std::uint64_t most_of_all = std::uint64_t{1} << 50;

/// Options that are no part of the load_settings as they are.
struct raw_options {
  std::string set;
  std::string body;
};

void add_load_options(CLI::App& app, load_settings& s, raw_options& raw) {
  app.add_option("--url", s.urls,
                 "What to ask for: port 80 or 443 if none is given, a fragment is dropped; user@ is refused. "
                 "May be repeated: client i takes number i modulo their number")
      ->check(is_url)
      ->type_name("http[s]://HOST:PORT/path")
      ->allow_extra_args(false);
  app.add_option("--header", s.headers, "A header of each request; Host takes the place of the url's; may be said again")
      ->check(CLI::Validator{wrong_with_header, ""})
      ->type_name("\"NAME: VALUE\"")
      ->allow_extra_args(false);
  add_number(app, "--clients", s.clients, from_to(1, 1'000'000), "N", "Virtual clients, each with a connection at a time");
  add_number(app, "--requests-per-connection", s.requests_per_connection, from_to(0, most_of_all), "N",
             "Then the client closes it; 0: never; 1 says \"Connection: close\"");
  const CLI::Validator duration = from_to(0.0, 1e6, "0 to 1000000");
  CLI::Option* const seconds = add_number(app, "--seconds", s.seconds, duration, "S", "Length of what is measured");
  add_number(app, "--requests", s.requests, from_to(1, most_of_all), "N", "Measure until there are so many answers, instead")->excludes(seconds);
  add_number(app, "--warm-up", s.warm_up, duration, "S", "Before it, when all clients have connected; not counted");
  CLI::Option* const set = app.add_option("--set", raw.set, "Ask for the files that make-set has put into DIR, which the server serves as its root; "
                                                            "the urls' paths go before their names")->type_name("DIR");
  app.add_option("--body", raw.body, "What each body must be; without it the first answer says so")->type_name("FILE")->excludes(set);
  add_number(app, "--rate", s.rate, rate_range(), "R",
             "Open loop: so many requests per second in all; latency counts from when a request was to be sent; 0: closed loop");
  add_number(app, "--timeout", s.timeout, from_to(0.001, 1e6, "0.001 to 1000000"), "S", "For an answer; then the client connects anew");
  add_number(app, "--pause-read", s.pause_read, from_to(0, most_of_all), "BYTES", "A client reads so many per second; 0: what there is");
  CLI::Option* const ca = app.add_option("--tls-ca", s.tls_ca, "Trust the certificates of FILE (PEM) instead of the system's")->type_name("FILE");
  app.add_flag("--tls-no-verify{false}", s.tls_verify, "Accept any certificate of an https server")->excludes(ca);
  add_number(app, "--seed", s.seed, from_to(0, ~std::uint64_t{0}), "N", "Of what is chosen by chance; else it is made up, and told");
}

void add_http_options(CLI::App& app, http_settings& s, raw_options& raw) {
  add_load_options(app, s.load, raw);
  add_number(app, "--workers", s.workers, from_to(0, 1024), "N", "Threads that run events; 0: one for each CPU");
  app.add_option("--server", s.servers, "Tell the CPU time and the memory of this process and of those it has started; may be said again")
      ->check(from_to(1, 1U << 30))
      ->type_name("PID")
      ->allow_extra_args(false);
  app.add_option("--json", s.json, "Write the result there; - is standard output")->type_name("FILE");
  app.add_flag("--progress,!--no-progress", s.progress, "A line each second on standard error; without a word, if that is a terminal");
  CLI::Option* const master =
      app.add_option("--master", s.master,
                     "Listen there for injectors that join, divide the load among them and merge their "
                     "results; sends no requests itself. Port 0: any free one")
          ->check(is_place(0, ""))
          ->type_name("HOST:PORT");
  CLI::Option* const injectors = app.add_option("--injectors", s.injectors, "Number of injectors to wait for")
                                     ->check(from_to(1, 10'000))
                                     ->type_name("N");
  master->needs(injectors);
  injectors->needs(master);
  app.add_option("--join", s.join, "Join the master there, which says what the load is")
      ->check(is_place(1, "port 0 cannot be connected to: ports are 1 to 65535"))
      ->type_name("HOST:PORT")
      ->excludes(master);
  app.footer(exit_statuses);
}

std::string content(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in) throw std::runtime_error{"cannot read " + path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void complete(http_settings& s, const raw_options& raw, const CLI::App& app, int argc, const char* const* argv) {
  if (s.load.urls.empty() && s.join.empty()) throw CLI::RequiredError{"--url"};
  const auto is_host = [](const std::string& line) { return is_named(line, "host"); };
  if (std::count_if(s.load.headers.begin(), s.load.headers.end(), is_host) > 1) throw CLI::ValidationError{"--header", "Host is said twice"};
  if (!raw.set.empty()) s.load.set = read_set(raw.set);
  if (!raw.body.empty()) s.load.body = content(raw.body);
  if (app.count("--seed") == 0) s.load.seed = std::random_device{}();
  if (app.count("--progress") == 0) s.progress = ::isatty(STDERR_FILENO) == 1;
  s.command.assign(argv, argv + argc);
}

/// What make-set is told.
struct raw_set {
  std::string folder;
  std::string shape = "specweb99";
  std::uint64_t files = 720;
  std::uint64_t bytes = 0;
  std::uint64_t file_bytes = 4096;
  std::uint64_t seed = 1;

  [[nodiscard]] set_description described() const {
    if (shape == "specweb99") return specweb99_set(files, bytes, seed);
    set_description made;
    made.shape = set_shape::flat;
    made.files = files;
    made.file_bytes = file_bytes;
    made.seed = seed;
    return made;
  }
};

void add_set_options(CLI::App& app, raw_set& s) {
  app.add_option("DIR", s.folder, "Where to write them, and set.json")->required();
  app.add_option("--shape", s.shape, "specweb99: directories of 36 files in four classes; flat: files of one size, asked for evenly")
      ->check(CLI::IsMember({"specweb99", "flat"}))
      ->capture_default_str();
  add_number(app, "--files", s.files, from_to(1, 10'000'000), "N", "Of specweb99, rounded up to whole directories");
  add_number(app, "--bytes", s.bytes, from_to(0, most_of_all), "N", "No more directories of specweb99 than make about so many; 0: as many as it takes");
  add_number(app, "--file-bytes", s.file_bytes, from_to(0, std::uint64_t{1} << 32), "N", "Of each file of flat");
  add_number(app, "--seed", s.seed, from_to(0, ~std::uint64_t{0}), "N", "Of their contents");
}

}  // namespace

command_line read_command_line(int argc, const char* const* argv) {
  CLI::App app{"Puts a load on a web server, and measures what it makes of it.", "tartan-load"};
  app.require_subcommand(1);
  http_settings http_wanted;
  raw_options raw;
  raw_set set_wanted;
  CLI::App* const http = app.add_subcommand("http", "Many clients, each of which asks again when it was answered; status, length and body are checked");
  CLI::App* const make_set = app.add_subcommand("make-set", "Makes the files of a SPECweb99-like load");
  add_http_options(*http, http_wanted, raw);
  add_set_options(*make_set, set_wanted);
  command_line result;
  try {
    app.parse(argc, argv);
    if (http->parsed()) {
      complete(http_wanted, raw, *http, argc, argv);
      result.http = std::move(http_wanted);
    } else {
      result.make_set = make_set_settings{set_wanted.folder, set_wanted.described()};
    }
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
  } catch (const CLI::ParseError& wrong) {
    std::fprintf(stderr, "tartan-load: %s (see tartan-load --help)\n", wrong.what());
    result.exit_status = 2;
  }
  return result;
}

}  // namespace load
