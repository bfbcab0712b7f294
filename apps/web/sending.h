#pragma once
/// How responses leave.

#include <tartan/core/task.h>

#include "web/conversation.h"
#include "web/outgoing.h"

namespace web {

/// Writes the text, and the page or the file behind it, as far as that needs no waiting: in the usual case all of it. Gives whether all has left.
[[nodiscard]] bool send_now(conversation& to, outgoing& what);

/// Sends what send_now has left. Gives false if the peer is gone.
///
/// Errors: std::runtime_error for a file that is not as it was promised any more: its length was told, so the connection has to end.
[[nodiscard]] tartan::task<bool> send_rest(conversation& to, outgoing& what);

}  // namespace web
