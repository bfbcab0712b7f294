#include <tartan/core/join_handle.h>
#include <tartan/core/task.h>
#include <tartan/core/when_any.h>

#include "core/fatal.h"

namespace tartan::detail {

void empty_task() noexcept {
  const thread_context* const context = here_now();
  fatal({"a task that was moved from, or was awaited before, is awaited in an event that was posted at ",
         place(context != nullptr ? context->site : std::source_location{})});
}

void misplaced_frame() noexcept {
  fatal({"gcc before 13 has compiled a coroutine wrongly (GCC bug 106188): it has no variable in its outermost block, and awaits in the condition of an "
         "if, a loop or a switch; give the awaited value a name first: `const bool ok = co_await ...; if (!ok) ...`"});
}

void nothing_to_await() noexcept { fatal({"when_any of no tasks would never end"}); }

void empty_handle(std::source_location site) noexcept { fatal({"join of an empty handle, at ", place(site)}); }

}  // namespace tartan::detail
