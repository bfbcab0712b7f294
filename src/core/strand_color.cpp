#include "core/strand_color.h"

#include "core/fatal.h"
#include "core/runtime_state.h"

namespace tartan::detail {

void refuse_foreign(const runtime_state& rt, color c, std::string_view what, std::source_location site) noexcept {
  if (!strand_color::is_foreign(c, rt)) [[likely]] return;
  fatal({what, " in ", color_text(c), " of another runtime, at ", place(site),
         "; it was meant for the runtime that was made at ", place(rt.made_at())});
}

}  // namespace tartan::detail
