#pragma once
/// From the disk.

#include <tartan/http/status.h>

#include <string>
#include <vector>

#include "colorings/common/handle_table.h"
#include "web/page.h"
#include "colorings/common/path_prefixes.h"

namespace colorings {

/// A file, or why there is none.
struct loaded_file {
  tartan::http::status code = tartan::http::status::internal_error;
  web::shared_page page;               ///< if ok
  std::vector<opened_handle> handles;  ///< that the table did not have
};

/// The folder that is served.
///
/// Errors: std::system_error.
[[nodiscard]] handle open_root(const std::string& folder);

/// Opens what is still to be opened on the way to the file, one name after the other, and reads it; all of the way if what is known of it was
/// removed. A symbolic link is not followed.
///
/// Threads: any; blocks as long as the disk takes.
/// Limits: a file of more than 64 MB is answered with 503.
[[nodiscard]] loaded_file load_file(const path_prefixes& of, const known_way& from, const handle& root);

}  // namespace colorings
