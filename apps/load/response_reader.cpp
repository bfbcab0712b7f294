#include "load/response_reader.h"

#include <tartan/http/text.h>

#include <algorithm>

#include "load/header.h"

namespace load {

using tartan::http::trimmed;

namespace {

/// The value of a digit; 16 of what is none.
unsigned hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 16;
}

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 50;  // of a body: more is no length but a mistake

}  // namespace

void response_reader::begin(const std::string_view* expected, std::string& collected, std::size_t most) noexcept {
  *this = {};
  expected_ = expected;
  collected_ = &collected;
  most_ = most;
}

response_reader::outcome response_reader::take(std::string_view text, std::size_t& used) {
  used = 0;
  while (part_ == part::head) {
    const std::size_t end = text.find("\r\n\r\n", used);
    if (end == std::string_view::npos) return outcome::incomplete;
    if (!read_head(text.substr(used, end + 2 - used)) || !begin_body()) return outcome::malformed;
    used = end + 4;
  }
  while (part_ != part::done && used != text.size()) {
    const std::string_view rest = text.substr(used);
    if (part_ == part::body) {
      used += take_counted(rest, part::done);
    } else if (part_ == part::chunk) {
      used += take_counted(rest, part::chunk_end);
    } else if (part_ == part::until_end) {
      take_body(rest);
      used = text.size();
    } else {
      if (!take_chunk_byte(rest.front())) return outcome::malformed;
      ++used;
    }
  }
  return part_ == part::done ? outcome::complete : outcome::incomplete;
}

/// `head`: whole lines, each with its end.
bool response_reader::read_head(std::string_view head) {
  status_ = 0;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    if (end == 0 || head[end - 1] != '\r') return false;
    const std::string_view line = head.substr(0, end - 1);
    head.remove_prefix(end + 1);
    const bool is_read = status_ == 0 ? read_status_line(line) : read_field(line);
    if (!is_read) return false;
  }
  return !(is_chunked_ && has_length_);  // whoever reads it otherwise would find another end (RFC 9112, 6.3)
}

bool response_reader::read_status_line(std::string_view line) {
  constexpr std::size_t least = sizeof "HTTP/1.1 200" - 1;
  if (line.size() < least || !line.starts_with("HTTP/1.") || line[8] != ' ' || (line[7] != '0' && line[7] != '1')) return false;
  if (line.size() > least && line[least] != ' ') return false;
  for (const char digit : line.substr(9, 3)) {
    if (digit < '0' || digit > '9') return false;
    status_ = status_ * 10 + static_cast<unsigned>(digit - '0');
  }
  keep_alive_ = line[7] == '1';
  return status_ >= 100;
}

bool response_reader::read_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line[colon - 1] == ' ' || line[0] == ' ' || line[0] == '\t') return false;
  const std::string_view name = line.substr(0, colon);
  // Most are of no interest: their length says so.
  if (name.size() == 14 && equals(name, "content-length")) return read_length(trimmed(line.substr(colon + 1)));
  if (name.size() == 10 && equals(name, "connection")) read_connection(line.substr(colon + 1));
  if (name.size() == 17 && equals(name, "transfer-encoding")) {
    if (is_chunked_ || !equals(trimmed(line.substr(colon + 1)), "chunked")) return false;
    is_chunked_ = true;
  }
  return true;
}

bool response_reader::read_length(std::string_view value) {
  std::uint64_t length = 0;
  if (value.empty()) return false;
  for (const char digit : value) {
    if (digit < '0' || digit > '9' || length > most_bytes) return false;
    length = length * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (has_length_ && length != left_) return false;
  has_length_ = true;
  left_ = length;
  return true;
}

void response_reader::read_connection(std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view word = trimmed(value.substr(0, comma));
    if (equals(word, "close")) keep_alive_ = false;
    if (equals(word, "keep-alive")) keep_alive_ = true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
}

bool response_reader::begin_body() {
  if (status_ < 200) {  // there is another one behind it
    const bool has_body = has_length_ || is_chunked_;
    has_length_ = is_chunked_ = false;
    return !has_body && status_ != 101;
  }
  if (status_ == 204 || status_ == 304) {
    part_ = part::done;
  } else if (is_chunked_) {
    part_ = part::chunk_size;
    digits_ = 0;
  } else if (has_length_) {
    part_ = left_ == 0 ? part::done : part::body;
  } else {
    part_ = part::until_end;
    keep_alive_ = false;
  }
  return true;
}

void response_reader::take_body(std::string_view piece) {
  if (expected_ != nullptr) {
    const std::string_view wanted = received_ < expected_->size() ? expected_->substr(received_, piece.size()) : std::string_view{};
    if (!piece.starts_with(wanted)) differs_ = true;
  } else if (collected_ != nullptr && collected_->size() < most_) {
    collected_->append(piece.substr(0, most_ - collected_->size()));
  }
  received_ += piece.size();
}

std::size_t response_reader::take_counted(std::string_view text, part then) {
  const std::string_view piece = text.substr(0, std::min<std::uint64_t>(left_, text.size()));
  take_body(piece);
  left_ -= piece.size();
  if (left_ == 0) part_ = then;
  return piece.size();
}

bool response_reader::take_chunk_byte(char c) {
  switch (part_) {
    case part::chunk_size: return take_size_byte(c);
    case part::chunk_extension:
      if (c == '\r') part_ = part::chunk_size_end;
      return c != '\n';
    case part::chunk_size_end:
      part_ = left_ == 0 ? part::trailer : part::chunk;
      line_is_empty_ = true;
      return c == '\n';
    case part::chunk_end:  // its two bytes
      if (digits_++ == 0) return c == '\r';
      digits_ = 0;
      part_ = part::chunk_size;
      return c == '\n';
    case part::trailer:
      if (c == '\r') part_ = part::trailer_end;
      line_is_empty_ = line_is_empty_ && c == '\r';
      return c != '\n';
    case part::trailer_end:
      part_ = line_is_empty_ ? part::done : part::trailer;
      line_is_empty_ = true;
      return c == '\n';
    default: return false;
  }
}

bool response_reader::take_size_byte(char c) {
  const unsigned value = hex_value(c);
  if (value < 16) {
    if (digits_++ == 0) left_ = 0;
    left_ = left_ * 16 + value;
    return left_ <= most_bytes;
  }
  if (digits_ == 0 || (c != '\r' && c != ';' && c != ' ' && c != '\t')) return false;
  digits_ = 0;
  part_ = c == '\r' ? part::chunk_size_end : part::chunk_extension;
  return true;
}

}  // namespace load
