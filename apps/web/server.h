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

  [[nodiscard]] tartan::address address() const { return *door_.local_address(); }

  /// Accepts until drain. What one connection lacks, memory or a thread for the disk, ends that connection; where the runtime itself has
  /// no memory left, it ends the program.
  tartan::task<> run();

  /// Accepts no more, closes idle connections, lets requests in progress end, for as long as the settings say; then ends them too.
  tartan::task<> drain();

 private:
  void admit(tartan::tcp::stream peer, tartan::semaphore::permit place);
  tartan::task<> serve(std::unique_ptr<connection> client, tartan::semaphore::permit place);
  void complain(const std::exception_ptr& why) noexcept;

  site site_;
  tartan::tcp::listener door_;
  tartan::semaphore places_;
  std::unordered_set<connection*> open_;  ///< those that drain has to tell
  tartan::task_group connections_;
  bool draining_ = false;
  std::size_t untold_ = 0;  ///< connections that have ended badly since the last complaint
  std::chrono::steady_clock::time_point next_complaint_{};
};

}  // namespace web
