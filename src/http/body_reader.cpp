#include <tartan/http/body_reader.h>
#include <tartan/http/field.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace tartan::http {

namespace {

constexpr std::size_t most_digits = 8;  // far beyond any limit on bodies

}  // namespace

body_reader::taken body_reader::take(std::string_view bytes) noexcept {
  taken part;
  for (;;) {
    const std::string_view rest = bytes.substr(part.used);
    if (left_ != 0) {
      const std::size_t size = content_in(rest.size());
      if (size == 0) {
        if (!rest.empty()) part.what = outcome::refused;
        return part;
      }
      part.content = rest.substr(0, size);
      part.used += size;
      part.what = outcome::content;
      return part;
    }
    if (is_complete()) {
      part.what = outcome::complete;
      return part;
    }
    // A line that comes in many pieces is searched again with each of them: it is short.
    const std::string_view text = rest.substr(0, longest_line);
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) {
      if (text.size() == longest_line) part.what = outcome::refused;
      return part;
    }
    if (newline == 0 || text[newline - 1] != '\r' || !take_line(text.substr(0, newline - 1))) {
      part.what = outcome::refused;
      return part;
    }
    part.used += newline + 1;
  }
}

/// Counts so much of the bytes as is content; none if there is too much of it.
std::size_t body_reader::content_in(std::size_t bytes) noexcept {
  if (left_ != no_end) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes));
    left_ -= size;
    return size;
  }
  if (taken_ == most_ && bytes != 0) ++taken_;
  if (taken_ > most_) return 0;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(most_ - taken_, bytes));
  taken_ += size;
  return size;
}

/// Gives false if the line is not what has to stand there, or there is too much.
bool body_reader::take_line(std::string_view line) noexcept {
  taken_ += line.size() + 2;
  switch (next_) {
    case stage::size:
      if (!take_size(line)) return false;
      break;
    case stage::end_of_chunk:
      if (!line.empty()) return false;
      next_ = stage::size;
      break;
    case stage::trailer:
      if (line.empty()) {
        next_ = stage::end;
      } else if (!field::of(line)) {
        return false;
      }
      break;
    case stage::end:
      break;
  }
  return taken_ <= most_;
}

/// "1f" or "1f;extension", with blanks before the semicolon (RFC 9112, 7.1.1: a recipient has to take them). The last
/// chunk has size 0.
bool body_reader::take_size(std::string_view line) noexcept {
  const std::size_t semicolon = line.find(';');
  std::string_view digits = line.substr(0, semicolon);
  // Blanks at the end of the line, with no extension behind them, are a mistake or a trick.
  while (semicolon != std::string_view::npos && (digits.ends_with(' ') || digits.ends_with('\t'))) {
    digits.remove_suffix(1);
  }
  if (digits.size() > most_digits || !is_value(line)) return false;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return false;
  taken_ += left_;
  next_ = left_ == 0 ? stage::trailer : stage::end_of_chunk;
  return true;
}

}  // namespace tartan::http
