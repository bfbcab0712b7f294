#include "web/request_body.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "web/field.h"

namespace web {

namespace {

constexpr std::size_t longest_line = 4096;  // bytes, with its end
constexpr std::size_t most_digits = 8;      // far beyond any limit on bodies

}  // namespace

void request_body::begin(const request& of) noexcept {
  taken_ = 0;
  left_ = of.content_length;
  next_ = of.chunked ? part::size : part::end;
}

request_body::outcome request_body::drop_from(read_buffer& in) noexcept {
  for (;;) {
    const std::size_t dropped = static_cast<std::size_t>(std::min<std::uint64_t>(left_, in.size()));
    in.drop(dropped);
    left_ -= dropped;
    if (is_complete()) return outcome::complete;
    if (in.empty()) return outcome::incomplete;
    // A line that comes in many pieces is searched again with each: it is short.
    const std::string_view text = in.text().substr(0, longest_line);
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return text.size() == longest_line ? outcome::refused : outcome::incomplete;
    if (newline == 0 || text[newline - 1] != '\r' || !take_line(text.substr(0, newline - 1))) return outcome::refused;
    in.drop(newline + 1);
  }
}

/// Gives false if it is none, or too much.
bool request_body::take_line(std::string_view line) noexcept {
  taken_ += line.size() + 2;
  switch (next_) {
    case part::size:
      if (!take_size(line)) return false;
      break;
    case part::end_of_chunk:
      if (!line.empty()) return false;
      next_ = part::size;
      break;
    case part::trailer:
      if (line.empty()) {
        next_ = part::end;
      } else if (!field::of(line)) {
        return false;
      }
      break;
    case part::end:
      break;
  }
  return taken_ <= most_;
}

/// "1f" or "1f;extension", with blanks before the semicolon if there have to be some (RFC 9112, 7.1.1: whoever receives them has to take them);
/// the last one is zero.
bool request_body::take_size(std::string_view line) noexcept {
  const std::size_t semicolon = line.find(';');
  std::string_view digits = line.substr(0, semicolon);
  // Blanks before the end of the line, with nothing to stand before, are somebody's mistake, or trick.
  while (semicolon != std::string_view::npos && (digits.ends_with(' ') || digits.ends_with('\t'))) digits.remove_suffix(1);
  if (digits.size() > most_digits || !is_value(line)) return false;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return false;
  taken_ += left_;
  next_ = left_ == 0 ? part::trailer : part::end_of_chunk;
  return true;
}

}  // namespace web
