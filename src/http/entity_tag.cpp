#include <tartan/http/entity_tag.h>

#include <tartan/http/text.h>

namespace tartan::http {

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

bool list_has_tag(std::string_view list, std::string_view tag, tag_comparison how) noexcept {
  if (trimmed(list) == "*") return true;
  for (;;) {
    while (!list.empty() && (list.front() == ',' || list.front() == ' ' || list.front() == '\t')) list.remove_prefix(1);
    if (list.empty()) return false;
    bool weak = false;
    const std::string_view one = take_tag(list, weak);
    if (one.empty()) return false;
    list = trimmed(list);
    if (!list.empty() && list.front() != ',') return false;
    if (one == tag && (how == tag_comparison::weak || !weak)) return true;
  }
}

}  // namespace tartan::http
