#include "conversation.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "fuzz_target.h"

namespace tartan::http::fuzz {

namespace {

/// Bytes in memory of exactly their size.
class exact_copy {
 public:
  explicit exact_copy(std::string_view of)
      : bytes_{std::make_unique_for_overwrite<char[]>(of.size())}, size_{of.size()} {
    std::copy(of.begin(), of.end(), bytes_.get());
  }
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

bool lies_within(std::string_view part, std::string_view whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

unsigned flags_of(const request& r) {
  return static_cast<unsigned>(r.chunked) | static_cast<unsigned>(r.http_1_0) << 1 |
         static_cast<unsigned>(r.keep_alive) << 2 | static_cast<unsigned>(r.expects_continue) << 3 |
         static_cast<unsigned>(r.is_conditional) << 4 | static_cast<unsigned>(r.asks_for_range) << 5;
}

std::vector<std::string_view> values_of(const header_lines& fields, std::string_view name) {
  std::vector<std::string_view> found;
  fields.each(name, [&](std::string_view value) {
    found.push_back(value);
    return true;
  });
  return found;
}

/// What was noted of the lines when they were parsed leads to the same values as reading them again.
void check_places(const header_lines& fields) {
  const header_lines read_again{fields.text()};
  for (std::string_view rest = fields.text(); !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    const std::string_view name = rest.substr(0, rest.find(':'));
    for (const std::string_view asked : {name, name.substr(1)}) {
      promise(values_of(fields, asked) == values_of(read_again, asked), "lines are found where they were noted");
    }
  }
}

}  // namespace

void conversation::receive(std::string_view bytes) {
  in_.append(bytes);
  while (seen_.refused == 0 && drop_body() && !in_.empty() && parse_head()) {
  }
}

/// Gives false if there is more to come, or to refuse.
bool conversation::drop_body() {
  const exact_copy bytes{in_};
  std::size_t used = 0;
  body_reader::taken part;
  do {
    const std::string_view rest = bytes.text().substr(used);
    part = body_.take(rest);
    promise(part.used <= rest.size(), "a body takes no more than there is");
    promise(lies_within(part.content, rest.substr(0, part.used)), "content lies within what was taken");
    promise(part.content.empty() == (part.what != body_reader::outcome::content),
            "there is content, or another outcome");
    if (!part.content.empty()) seen_.requests.back().content.append(part.content);
    used += part.used;
  } while (part.what == body_reader::outcome::content);
  in_.erase(0, used);
  seen_.used += used;
  promise(body_.is_complete() == (part.what == body_reader::outcome::complete), "a body says whether it is complete");
  if (part.what == body_reader::outcome::refused) seen_.refused = 1;
  if (part.what != body_reader::outcome::complete) return false;
  if (!seen_.requests.empty()) seen_.requests.back().body_is_complete = true;
  return true;
}

bool conversation::parse_head() {
  const exact_copy bytes{in_};
  request found;
  const request_parser::outcome ended = parser_.parse(bytes.text(), found);
  seen_.has_begun = parser_.has_begun();
  if (ended == request_parser::outcome::refused) {
    seen_.refused = static_cast<int>(parser_.error());
    promise(seen_.refused >= 400 && seen_.refused < 600, "what is refused has a status of errors");
  }
  if (ended != request_parser::outcome::complete) return false;
  check(bytes.text(), found);
  promise(parser_.asks_for_head(bytes.text()) == (found.method == method::head), "HEAD is known while it is parsed");
  seen_.requests.push_back({found.method,
                            std::string{found.target},
                            std::string{found.fields.text()},
                            found.content_length,
                            found.head_size,
                            flags_of(found),
                            false,
                            {}});
  seen_.used += found.head_size;
  body_.begin(found);
  in_.erase(0, found.head_size);
  parser_.reset();
  check_places(found.fields);  // without them
  seen_.has_begun = false;
  return true;
}

void conversation::check(std::string_view bytes, const request& found) const {
  promise(found.head_size <= bytes.size(), "a head is no longer than what has come");
  const std::string_view head = bytes.substr(0, found.head_size);
  promise(head.ends_with("\r\n\r\n"), "a head ends with an empty line");
  promise(head.find("\r\n\r\n", 2) == head.size() - 4, "a head ends with its first empty line");
  const std::string_view fields = found.fields.text();
  promise(lies_within(found.target, head) && lies_within(fields, head), "views lie within the head");
  promise(!found.target.empty(), "there is a target");
  promise(std::all_of(found.target.begin(), found.target.end(), [](char c) { return c > 0x20 && c < 0x7f; }),
          "a target is visible ASCII");
  promise(fields.empty() || fields.ends_with("\r\n"), "header lines end with CRLF");
  // The LF of the last line is not counted: it is not waited for to say that there is too much.
  promise(fields.size() <= limits_.head + 1 &&
              static_cast<std::size_t>(std::count(fields.begin(), fields.end(), '\n')) <= limits_.fields,
          "header lines are within the limits");
  promise(found.target.size() <= limits_.line, "the request line is within the limit");
  promise(found.content_length <= limits_.body, "a body is within the limit");
  promise(!found.chunked || (found.content_length == 0 && !found.http_1_0),
          "chunks have no length, nor are they known in 1.0");
  check_places(found.fields);
}

}  // namespace tartan::http::fuzz
