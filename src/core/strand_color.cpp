#include "core/strand_color.h"

#include "core/fatal.h"
#include "core/memory.h"
#include "core/runtime_state.h"

namespace tartan::detail {

std::uint64_t strand_color::next_mark() noexcept {
  static real_memory::atomic<std::uint64_t> runtimes{0};
  return (runtimes.fetch_add(1, std::memory_order_relaxed) << number_bits) & mark_mask;
}

bool strand_color::is_foreign(color c, const runtime_state& rt) noexcept {
  return is(c) && (c.value() & mark_mask) != rt.strand_mark();
}

void refuse_foreign(const runtime_state& rt, color c, std::string_view what, std::source_location site) noexcept {
  if (!strand_color::is_foreign(c, rt)) [[likely]] return;
  fatal({what, " in ", color_text(c), " of another runtime, at ", place(site),
         "; it was meant for the runtime that was made at ", place(rt.made_at())});
}

}  // namespace tartan::detail
