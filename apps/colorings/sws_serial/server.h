#pragma once
/// SWS, the web server of Mely's paper, before it got colors: all of it runs in the default one, on one core.

#include <tartan/core/result.h>
#include <tartan/core/runtime.h>
#include <tartan/io/tcp.h>

#include <cstddef>

#include "colorings/common/client.h"
#include "colorings/common/prebuilt_pages.h"
#include "colorings/common/settings.h"

namespace colorings {

/// Its handlers are the paper's, but for Epoll, which is the runtime's own.
///
/// Source: Mely, V.C.1.
class server {
 public:
  static constexpr tartan::color door{};  ///< where connections are accepted
  static constexpr bool counts_clients = true;

  server(tartan::runtime& rt, const settings& with);

  [[nodiscard]] tartan::address address() const { return *door_.local_address(); }
  void accept_next();

 private:
  void accepted(tartan::result<tartan::tcp::stream> peer);
  void register_descriptor(int descriptor);
  void read_request(owned_client c);
  void request_read(owned_client c, tartan::result<std::size_t> got);
  void parse_request(owned_client c);
  void check_in_cache(owned_client c);
  void write_response(owned_client c);
  void response_written(owned_client c, tartan::result<std::size_t> sent);
  void close(owned_client c);
  void client_has_gone();

  tartan::tcp::listener door_;
  const prebuilt_pages pages_;
  const std::size_t most_clients_;
  std::size_t clients_ = 0;
  bool accepts_ = false;  ///< somebody is waited for
};

}  // namespace colorings
