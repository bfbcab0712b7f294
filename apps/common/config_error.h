#pragma once
/// What is wrong with a configuration file.

#include <stdexcept>

namespace tartan::apps {

/// Its text: "FILE:LINE: KEY: why".
class config_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tartan::apps
