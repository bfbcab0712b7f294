// Range headers, against a second, plain reading of RFC 9110, 14.1.2.
//
// Input: the size of the file (eight bytes, shifted by a ninth), and the header's value.

#include <tartan/http/byte_range.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fuzz_target.h"

namespace tartan::http::fuzz {

namespace {

using wide = unsigned __int128;

std::string lower(std::string_view text) {
  std::string all{text};
  std::transform(all.begin(), all.end(), all.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return all;
}

/// Too large ones stay at 2^64.
std::optional<wide> number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  wide value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = std::min(value * 10 + static_cast<wide>(c - '0'), static_cast<wide>(1) << 64);
  }
  return value;
}

/// The members of a list that are not empty, without blanks.
std::vector<std::string> members(std::string_view list) {
  std::vector<std::string> found(1);
  for (const char c : list) {
    if (c == ',') {
      found.emplace_back();
    } else {
      found.back() += c;
    }
  }
  for (std::string& each : found) {
    each.erase(0, std::min(each.find_first_not_of(" \t"), each.size()));
    each.erase(each.find_last_not_of(" \t") + 1);
  }
  std::erase(found, "");
  return found;
}

struct expected {
  byte_ranges::outcome what = byte_ranges::outcome::whole;
  std::vector<byte_range> parts;
};

/// Gives false if it is no range; else adds the part of the file, if there is one.
bool add(const std::string& spec, std::uint64_t file_size, std::vector<byte_range>& parts) {
  const std::size_t dash = spec.find('-');
  if (dash == std::string::npos) return false;
  const std::optional<wide> first = number(std::string_view{spec}.substr(0, dash));
  const std::optional<wide> last = number(std::string_view{spec}.substr(dash + 1));
  wide begin = 0;
  wide end = file_size;
  if (dash == 0) {
    if (!last) return false;
    if (*last != 0 && file_size == 0) return false;  // the end of an empty file is all of it, which no 206 can say
    begin = file_size - std::min<wide>(*last, file_size);
  } else {
    if (!first || (!last && dash + 1 != spec.size())) return false;
    if (last && std::min(*last, ~static_cast<wide>(0) >> 64) < std::min(*first, ~static_cast<wide>(0) >> 64))
      return false;
    begin = *first;
    if (last) end = std::min<wide>(*last + 1, file_size);
  }
  if (begin < end) parts.push_back({static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end - begin)});
  return true;
}

expected read(std::string_view header, std::uint64_t file_size) {
  const std::size_t equals = header.find('=');
  if (equals == std::string_view::npos || lower(header.substr(0, equals)) != "bytes") return {};
  const std::vector<std::string> all = members(header.substr(equals + 1));
  if (all.empty() || all.size() > byte_ranges::most) return {};
  expected found;
  for (const std::string& spec : all) {
    if (!add(spec, file_size, found.parts)) return {};
  }
  wide together = 0;
  for (const byte_range& each : found.parts) together += each.size;
  if (together > file_size) return {};
  found.what = found.parts.empty() ? byte_ranges::outcome::unsatisfiable : byte_ranges::outcome::parts;
  return found;
}

}  // namespace

void fuzz_byte_range(std::string_view input) {
  const auto knobs = take_knobs<9>(input);
  std::uint64_t file_size = 0;
  for (std::size_t n = 0; n < 8; ++n) file_size = file_size << 8 | knobs[n];
  file_size >>= knobs[8] % 64;
  const byte_ranges found{input, file_size};
  const expected wanted = read(input, file_size);
  promise(found.what() == wanted.what, "whole, parts or unsatisfiable");
  if (wanted.what != byte_ranges::outcome::parts) return;
  promise(std::equal(found.parts().begin(), found.parts().end(), wanted.parts.begin(), wanted.parts.end()),
          "the same parts");
  for (const byte_range& each : found.parts()) {
    promise(each.size != 0 && each.first < file_size && each.size <= file_size - each.first,
            "parts lie within the file");
  }
}

}  // namespace tartan::http::fuzz
