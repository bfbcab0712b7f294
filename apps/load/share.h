#pragma once
/// A load that is divided among several injectors.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "load/json.h"
#include "load/settings.h"

namespace load {

/// What one of them does: some of the clients.
struct share {
  load_settings load;
  std::uint64_t first = 0;  ///< number of its first client

  [[nodiscard]] json_object to_json() const;
  /// Errors: std::runtime_error.
  [[nodiscard]] static share parse(const flat_json& from);
};

/// Together they do what one would do alone. Errors: std::runtime_error if there are more injectors than clients, or than requests.
[[nodiscard]] std::vector<share> divided(const load_settings& all, std::size_t injectors);

}  // namespace load
