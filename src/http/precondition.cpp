#include <tartan/http/precondition.h>

#include <tartan/http/date.h>
#include <tartan/http/entity_tag.h>

namespace tartan::http {

namespace {

struct matched {
  bool asked = false;
  bool yes = false;
};

matched match(const header_lines& fields, std::string_view name, const validators& of, tag_comparison how) {
  matched found;
  fields.each(name, [&](std::string_view list) {
    found.asked = true;
    found.yes = found.yes || list_has_tag(list, of.tag, how);
    return !found.yes;
  });
  return found;
}

std::optional<std::time_t> date_of(const header_lines& fields, std::string_view name) {
  const std::string_view date = fields.only(name);
  if (date.empty()) return std::nullopt;  // most requests: parsing an empty text takes hundreds of instructions
  return parse_date(date);
}

}  // namespace

/// In the order of RFC 9110, 13.2.2.
status check_preconditions(const header_lines& fields, const validators& of) {
  if (const matched wanted = match(fields, "If-Match", of, tag_comparison::strong); wanted.asked) {
    if (!wanted.yes) return status::precondition_failed;
  } else if (const auto since = date_of(fields, "If-Unmodified-Since"); since && of.modified && *of.modified > *since) {
    return status::precondition_failed;
  }
  if (const matched known = match(fields, "If-None-Match", of, tag_comparison::weak); known.asked) {
    if (known.yes) return status::not_modified;
  } else if (const auto since = date_of(fields, "If-Modified-Since"); since && of.modified && *of.modified <= *since) {
    return status::not_modified;
  }
  return status::ok;
}

bool range_counts(const header_lines& fields, const validators& of, std::time_t now) {
  if (!fields.has("If-Range")) return true;
  const std::string_view known = fields.only("If-Range");
  if (known.starts_with('"')) return known == of.tag;
  const std::optional<std::time_t> date = parse_date(known);
  return date && of.modified && *date == *of.modified && *of.modified < now - 1;
}

}  // namespace tartan::http
