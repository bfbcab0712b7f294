#include "core/sched/no_queue_memory.h"

#include <array>
#include <charconv>
#include <string_view>

#include "core/fatal.h"

namespace tartan::detail {

void no_queue_memory(color where, const event& e) noexcept {
  // Nothing here may need memory.
  const auto digits = [](std::array<char, 24>& into, std::uint64_t number) -> std::string_view {
    return {into.data(), std::to_chars(into.data(), into.data() + into.size(), number).ptr};
  };
  std::array<char, 24> value{};
  std::array<char, 24> line{};
  const std::string_view name = where == color::unordered ? "unordered" : digits(value, where.value());
  fatal({"out of memory for the queue of color ", name, ", posted to at ", e.site.file_name(), ":", digits(line, e.site.line())});
}

}  // namespace tartan::detail
