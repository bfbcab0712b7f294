#pragma once
/// SIGINT and SIGTERM as something to wait for.

#include <tartan/core/runtime.h>
#include <tartan/core/task.h>
#include <tartan/io/tcp.h>

namespace web {

/// From now on the first of the two signals ends wait(), and the second ends the program with status 128 + signal.
///
/// One at a time. runtime::stop_on would be too much: it cancels what waits, responses in progress among it.
class stop_signal {
 public:
  /// Errors: std::system_error.
  explicit stop_signal(tartan::runtime& rt);

  /// Color: the default one.
  tartan::task<> wait();

 private:
  tartan::tcp::stream received_;
};

}  // namespace web
