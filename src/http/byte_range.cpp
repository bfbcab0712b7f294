#include <tartan/http/byte_range.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <tartan/http/text.h>

namespace tartan::http {

namespace {

/// All of it is one number; one that is too large is as large as can be.
std::optional<std::uint64_t> number_of(std::string_view digits) noexcept {
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  std::uint64_t number = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc{})
    return std::numeric_limits<std::uint64_t>::max();
  return number;
}

}  // namespace

byte_ranges::byte_ranges(std::string_view value, std::uint64_t size) noexcept {
  const std::size_t equals = value.find('=');
  if (equals == std::string_view::npos || !same_letters(value.substr(0, equals), "bytes")) return;
  std::size_t asked = 0;
  for (std::string_view rest = value.substr(equals + 1); !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view spec = trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (spec.empty()) continue;  // of a list, elements may be empty
    if (++asked > most || !take(spec, size)) return;
  }
  if (asked != 0) what_ = count_ != 0 ? outcome::parts : outcome::unsatisfiable;
}

/// "first-last", "first-" or "-size". False: all is ignored.
bool byte_ranges::take(std::string_view spec, std::uint64_t size) noexcept {
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return false;
  const std::string_view end = spec.substr(dash + 1);
  if (dash == 0) {
    const std::optional<std::uint64_t> wanted = number_of(end);
    if (!wanted) return false;
    const std::uint64_t there = std::min(*wanted, size);
    if (there == 0) return *wanted == 0;  // the end of nothing is all of it (RFC 9110, 14.1.2), and no 206 can say so
    return add({size - there, there}, size);
  }
  const std::optional<std::uint64_t> first = number_of(spec.substr(0, dash));
  const std::optional<std::uint64_t> last = end.empty() ? std::numeric_limits<std::uint64_t>::max() : number_of(end);
  if (!first || !last || *last < *first) return false;
  if (*first >= size) return true;
  return add({*first, std::min(*last, size - 1) - *first + 1}, size);
}

bool byte_ranges::add(byte_range part, std::uint64_t size) noexcept {
  if (part.size > size - together_) return false;
  together_ += part.size;
  parts_[count_++] = part;
  return true;
}

}  // namespace tartan::http
