#include <tartan/http/server_event.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace tartan::http {

namespace {

constexpr std::string_view line_ends{"\r\n", 2};

void check_line(std::string_view text, const char* what) {
  if (text.find_first_of(std::string_view{"\r\n\0", 3}) != std::string_view::npos) {
    throw std::invalid_argument{std::string{"the "} + what + " of an event is one line: '" +
                                std::string{text.substr(0, 100)} + "'"};
  }
}

/// Each line of the text behind a prefix.
void append_lines(std::string& out, std::string_view prefix, std::string_view text) {
  for (;;) {
    const std::size_t end = text.find_first_of(line_ends);
    out.append(prefix).append(text.substr(0, end)).append("\n");
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  }
}

}  // namespace

void append_event(std::string& out, const server_event_view& e) {
  check_line(e.id, "id");
  check_line(e.event, "type");
  std::string text;
  if (!e.id.empty()) text.append("id: ").append(e.id).append("\n");
  if (!e.event.empty()) text.append("event: ").append(e.event).append("\n");
  if (e.retry) text.append("retry: ").append(std::to_string(std::max(e.retry->count(), {}))).append("\n");
  append_lines(text, "data: ", e.data);
  out.append(text).append("\n");
}

void append_comment(std::string& out, std::string_view text) {
  std::string lines;
  append_lines(lines, ": ", text);
  out.append(lines).append("\n");
}

void event_parser::add(std::string_view bytes) {
  if (is_full_) return;
  received_.append(bytes);
  is_full_ = received_.size() + coming_.data.size() > most_;
}

std::optional<server_event> event_parser::next() {
  std::optional<server_event> done;
  std::size_t from = 0;
  const std::string_view all = received_;
  if (!has_begun_ && all.size() >= 3) {
    has_begun_ = true;
    if (all.starts_with("\xef\xbb\xbf")) from = 3;
  }
  if (is_full_ || (!has_begun_ && all.find_first_of(line_ends) == std::string_view::npos)) return done;
  while (!done && from < all.size()) {
    if (std::exchange(after_cr_, false) && all[from] == '\n') {
      ++from;
      continue;
    }
    const std::size_t end = all.find_first_of(line_ends, from);
    if (end == std::string_view::npos) break;
    after_cr_ = all[end] == '\r';
    is_full_ = !take_line(all.substr(from, end - from), done);
    from = end + 1;
    if (is_full_) return std::nullopt;
  }
  has_begun_ = has_begun_ || from != 0;
  received_.erase(0, from);
  return done;
}

/// False: the event is too large.
bool event_parser::take_line(std::string_view line, std::optional<server_event>& done) {
  if (line.empty()) {
    if (std::exchange(has_data_, false)) {
      done = coming_;
      done->data.pop_back();  // the last line's end
      coming_.retry.reset();
    }
    coming_.event.clear();
    coming_.data.clear();
    return true;
  }
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    has_data_ = true;
    coming_.data.append(value).append("\n");
  } else if (name == "event") {
    coming_.event = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    coming_.id = value;
  } else if (name == "retry") {
    std::int64_t ms = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
    if (error == std::errc{} && end == value.data() + value.size() && ms >= 0)
      coming_.retry = std::chrono::milliseconds{ms};
  }
  return coming_.data.size() <= most_;
}

}  // namespace tartan::http
