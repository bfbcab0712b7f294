#pragma once
/// What the command line says, or a file.

#include <tartan/http/request_parser.h>
#include <tartan/http/status.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/service_manager.h"
#include "web/http.h"
#include "web/library.h"
#include "web/proxies.h"

namespace web {

/// How long the server waits for a client.
struct time_limits {
  std::chrono::milliseconds header{10'000};  ///< for the head of a request, from its first byte on: then 408; and for the first byte of all
  std::chrono::milliseconds idle{60'000};    ///< for the next request, and for all of a body: then the connection is closed
  std::chrono::milliseconds write{60'000};   ///< for taking 256 KB of a response: then the connection is closed
  std::chrono::milliseconds drain{10'000};   ///< after a signal, for requests in progress

  [[nodiscard]] bool operator==(const time_limits&) const = default;
};

/// "FILE:LINE: KEY: ", for what is found wrong later; empty: it is an option's. Where something stands is no part of what it is, so all are equal: a line
/// more at the top of a file changes no setting.
struct setting_place {
  std::string text;

  [[nodiscard]] bool operator==(const setting_place&) const noexcept { return true; }
};

/// A folder, and who gets what lies in it.
struct host_settings {
  std::vector<std::string> names;  ///< as Host headers have them, without a port, in small letters
  std::string root;
  root_options with;
  std::string certificate;         ///< in PEM, for TLS, with those that vouch for it behind it; empty: the first host's
  std::string key;                 ///< in PEM
  bool https_only = false;         ///< who comes without TLS is sent to the same with it, but for what shows who has the name (ACME, RFC 8555)
  std::string fallback;            ///< the path of a page that is sent for paths without a file, of a program in the browser; empty: none
  std::map<http::status, std::string> error_pages;  ///< the path of a page of this host that is sent instead of one line
  setting_place root_at;
  setting_place certificate_at;
  setting_place https_only_at;

  [[nodiscard]] bool operator==(const host_settings&) const = default;
};

/// Does it; what that throws is told with the place of the setting.
///
/// Errors: std::runtime_error.
template <class F>
auto do_for(const setting_place& setting, F what) {
  try {
    return what();
  } catch (const std::exception& wrong) {
    throw std::runtime_error{setting.text + wrong.what()};
  }
}

/// Of what all hosts share.
struct setting_places {
  setting_place listen;
  setting_place listen_tls;
  setting_place user;
  setting_place access_log;

  [[nodiscard]] bool operator==(const setting_places&) const = default;
};

struct settings {
  std::vector<host_settings> hosts;  ///< the first also answers whoever names none of them
  std::vector<std::string> listen{"127.0.0.1:8080"};
  std::vector<std::string> listen_tls;
  std::vector<tartan::apps::passed_socket> sockets;  ///< that listen already, instead of `listen` and `listen_tls`
  std::string user;        ///< whose rights to take when all is open; empty: none
  std::string access_log;  ///< a file; empty: none
  setting_places at;
  unsigned workers = 0;  ///< 0: one for each CPU
  std::size_t max_connections = 10'000;
  time_limits times;
  proxy_settings proxies;
  http::request_limits requests;
  library_settings pages;

  [[nodiscard]] bool operator==(const settings&) const = default;
};

/// What counts where nothing else is said: `pages` have a 16th of the memory that there is for this process, 256 MB at most; one has 1 MB at most.
[[nodiscard]] settings usual_settings();

/// Whether to go on, and if not, with which status to end.
struct command_line {
  settings what;
  bool serve = true;
  bool only_check = false;  ///< whether they could be served
  int exit_status = 0;
};

/// Prints the help, or one line that says what is wrong.
[[nodiscard]] command_line read_command_line(int argc, const char* const* argv);

/// The same settings again, from the file as it is now, if the command line names one. Blocks as long as the disk takes.
///
/// Errors: std::exception, with what is wrong.
[[nodiscard]] settings read_again(int argc, const char* const* argv);

}  // namespace web
