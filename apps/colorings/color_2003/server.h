#pragma once
/// The web server of libasync-smp's paper in its colors.

#include <tartan/core/result.h>
#include <tartan/core/runtime.h>
#include <tartan/io/tcp.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "colorings/common/client.h"
#include "colorings/common/handle_table.h"
#include "colorings/common/load_file.h"
#include "web/page_cache.h"
#include "colorings/common/settings.h"

namespace colorings {

/// Color: connections are accepted in the default one; a client is read from, parsed and written to in its own; each of ten page caches, the
/// handle cache, and the reading of files have one each; hashes are computed in none.
/// Source: libasync-smp (USENIX 2003), "Parallelizing the HTTP server".
class server {
 public:
  static constexpr tartan::color door{};  ///< where connections are accepted
  static constexpr bool counts_clients = false;

  server(tartan::runtime& rt, const settings& with);

  [[nodiscard]] tartan::address address() const { return *door_.local_address(); }
  void accept_next();

 private:
  void accepted(tartan::result<tartan::tcp::stream> peer);
  void read_request(owned_client c);
  void request_read(owned_client c, tartan::result<std::size_t> got);
  void parse_request(owned_client c);
  void check_page_cache(owned_client c);
  void hash_prefixes(owned_client c);
  void check_handle_cache(owned_client c);
  void read_file(owned_client c);
  void file_read(owned_client c, tartan::result<loaded_file> file);
  void keep_handles(owned_client c);
  void keep_page(owned_client c);
  void write_response(owned_client c);
  void response_written(owned_client c, tartan::result<std::size_t> sent);

  static constexpr tartan::color handle_cache{1};
  static constexpr tartan::color files{2};
  static constexpr std::size_t page_caches = 10;
  static constexpr std::size_t first_page_cache = 3;  ///< its color, and the others' from there on
  [[nodiscard]] static std::size_t cache_of(const client& c) noexcept { return std::hash<std::string_view>{}(c.path()) % page_caches; }
  [[nodiscard]] static tartan::color page_cache_of(const client& c) noexcept { return tartan::color{first_page_cache + cache_of(c)}; }

  tartan::tcp::listener door_;
  const handle root_;
  std::vector<web::page_cache> pages_;
  handle_table handles_{1000};
};

}  // namespace colorings
