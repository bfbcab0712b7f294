#pragma once
/// Settings from a file in TOML.

#include <stdexcept>
#include <string>

#include "web/settings.h"

namespace web {

/// What is wrong with a file: "FILE:LINE: KEY: why".
class config_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the file says, and for all else what there was. docs/guide/web-server.md lists the keys.
///
/// Errors: config_error, for a file that cannot be read or is no TOML, a key that there is not, and a value of another type or out of its range.
[[nodiscard]] settings read_config(const std::string& path, settings into = {});

}  // namespace web
