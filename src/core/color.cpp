#include <string>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

#include "core/fatal.h"
#include "core/runtime_state.h"

namespace tartan::detail {

void color_out_of_range(std::source_location site) noexcept {
  fatal({"a color's number must be at least 0 and less than 2^63 (at ", place(site), ")"});
}

void assert_color(color expected, std::source_location site) noexcept {
  const thread_context* context = here_now();
  const bool inside = context != nullptr && context->in_event;
  if (inside && context->running == expected) return;

  runtime_state* rt = current_runtime();
  const auto text = [rt](color c) { return color_text(c, rt != nullptr ? rt->name_of(c) : std::string{}); };
  if (!inside)
    fatal({"assert_here: expected ", text(expected), ", but no event runs on this thread (", place(site), ")"});
  fatal({"assert_here: expected ", text(expected), ", but ", text(context->running), " runs (", place(site),
         "; posted at ", place(context->site), ")"});
}

}  // namespace tartan::detail
