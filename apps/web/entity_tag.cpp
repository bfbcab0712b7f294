#include "web/entity_tag.h"

#include <array>
#include <cstdio>

#include "web/text.h"

namespace web {

namespace {

/// Takes one tag off the front, without its "W/"; empty if there is none.
std::string_view take_tag(std::string_view& list, bool& weak) noexcept {
  weak = list.starts_with("W/");
  if (weak) list.remove_prefix(2);
  if (!list.starts_with('"')) return {};
  const std::size_t end = list.find('"', 1);
  if (end == std::string_view::npos) return {};
  const std::string_view tag = list.substr(0, end + 1);
  list.remove_prefix(end + 1);
  return tag;
}

}  // namespace

std::string entity_tag(const file_version& of, std::string_view suffix, const file_time& opened) {
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

bool list_has_tag(std::string_view list, std::string_view tag, bool weakly) noexcept {
  if (trimmed(list) == "*") return true;
  for (;;) {
    while (!list.empty() && (list.front() == ',' || list.front() == ' ' || list.front() == '\t')) list.remove_prefix(1);
    if (list.empty()) return false;
    bool weak = false;
    const std::string_view one = take_tag(list, weak);
    if (one.empty()) return false;
    list = trimmed(list);
    if (!list.empty() && list.front() != ',') return false;
    if (one == tag && (weakly || !weak)) return true;
  }
}

}  // namespace web
