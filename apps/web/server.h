#pragma once
/// Accepts connections, and ends them.

#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/task.h>
#include <tartan/core/task_group.h>
#include <tartan/io/tcp.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <unordered_set>
#include <vector>

#include "connection.h"
#include "settings.h"
#include "site.h"

namespace web {

/// Color: the default one, for all that is here; each connection has a color of its own.
/// Lifetime: until run and drain have ended.
class server {
 public:
  /// Listens.
  ///
  /// Errors: std::system_error, std::invalid_argument: no such folder, port in use, no address.
  server(tartan::runtime& rt, const settings& with);

  /// Where it listens.
  struct place {
    tartan::address at;
    bool is_secure = false;
  };
  /// In the order of the settings.
  [[nodiscard]] std::vector<place> places() const;

  /// Accepts until drain. What one connection lacks, memory or a thread for the disk, ends that connection; where the runtime itself has
  /// no memory left, it ends the program.
  tartan::task<> run();

  /// Opens the access log anew, and reads the certificates: for connections that come from then on. Those that cannot be read leave the old ones in use.
  [[nodiscard]] tartan::task<> reload();

  /// Accepts no more, closes idle connections, lets requests in progress end, for as long as the settings say; then ends them too. Gives false if
  /// the disk hangs: what it has begun cannot be called off, and is not waited for longer than 5 s; nor is, then, the access log, so that all
  /// ends within 10 s more than the settings say.
  tartan::task<bool> drain();

 private:
  struct door {
    tartan::tcp::listener at;
    bool is_secure = false;  ///< speaks TLS
  };
  void open_doors();
  tartan::task<> end_connections();
  tartan::task<> write_log();
  tartan::task<> accept_from(door& at);
  void admit(tartan::tcp::stream peer, bool is_secure, tartan::semaphore::permit seat);
  tartan::task<> serve(std::unique_ptr<connection> client, tartan::semaphore::permit seat);
  void complain(const std::exception_ptr& why) noexcept;

  site site_;
  std::vector<door> doors_;
  std::shared_ptr<const tls_certificates> certificates_;  ///< null: none are needed
  tartan::semaphore seats_;  ///< for connections; each door may have accepted one more, which waits for its seat
  std::unordered_set<connection*> open_;  ///< those that drain has to tell
  tartan::task_group connections_;
  tartan::semaphore reloads_{1};
  bool draining_ = false;
  std::size_t untold_ = 0;  ///< connections that have ended badly since the last complaint
  std::chrono::steady_clock::time_point next_complaint_{};
};

}  // namespace web
