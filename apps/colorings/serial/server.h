#pragma once
/// The web server of libasync-smp's paper, before it got colors: all of it runs in the default one, on one core.

#include <tartan/core/result.h>
#include <tartan/core/runtime.h>
#include <tartan/io/tcp.h>

#include <cstddef>

#include "colorings/common/client.h"
#include "colorings/common/handle_table.h"
#include "colorings/common/load_file.h"
#include "web/page_cache.h"
#include "colorings/common/settings.h"

namespace colorings {

/// Source: libasync-smp (USENIX 2003), "HTTP server".
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

  tartan::tcp::listener door_;
  const handle root_;
  web::page_cache pages_;
  handle_table handles_{1000};
};

}  // namespace colorings
