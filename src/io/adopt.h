#pragma once
/// Taking over descriptors that were opened elsewhere.

#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/io/accept.h>
#include <tartan/io/wait.h>

namespace tartan::detail {

class runtime_state;

/// Makes it non-blocking and opens it in a color. On error it is still the caller's.
[[nodiscard]] result<slot_key> adopt(runtime_state& rt, int descriptor, color c) noexcept;

/// The same for one that has to be a listening socket of this kind.
[[nodiscard]] result<slot_key> adopt_listener(runtime_state& rt, transport over, int descriptor, color c, unsigned batch);

}  // namespace tartan::detail
