// Dates: one that was understood is written and read again as the same, and is what the C library takes it for.
//
// Input: the text of a date.

#include <tartan/http/date.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "fuzz_target.h"

namespace tartan::http::fuzz {

namespace {

/// As strptime reads it, which is less strict, but wants the right name of a day.
std::optional<std::time_t> by_library(std::string text, const char* form) {
  std::tm t{};
  const char* const end = ::strptime(text.c_str(), form, &t);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&t);
}

}  // namespace

void fuzz_http_date(std::string_view input) {
  const std::optional<std::time_t> at = parse_date(input);
  if (!at) return;
  const std::string written = format_date(*at);
  promise(written.size() == 29 && written.ends_with(" GMT"), "a date has 29 bytes");
  promise(parse_date(written) == at, "what was written is read as the same");
  std::string text{input};
  const std::size_t name = text.find_first_of(", ");
  promise(name != std::string::npos && name >= 3, "a date begins with a day");
  text.replace(0, name, "Sun");
  if (text.find('-') != std::string::npos) return;  // a year of two digits: which one depends on today
  const char* const form = text.starts_with("Sun,") ? "%a, %d %b %Y %H:%M:%S GMT" : "%a %b %d %H:%M:%S %Y";
  promise(by_library(text, form) == at, "the C library reads the same");
}

}  // namespace tartan::http::fuzz
