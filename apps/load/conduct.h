#pragma once
/// Who says when a load begins and ends.

#include <optional>

#include "load/result.h"
#include "load/settings.h"

namespace load {

/// What has come of it.
struct conducted {
  load_result clients;
  std::optional<server_result> server;
};

/// In this process. SIGINT and SIGTERM end what is measured early.
///
/// Errors, of all three: std::exception.
[[nodiscard]] conducted conduct_alone(const http_settings& asked);

/// As the master of others.
[[nodiscard]] conducted conduct_others(const http_settings& asked);

/// As one of those; gives its own part. Puts what the master has said into `asked`.
[[nodiscard]] conducted conduct_joined(http_settings& asked);

}  // namespace load
