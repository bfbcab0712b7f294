#pragma once
/// How the descriptors that this process may open are shared out.

#include <cstddef>

#include "web/settings.h"

namespace web {

/// What is left for clients and large files behind that which the server always needs.
struct descriptor_share {
  std::size_t connections = 0;
  std::size_t open_files = 0;  ///< large ones that stay open although nobody sends them
};

/// `limit`: descriptors of this process (RLIMIT_NOFILE). `open_before`: those that were open before the server was
/// made.
///
/// First come two folders for each host, since a reload opens the new ones beside the old, one listener for each
/// address, those of the runtime, and the pages that the kernel sends (page_body). Connections have three quarters of
/// the rest. The last quarter is for files that are read or sent: one for each file, however many clients want it. A
/// quarter of that stays open for some seconds more.
/// Errors: std::runtime_error if the folders of the hosts leave no room for clients.
[[nodiscard]] descriptor_share share_of_descriptors(const settings& with, std::size_t limit, std::size_t open_before);

}  // namespace web
