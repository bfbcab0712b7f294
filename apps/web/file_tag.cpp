#include "web/file_tag.h"

#include <array>
#include <cstddef>
#include <cstdio>

namespace web {

std::string file_tag(const file_version& of, std::string_view suffix, const file_time& opened) {
  std::array<char, 128> text;
  const file_time since = of.changed.is_credible() ? file_time{} : opened;
  using number = unsigned long long;
  int size = std::snprintf(text.data(), text.size(), "\"%llx.%llx-%llx-%llx", static_cast<number>(of.changed.seconds),
                           static_cast<number>(of.changed.nanoseconds), static_cast<number>(of.number),
                           static_cast<number>(of.size));
  std::string tag{text.data(), static_cast<std::size_t>(size)};
  if (since != file_time{}) {
    size = std::snprintf(text.data(), text.size(), "-%llx.%llx", static_cast<number>(since.seconds),
                         static_cast<number>(since.nanoseconds));
    tag.append(text.data(), static_cast<std::size_t>(size));
  }
  return tag.append(suffix).append(1, '"');
}

}  // namespace web
