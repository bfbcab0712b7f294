#pragma once
/// What the command line says.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "load/file_set.h"

namespace load {

/// The load, as all injectors have it.
struct load_settings {
  std::vector<std::string> urls;
  std::vector<std::string> headers;           ///< "Name: value", of every request; Host takes the place of the url's
  std::uint64_t clients = 200;
  std::uint64_t requests_per_connection = 0;  ///< 0: as many as the server likes
  double seconds = 2;
  std::uint64_t requests = 0;                 ///< instead of the seconds; 0: none
  double warm_up = 0.5;
  double rate = 0;                            ///< requests per second of all clients; 0: a closed loop
  double timeout = 60;                        ///< for an answer
  std::uint64_t pause_read = 0;               ///< bytes per second that a client reads; 0: what there is
  std::uint64_t seed = 0;
  std::optional<set_description> set;
  std::optional<std::string> body;            ///< of every url
  std::string tls_ca;                         ///< a file in PEM of authorities to trust; empty: the system's
  bool tls_verify = true;
};

/// What belongs to this process.
struct http_settings {
  load_settings load;
  unsigned workers = 1;
  std::vector<pid_t> servers;
  std::string json;         ///< a file; "-": standard output; empty: none
  bool progress = false;
  std::string master;       ///< where to wait for the others
  std::size_t injectors = 0;
  std::string join;         ///< where the master waits
  std::vector<std::string> command;
};

struct make_set_settings {
  std::string folder;
  set_description what;
};

/// What to do; neither: end with this status.
struct command_line {
  std::optional<http_settings> http;
  std::optional<make_set_settings> make_set;
  int exit_status = 0;
};

/// Prints the help, or one line that says what is wrong. Errors: std::runtime_error for files that cannot be read.
[[nodiscard]] command_line read_command_line(int argc, const char* const* argv);

}  // namespace load
