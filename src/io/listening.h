#pragma once
/// What a listener's slot has besides.

#include <algorithm>
#include <functional>
#include <memory>
#include <system_error>

#include "io/slot.h"

namespace tartan::detail {

/// Color: the slot's.
struct listening : slot_extra {
  unsigned batch = 16;  ///< connections accepted in one event
  unsigned left = 16;
  bool paused = false;  ///< no descriptors or memory: it will be tried again
  std::shared_ptr<const std::function<void(std::error_code)>> on_shortage;  ///< told of each pause; null: nobody is

  /// So many in one event, within limits.
  void take_in_turns(unsigned wanted) noexcept { batch = left = std::clamp(wanted, 1u, 64u); }

  [[nodiscard]] static listening& of(io_slot& slot) noexcept { return static_cast<listening&>(*slot.extra); }
};

}  // namespace tartan::detail
