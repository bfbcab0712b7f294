#pragma once
/// Connections of a client: those that are in use, those that are kept, and the requests that wait for one.

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <tartan/core/channel.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <tartan/core/task.h>
#include <tartan/dns/resolver.h>
#include <tartan/http_client/client.h>
#include <tartan/tls/client.h>
#include <utility>

#include "http_io/wire.h"

namespace tartan::http::detail {

class pool;

/// A place among the connections of an origin, and the connection in it, if there is one already.
///
/// Lifetime: gives the place back when it is destroyed; a connection that was not kept is closed.
class lease {
 public:
  lease() noexcept = default;
  lease(std::shared_ptr<pool> of, std::string origin, std::unique_ptr<wire> with) noexcept
      : of_{std::move(of)}, origin_{std::move(origin)}, wire_{std::move(with)} {}
  lease(lease&& other) noexcept = default;
  lease& operator=(lease&& other) noexcept;
  ~lease() { let_go(); }

  /// Null: the connection is still to be made.
  [[nodiscard]] std::unique_ptr<wire>& connection() noexcept { return wire_; }
  /// Others may use the connection.
  void keep() noexcept;

 private:
  void let_go() noexcept;

  std::shared_ptr<pool> of_;
  std::string origin_;
  std::unique_ptr<wire> wire_;
};

/// Color: its strand's, unless a member says otherwise.
class pool : public std::enable_shared_from_this<pool> {
 public:
  pool(strand own, dns::resolver names, client_settings with);

  const client_settings settings;

  /// Color: any. `is_fresh`: a kept connection will not do.
  static task<result<lease>> take(std::shared_ptr<pool> self, std::string origin, bool is_fresh);
  /// Color: any.
  static task<std::shared_ptr<tls::client>> secure(std::shared_ptr<pool> self);
  /// Threads: any.
  void give_back(std::string origin, std::unique_ptr<wire> kept) noexcept;
  void close();
  [[nodiscard]] const dns::resolver& names() const noexcept { return names_; }

 private:
  struct idle_connection {
    std::unique_ptr<wire> with;
    wire::time_point since;
  };
  struct origin {
    std::list<idle_connection> idle;  ///< the longest idle first
    std::size_t open = 0;             ///< idle ones included
  };
  struct waiter {
    std::string origin;
    bool is_fresh = false;
    channel<lease> granted{capacity{1}};
  };

  [[nodiscard]] result<lease> take_now(const std::string& of, bool is_fresh);
  void drop_idle(origin& of);
  void drop_old();
  [[nodiscard]] bool make_room();
  void serve_waiters();

  strand strand_;
  dns::resolver names_;
  std::shared_ptr<tls::client> secure_;
  std::map<std::string, origin> origins_;
  std::list<waiter*> waiting_;
  std::size_t open_ = 0;
  bool is_closed_ = false;
};

}  // namespace tartan::http::detail
