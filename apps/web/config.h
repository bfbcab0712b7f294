#pragma once
/// Settings from a file in TOML.

#include <string>

#include "common/config_error.h"
#include "web/settings.h"

namespace web {

/// What the file says, and for all else what there was. docs/guide/web-server.md lists the keys.
///
/// Errors: tartan::apps::config_error, for a file that cannot be read or is not TOML, an unknown key, and a value of
/// another type or out of its range.
[[nodiscard]] settings read_config(const std::string& path, settings into = {});

/// Whether a text is a path as a request has it when it was decoded: one that a file can have.
[[nodiscard]] bool is_path(const std::string& text);

}  // namespace web
