// Header lines that were found to be good, and what is asked by them: conditions, codings. What they mean must not depend on letters' case, on other
// lines between them, nor on a list being cut into two lines.
//
// Input: what is there (a byte), the date of the page (four), and lines, each ended by LF; those that are none are left out.
#include <tartan/http/content_coding.h>
#include <tartan/http/date.h>
#include <tartan/http/entity_tag.h>
#include <tartan/http/field.h>
#include <tartan/http/header_lines.h>
#include <tartan/http/precondition.h>
#include <tartan/http/text.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "fuzz_target.h"

namespace tartan::http::fuzz {

namespace {

constexpr std::string_view names[] = {"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
                                      "If-Range", "Range",         "Accept-Encoding"};

using lines = std::vector<std::pair<std::string, std::string>>;

lines good_lines(std::string_view text) {
  lines found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const auto one = field::of(text.substr(0, end))) found.emplace_back(one->name, one->value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

std::string written(const lines& all) {
  std::string text;
  for (const auto& [name, value] : all) text += name + ":" + value + "\r\n";
  return text;
}

/// The same with other letters, blanks and lines.
std::string disguised(const lines& all) {
  std::string text = "X-If-Match: *\r\n";
  for (const auto& [name, value] : all) {
    const bool is_coding = same_letters(name, "accept-encoding");  // tags and dates have letters of their own
    text += upper(name) + ": \t" + (is_coding ? upper(value) : value) + " \t\r\nRang: bytes=0-0\r\n";
  }
  return text;
}

void check_lines(const header_lines& fields, const lines& all) {
  for (const std::string_view name : names) {
    std::vector<std::string> wanted;
    for (const auto& [own, value] : all) {
      if (upper(own) == upper(std::string{name})) wanted.push_back(value);
    }
    std::vector<std::string> found;
    fields.each(name, [&](std::string_view value) {
      found.emplace_back(value);
      return true;
    });
    promise(found == wanted, "each line of a name is seen, in order");
    promise(fields.has(name) == !wanted.empty(), "a name is there if a line has it");
    promise(fields.only(name) == (wanted.size() == 1 ? wanted.front() : ""), "only one line is the only one");
  }
}

void check_coding(const header_lines& fields, const header_lines& others, const lines& all, coding_set there) {
  const coding best = best_coding(fields, there);
  promise(best == coding::identity || there.has(best), "a coding is one of those that are there");
  promise(best_coding(others, there) == best, "a coding does not depend on letters and blanks");
  promise(best_coding(fields, {}) == coding::identity, "nothing is there but the file");
  std::string joined;
  for (const auto& [name, value] : all) {
    if (same_letters(name, "accept-encoding")) joined += value + ",";
  }
  promise(joined.empty() || best_coding(header_lines{"Accept-Encoding:" + joined + "\r\n"}, there) == best,
          "lines are one list");
  promise(!joined.empty() || best == coding::identity, "who names none gets the file");
  coding_set only_best;
  only_best.add(best);
  promise(best_coding(fields, only_best) == best, "what is best of several is better than none");
}

void check_conditions(const header_lines& fields, const header_lines& others, const validators& of) {
  const status found = check_preconditions(fields, of);
  promise(found == status::ok || found == status::not_modified || found == status::precondition_failed,
          "a condition is met, or 304, or 412");
  promise(check_preconditions(others, of) == found, "a condition does not depend on letters and blanks");
  const bool if_match = fields.has("If-Match");
  if (found == status::precondition_failed) promise(if_match || fields.has("If-Unmodified-Since"), "412 has a reason");
  if (found == status::not_modified)
    promise(fields.has("If-None-Match") || fields.has("If-Modified-Since"), "304 has a reason");
  const std::time_t later = of.modified.value_or(0) + 10;
  const bool counts = range_counts(fields, of, later);
  promise(range_counts(others, of, later) == counts, "a range does not depend on letters and blanks");
  promise(counts || fields.has("If-Range"), "a range counts if nothing is said against it");
  promise(!counts || !fields.has("If-Range") || fields.only("If-Range") == of.tag ||
              parse_date(fields.only("If-Range")) == of.modified,
          "a part is of this page");
}

}  // namespace

void fuzz_fields(std::string_view input) {
  const auto knobs = take_knobs<5>(input);
  const lines all = good_lines(input);
  const std::string text = written(all);
  const std::string other = disguised(all);
  const header_lines fields{text};
  const header_lines others{other};
  check_lines(fields, all);
  coding_set there;
  if ((knobs[0] & 1) != 0) there.add(coding::gzip);
  if ((knobs[0] & 2) != 0) there.add(coding::brotli);
  check_coding(fields, others, all, there);
  validators of;
  if ((knobs[0] & 4) != 0) of.tag = "\"a\"";
  if ((knobs[0] & 8) != 0)
    of.modified = static_cast<std::time_t>(knobs[1] << 24 | knobs[2] << 16 | knobs[3] << 8 | knobs[4]);
  check_conditions(fields, others, of);
  for (const auto& [name, value] : all) {
    const bool strongly = list_has_tag(value, of.tag, tag_comparison::strong);
    promise(!strongly || list_has_tag(value, of.tag, tag_comparison::weak), "who matches strongly matches weakly");
    const bool may_match = trimmed(value) == "*" || value.find("\"not there\"") != std::string::npos;
    promise(may_match || !list_has_tag(value, "\"not there\"", tag_comparison::weak),
            "a tag matches no list that does not have it");
  }
}

}  // namespace tartan::http::fuzz
