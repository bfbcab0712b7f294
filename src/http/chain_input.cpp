// Parsing from a chain. A head is parsed in one piece, because its views are contiguous; nearly always it lies in the
// chain's first slice, and costs no copy.
#include <tartan/buf/chain.h>
#include <tartan/http/body_reader.h>
#include <tartan/http/request_parser.h>
#include <tartan/http/response_parser.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace tartan::http {

namespace {

/// No head that is accepted is longer.
template <class Limits>
std::size_t longest_head(const Limits& of) noexcept {
  constexpr std::size_t line_ends = 8;
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max() - line_ends - 1;
  return (of.line < all && of.head < all - of.line ? of.line + of.head : all) + line_ends;
}

/// `most`: as longest_head has it.
template <class Parser, class Head>
typename Parser::outcome parse_front(Parser& parser, buf::chain& received, buf::slice& head, Head& into,
                                     std::size_t& searched, std::size_t most) {
  using outcome = typename Parser::outcome;
  if (received.empty()) return outcome::incomplete;
  const outcome first = parser.parse(received.slices().front().text(), into);
  if (first == outcome::complete) head = received.take_slice(into.head_size);
  if (first != outcome::incomplete || received.slices().size() == 1) return first;
  // It goes on in another slice. The copy is made when its end has come, or when it is too long to be accepted.
  const std::optional<std::size_t> end = received.find("\r\n\r\n", searched);
  searched = received.size() - std::min<std::size_t>(received.size(), 3);  // the end may have come in part
  if (!end && received.size() <= most) return outcome::incomplete;
  const buf::slice joined = received.take_slice(end ? *end + 4 : most + 1);
  const outcome whole = parser.parse(joined.text(), into);
  if (whole == outcome::complete) head = joined;
  return whole;
}

}  // namespace

request_parser::outcome request_parser::parse(buf::chain& received, buf::slice& head, request& into) {
  return parse_front(*this, received, head, into, chain_searched_, longest_head(limits_));
}

response_parser::outcome response_parser::parse(buf::chain& received, buf::slice& head, response& into) {
  return parse_front(*this, received, head, into, chain_searched_, longest_head(limits_));
}

body_reader::outcome body_reader::take(buf::chain& from, buf::chain& content) {
  for (;;) {
    if (left_ != 0) {
      content.append(from.take(content_in(from.size())));
      if (left_ != 0 && from.empty()) return outcome::incomplete;
      if (left_ != 0) {
        static_cast<void>(content_in(from.size()));  // for error(): there is too much
        return outcome::refused;
      }
    }
    if (is_complete()) return outcome::complete;
    const std::optional<buf::line> line = from.find_line(longest_line);
    if (!line) return from.size() >= longest_line ? outcome::refused : outcome::incomplete;
    const buf::slice text = from.take_slice(line->whole);
    if (line->whole - line->length != 2 || !take_line(text.text().substr(0, line->length))) return outcome::refused;
  }
}

}  // namespace tartan::http
