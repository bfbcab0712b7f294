#pragma once
/// The server's part of a result.

#include <tartan/core/task.h>

#include <optional>

#include "load/process_tree.h"
#include "load/result.h"

namespace load {

/// Looks at the server's processes when the load's conductor says so; at nothing, if there are none.
class server_watch {
 public:
  /// Errors: std::runtime_error if one of them is not there.
  explicit server_watch(process_tree server);

  /// Before the first connection.
  void before_all();
  /// Shortly before what is measured begins. The slow part is done elsewhere, so that clients are not kept waiting just then.
  tartan::task<> prepare();
  void begin();
  /// As soon as it has ended: takes the CPU time of the processes that were there when it began.
  void stop();
  /// After that, while all connections are still there: whatever takes longer.
  void end();

  /// Nothing if there is no server, or if it did not come to a beginning.
  [[nodiscard]] std::optional<server_result> result() const { return has_begun_ ? std::optional{seen_} : std::nullopt; }

 private:
  process_tree server_;
  tree_usage before_;
  tree_usage after_;
  server_result seen_;
  bool has_begun_ = false;
};

}  // namespace load
