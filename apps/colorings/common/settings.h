#pragma once
/// The options of these servers.

#include <cstddef>
#include <optional>
#include <string>

namespace colorings {

struct settings {
  std::string root;
  std::string listen = "127.0.0.1:8080";
  unsigned workers = 0;                             ///< 0: one for each CPU
  std::size_t cache_bytes = std::size_t{256} << 20; ///< for pages, in all caches together
  std::size_t max_clients = 1000;                   ///< at a time; only of servers that count them
};

/// Nothing if there is no server to be started: then `exit_status` is set, and what there is to say was said.
[[nodiscard]] std::optional<settings> read_settings(int argc, const char* const* argv, const char* program, bool counts_clients, int& exit_status);

}  // namespace colorings
